/**
 * Lines between a party and its workers in memory, behind the same host and the same frames as those over TLS. On the
 * way they can be refused, be cut in the middle of a payload, or change bytes.
 */
import { Duplex } from "node:stream";
import type { Dial } from "../../../src/crew/line/line.ts";
import { LineHost } from "../../../src/crew/line/line-host.ts";

export const lineFaults = ["line refused", "line cut", "line changed bytes"] as const;
export type LineFault = (typeof lineFaults)[number];

/** Whether it happens at the next place where it can. */
export type LineTrouble = (fault: LineFault) => boolean;

const calm: LineTrouble = () => false;
/** Of a large payload half passes before a cut. */
const faultyBytesMin = 64;

export class MemoryLines {
  readonly #hosts = new Map<string, LineHost>();
  readonly #happens: LineTrouble;
  /** Lines that were opened so far. */
  opened = 0;
  #hosted = 0;

  constructor(happens: LineTrouble = calm) {
    this.#happens = happens;
  }

  /** Of a process of the party. @param keptBytesMax what it keeps for its workers */
  host(keptBytesMax = Infinity): { readonly lines: LineHost; readonly cut: () => void } {
    const address = `party:${++this.#hosted}`;
    const lines = new LineHost(() => [address], keptBytesMax, 1);
    this.#hosts.set(address, lines);
    const cut = (): void => {
      this.#hosts.delete(address);
      lines.close();
    };
    return { lines, cut };
  }

  /** Of a process of a worker. */
  dialler(): { readonly dial: Dial; readonly cut: () => void } {
    const streams = new Set<Duplex>();
    let isCut = false;
    const dial: Dial = async (address, _signal, onBytes) => {
      const host = this.#hosts.get(address);
      if (isCut || host === undefined || this.#happens("line refused")) throw new Error("refused");
      const [here, there] = streamPair(this.#happens);
      here.on("data", onBytes);
      streams.add(here);
      here.on("close", () => streams.delete(here));
      host.accept(there);
      this.opened++;
      return here;
    };
    const cut = (): void => {
      isCut = true;
      for (const stream of streams) stream.destroy();
    };
    return { dial, cut };
  }
}

/** Two ends of a connection. Trouble happens to what the second one sends. */
export function streamPair(happens: LineTrouble = calm): readonly [Duplex, Duplex] {
  const [here, there] = [new End(calm), new End(happens)];
  here.other = there;
  there.other = here;
  return [here, there];
}

class End extends Duplex {
  other: End | null = null;
  readonly #happens: LineTrouble;
  /** Continues the other's write. */
  #wanted: (() => void) | null = null;

  constructor(happens: LineTrouble) {
    super({ highWaterMark: 256 });
    this.#happens = happens;
  }

  override _read(): void {
    this.#wanted?.();
    this.#wanted = null;
  }

  override _write(bytes: Buffer, _encoding: string, done: () => void): void {
    const isLarge = bytes.length >= faultyBytesMin;
    if (isLarge && this.#happens("line cut")) {
      this.other?.push(bytes.subarray(0, bytes.length / 2));
      setImmediate(() => this.destroy());
      return; // nothing more passes
    }
    const sent = Buffer.from(bytes);
    if (isLarge && this.#happens("line changed bytes")) sent[sent.length >> 1] ^= 1;
    this.other?.receive(sent, done);
  }

  receive(bytes: Buffer, done: () => void): void {
    if (this.destroyed || this.push(bytes)) done();
    else this.#wanted = done;
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    const { other } = this;
    this.other = null;
    setImmediate(() => other?.destroy());
    this.#wanted?.();
    done(error);
  }
}
