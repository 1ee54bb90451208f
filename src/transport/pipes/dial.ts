/** A TCP connection to a host, through a proxy where one is configured, within a time limit. */
import { connect, type Socket } from "node:net";
import type { Address } from "../tls-settings.ts";

/** How long a connection may take to be accepted, and then until its peer has presented its certificate. */
export const openMsMax = 20_000;
/** The kernel asks after this much silence whether the other end is there. */
const keepAliveMs = 20_000;

/** @param timeoutMs after it the error's code is TIMEOUT */
export function dial({ host, port }: Address, timeoutMs = openMsMax): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port, noDelay: true, keepAlive: true, keepAliveInitialDelay: keepAliveMs });
    const deadline = setTimeout(() => socket.destroy(timedOut(timeoutMs)), timeoutMs);
    socket.once("error", reject);
    socket.once("close", () => clearTimeout(deadline));
    socket.once("connect", () => {
      clearTimeout(deadline);
      socket.off("error", reject);
      resolve(socket);
    });
  });
}

export function timedOut(ms: number): Error {
  return Object.assign(new Error(`no answer within ${ms / 1000} s`), { code: "TIMEOUT" });
}
