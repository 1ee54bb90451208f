/**
 * A line of limited bandwidth and some delay, as a TCP relay on loopback: what is sent leaves at the line's rate and
 * arrives half a round trip later, in each direction by itself. All connections share it. Nothing is lost, and TCP's
 * own slow start does not show: what is measured is the protocol's bytes and its waiting.
 */
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";

export interface Line {
  readonly megabitsPerSecond: number;
  readonly roundTripMs: number;
}

/** Bytes that a sender is ahead of the line, as in a router's queue. */
const queueBytes = 256 << 10;
/** What is scheduled as one: a fraction of a millisecond at the highest rates. */
const sliceBytes = 16 << 10;

export class ShapedLine {
  readonly #line: Line;
  readonly #sockets = new Set<Socket>();
  readonly #servers: Server[] = [];

  constructor(line: Line) {
    this.#line = line;
  }

  /** @returns a port of this host that leads to `port` over the line */
  async to(port: number): Promise<number> {
    const there = new Direction(this.#line);
    const back = new Direction(this.#line);
    const server = createServer({ noDelay: true }, (near) => {
      const far = connect({ host: "127.0.0.1", port, noDelay: true });
      for (const socket of [near, far]) {
        this.#sockets.add(socket);
        socket.on("error", () => {}); // the other end sees the connection close
      }
      there.relay(near, far);
      back.relay(far, near);
    });
    this.#servers.push(server);
    await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
    return (server.address() as AddressInfo).port;
  }

  close(): void {
    for (const server of this.#servers) server.close();
    for (const socket of this.#sockets) socket.destroy();
  }
}

class Direction {
  readonly #msPerByte: number;
  readonly #delayMs: number;
  /** When the last byte that was taken has left. */
  #free = 0;

  constructor({ megabitsPerSecond, roundTripMs }: Line) {
    this.#msPerByte = 8 / (megabitsPerSecond * 1000);
    this.#delayMs = roundTripMs / 2;
  }

  relay(from: Socket, to: Socket): void {
    let waiting = 0;
    // Timers may fire in another order than they were set for: each delivers the next slice, whichever it was set for.
    const onTheWay: Buffer[] = [];
    const arrive = (): void => {
      const slice = onTheWay.shift();
      if (slice !== undefined && to.writable) to.write(slice);
    };
    from.on("data", (bytes) => {
      for (let first = 0; first < bytes.length; first += sliceBytes) {
        const slice = bytes.subarray(first, first + sliceBytes);
        waiting += slice.length;
        const leaves = this.#leaves(slice.length);
        at(leaves, () => {
          waiting -= slice.length;
          if (waiting < queueBytes) from.resume();
        });
        onTheWay.push(slice);
        at(leaves + this.#delayMs, arrive);
      }
      if (waiting >= queueBytes) from.pause();
    });
    from.on("close", () => {
      at(Math.max(performance.now(), this.#free) + this.#delayMs, () => {
        while (onTheWay.length > 0) arrive();
        to.end();
      });
    });
  }

  #leaves(bytes: number): number {
    this.#free = Math.max(performance.now(), this.#free) + bytes * this.#msPerByte;
    return this.#free;
  }
}

function at(time: number, run: () => void): void {
  setTimeout(run, Math.max(0, time - performance.now()));
}
