/** TCP proxies between two parties: connections that a test cuts, silences or corrupts. */
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

export interface Trouble {
  /** Noise is one flipped bit. */
  readonly kind: "cut" | "silence" | "noise";
  readonly direction: "to passive" | "to active";
  /** After how many bytes in this direction. */
  readonly bytes: number;
}

export interface Proxy {
  readonly port: number;
  readonly connections: () => number;
  /** Ends all connections, as a killed process or a pulled cable does. */
  cut(): void;
  close(): Promise<void>;
}

/** @param troubles the n-th connection has the n-th trouble; later ones have none */
export async function startProxy(port: number, troubles: readonly Trouble[] = []): Promise<Proxy> {
  let connections = 0;
  const sockets = new Set<Socket>();
  const server = createServer((incoming) => {
    const trouble = troubles.at(connections++);
    const outgoing = connect(port, "127.0.0.1");
    for (const socket of [incoming, outgoing]) {
      sockets.add(socket);
      socket.on("error", () => {});
      socket.once("close", () => sockets.delete(socket));
    }
    if (trouble === undefined) incoming.pipe(outgoing).pipe(incoming);
    else passTroubled(incoming, outgoing, trouble);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const cut = (): void => sockets.forEach((socket) => socket.destroy());
  const close = (): Promise<void> => {
    cut();
    return new Promise((resolve) => server.close(() => resolve()));
  };
  return { port: (server.address() as AddressInfo).port, connections: () => connections, cut, close };
}

function passTroubled(incoming: Socket, outgoing: Socket, trouble: Trouble): void {
  let silent = false;
  const passing = (from: Socket, to: Socket, direction: Trouble["direction"]): void => {
    let left = trouble.direction === direction ? trouble.bytes : Infinity;
    from.on("data", (data: Buffer) => {
      if (silent) return;
      if (trouble.kind === "noise" && left <= data.length) {
        data[left - 1] ^= 1;
        left = Infinity;
      }
      to.write(data.subarray(0, Math.min(left, data.length)));
      left -= data.length;
      if (left > 0) return;
      if (trouble.kind === "silence") silent = true;
      // Not destroyed: what was sent before is still delivered.
      else for (const socket of [incoming, outgoing]) socket.end();
    });
    from.on("close", () => !silent && to.destroy());
  };
  passing(incoming, outgoing, "to passive");
  passing(outgoing, incoming, "to active");
}
