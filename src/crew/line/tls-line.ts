/**
 * Lines over mutual TLS with the crew's certificates. Both ends check the name in the other's certificate, as the
 * engine does: the engine's own certificate, signed by the same authority, is refused. The address is not checked, so a
 * party may be reached at any.
 */
import type { AddressInfo, ConnectOpts, Socket } from "node:net";
import { networkInterfaces } from "node:os";
import {
  checkServerIdentity,
  connect,
  type ConnectionOptions,
  createSecureContext,
  createServer,
  type TLSSocket,
} from "node:tls";
import { type ListenAddress, listening } from "../../base/listening/listening.ts";
import { PendingConnections } from "../../base/listening/pending-connections.ts";
import { partyUser, workerUser } from "../crew-name.ts";
import type { Dial } from "./line.ts";
import { LineHost } from "./line-host.ts";

/** PEM texts, and the crew's name. */
export interface LineIdentity {
  readonly crew: string;
  readonly tls: { readonly certificate: string; readonly key: string; readonly authority: string };
}

export interface ListeningLines {
  readonly lines: LineHost;
  close(): Promise<void>;
}

const unproven = { connectionsMax: 512, perAddressMax: 64, authenticateMsMax: 10_000 };
const keepAliveMs = 30_000;
const readBytes = 1 << 16;

/** @throws TandemError USAGE if the address cannot be listened on */
export async function listenForLines(
  address: ListenAddress,
  { crew, tls: { certificate, key, authority } }: LineIdentity,
  keptBytesMax: number,
): Promise<ListeningLines> {
  const server = createServer({
    cert: certificate,
    key,
    ca: authority,
    minVersion: "TLSv1.3",
    requestCert: true,
    rejectUnauthorized: true,
    handshakeTimeout: unproven.authenticateMsMax,
    noDelay: true,
    keepAlive: true,
    keepAliveInitialDelay: keepAliveMs,
  });
  const pending = new PendingConnections(unproven);
  server.on("connection", (socket: Socket) => pending.add(socket));
  server.on("secureConnection", (socket) => {
    if (!isOf(workerUser(crew), socket)) return void socket.destroy();
    lines.accept(socket, () => void pending.remove(socket));
  });
  await listening(server, address);
  const { port: bound, family } = server.address() as AddressInfo;
  const lines = new LineHost(() => addressesOf(address.host, bound, family), keptBytesMax);
  return {
    lines,
    async close() {
      pending.clear();
      lines.close();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

/** At a worker. */
export function tlsDial({ crew, tls: { certificate, key, authority } }: LineIdentity): Dial {
  const secureContext = createSecureContext({ cert: certificate, key, ca: authority, minVersion: "TLSv1.3" });
  return (address, signal, onBytes) =>
    new Promise((resolve, reject) => {
      const { hostname, port } = new URL(`tls://${address}`);
      const options: ConnectionOptions & Pick<ConnectOpts, "onread"> = {
        host: hostname.replace(/^\[|\]$/g, ""),
        port: Number(port),
        servername: partyUser(crew),
        secureContext,
        // One buffer for all that arrives: with a new one for each TLS record a third of the time goes to memory.
        onread: {
          buffer: Buffer.allocUnsafeSlow(readBytes),
          callback: (length, buffer) => {
            onBytes(buffer.subarray(0, length));
            return true;
          },
        },
      };
      const socket = connect(options);
      const stop = (): void => void socket.destroy(new Error("no answer"));
      if (signal.aborted) stop();
      signal.addEventListener("abort", stop, { once: true });
      socket.once("error", reject);
      socket.once("close", () => reject(new Error("the party closed the connection")));
      socket.once("secureConnect", () => {
        signal.removeEventListener("abort", stop);
        socket.setNoDelay(true);
        resolve(socket);
      });
    });
}

/** Whether a peer's certificate, which the authority has signed, has this name. */
function isOf(name: string, socket: TLSSocket): boolean {
  if (!socket.authorized) return false;
  return checkServerIdentity(name, socket.getPeerCertificate()) === undefined;
}

/** Where a listener is reached: those of all network cards if it listens on all. */
function addressesOf(host: string, port: number, family: string): string[] {
  const isAny = host === "0.0.0.0" || host === "::";
  const cards = Object.values(networkInterfaces()).flatMap((card) => card ?? []);
  const own = cards.filter(
    (card) => !card.internal && !card.address.startsWith("fe80") && (family === "IPv6" || card.family === "IPv4"),
  );
  const hosts = isAny ? own.map(({ address }) => address) : [host];
  return (hosts.length === 0 ? ["127.0.0.1"] : hosts).map((one) => `${one.includes(":") ? `[${one}]` : one}:${port}`);
}
