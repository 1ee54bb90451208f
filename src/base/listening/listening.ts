/** Listening on an address, and the words for what prevents it. */
import { createServer, type Server } from "node:net";
import { TandemError } from "../error.ts";

export interface ListenAddress {
  readonly host: string;
  readonly port: number;
}

/** Connections that the system has accepted and we have not: large, so that a flood does not lock out our party. */
const backlog = 4096;

const listenTrouble: Readonly<Record<string, string>> = {
  EADDRINUSE: "another program uses this port",
  EADDRNOTAVAIL: "it is no address of this machine",
  EACCES: "ports below 1024 need a privilege of the operating system",
  ENOTFOUND: "there is no such host name",
};

/** @throws TandemError USAGE */
export function listening(server: Server, { host, port }: ListenAddress): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", (cause: NodeJS.ErrnoException) => {
      const why = listenTrouble[cause.code ?? ""] ?? cause.message;
      reject(new TandemError("USAGE", `cannot listen on ${host}:${port}: ${why}`, { cause }));
    });
    server.listen({ port, host, backlog }, () => resolve());
  });
}

/** Listens for a moment. @throws TandemError USAGE if that is not possible */
export async function canListen(address: ListenAddress): Promise<void> {
  const server = createServer();
  await listening(server, address);
  await new Promise((resolve) => server.close(resolve));
}
