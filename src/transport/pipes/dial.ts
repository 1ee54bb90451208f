/** A TCP connection to a host, through a proxy where one is configured, within a time limit. */
import { connect, type Socket } from "node:net";
import type { Address } from "../tls-settings.ts";
import { ofProxy, type Proxy, type ProxyChoice, proxyFor, throughProxy } from "./proxy.ts";

/** How long a connection may take to be accepted, and then until its peer has presented its certificate. */
export const openMsMax = 20_000;
/** The kernel asks after this much silence whether the other end is there. */
const keepAliveMs = 20_000;

/** Where to dial, and through which proxy. */
export interface Dialled extends Address {
  /** Undefined: that of the environment. Null: none. */
  readonly proxy?: ProxyChoice;
}

/** @param timeoutMs after it the error's code is TIMEOUT. @throws StepError of a proxy */
export async function dial({ host, port, proxy: choice }: Dialled, timeoutMs = openMsMax): Promise<Socket> {
  const proxy = proxyFor({ host, port }, choice);
  if (proxy === null) return dialDirectly({ host, port }, timeoutMs);
  return throughProxy(proxy, await dialProxy(proxy, timeoutMs), { host, port }, timeoutMs);
}

/** The TCP connection to the proxy itself. */
export async function dialProxy({ host, port }: Proxy, timeoutMs: number): Promise<Socket> {
  try {
    return await dialDirectly({ host, port }, timeoutMs);
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code ?? "unknown";
    throw ofProxy(
      `the proxy ${host}:${port} cannot be reached (${code})`,
      "own",
      "correct the proxy in its config or in HTTPS_PROXY, or ask its network team",
      cause,
    );
  }
}

function dialDirectly({ host, port }: Address, timeoutMs: number): Promise<Socket> {
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
