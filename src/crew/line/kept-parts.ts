/**
 * Parts of a round's logs that workers fetch from the party. They stay in memory until the next round begins, since any
 * worker may take a block over and needs all of its log. Beyond the bound parts go through the engine instead.
 */
import type { CrewEntry } from "../../wire/generated/tandem/v1/crew_pb.ts";

/** A part with its bytes, as the engine would carry it. */
export type Part = Pick<CrewEntry, "round" | "sequence" | "step" | "more" | "payload"> & { readonly head?: Uint8Array };

/** Smaller payloads are not worth a question: they stay in the log. */
const fetchedBytesMin = 16 << 10;

export class KeptParts {
  readonly #bytesMax: number;
  readonly #bytesMin: number;
  /** Per block its parts, by sequence. */
  readonly #parts = new Map<number, Map<number, Part>>();
  #bytes = 0;

  constructor(bytesMax: number, bytesMin = fetchedBytesMin) {
    this.#bytesMax = bytesMax;
    this.#bytesMin = bytesMin;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** @returns whether it is kept: it is large enough, and there is room */
  keep(block: number, part: Part): boolean {
    const { length } = part.payload;
    if (length < this.#bytesMin || this.#bytes + length > this.#bytesMax) return false;
    const ofBlock = this.#parts.get(block);
    if (ofBlock === undefined) this.#parts.set(block, new Map([[part.sequence, part]]));
    else ofBlock.set(part.sequence, part);
    this.#bytes += length;
    return true;
  }

  get(block: number, sequence: number): Part | null {
    return this.#parts.get(block)?.get(sequence) ?? null;
  }

  /** Those of a block from one sequence on, before another. */
  between(block: number, from: number, end: number): Part[] {
    const ofBlock = this.#parts.get(block) ?? new Map<number, Part>();
    return [...ofBlock.values()].filter(({ sequence }) => sequence >= from && sequence < end);
  }

  clear(): void {
    this.#parts.clear();
    this.#bytes = 0;
  }
}
