/** A set of positions, sent in ascending order: a passive party's share of the common set. */
import { assert } from "../base/assert.ts";
import { TandemError } from "../base/error.ts";
import { positionsPerChunk, positionsPerChunkMax } from "./psi-peer.ts";
import { isSliceOver, nextSlice } from "../base/scheduling/event-loop-slice.ts";

export class PositionSet {
  readonly #members: Uint8Array;
  #size = 0;

  constructor(bound: number) {
    this.#members = new Uint8Array(bound);
  }

  get size(): number {
    return this.#size;
  }

  add(position: number): void {
    assert(this.#members[position] === 0, "a position of the set, once");
    this.#members[position] = 1;
    this.#size++;
  }

  async *ascending(): AsyncGenerator<Uint32Array, void, undefined> {
    const chunk = new Uint32Array(positionsPerChunk);
    let filled = 0;
    for (let position = 0; position < this.#members.length; position++) {
      if (position % 4096 === 0 && isSliceOver()) await nextSlice();
      if (this.#members[position] === 0) continue;
      chunk[filled++] = position;
      if (filled < chunk.length) continue;
      yield chunk.slice();
      filled = 0;
    }
    if (filled > 0) yield chunk.slice(0, filled);
  }
}

/**
 * Reads `count` ascending positions below `bound`.
 * @throws TandemError PROTOCOL_STATE if one is out of range, repeated or out of order, or if there are more or fewer
 */
export async function readPositions(
  chunks: AsyncIterable<Uint32Array>,
  count: number,
  bound: number,
): Promise<Uint32Array> {
  if (!Number.isInteger(count) || count < 0 || count > bound) throw refused(`${count} common instances of ${bound}`);
  const positions = new Uint32Array(count);
  let seen = 0;
  let previous = -1;
  for await (const chunk of chunks) {
    if (chunk.length === 0 || chunk.length > positionsPerChunkMax)
      throw refused(`a chunk of ${chunk.length} positions`);
    if (seen + chunk.length > count) throw refused(`more than the ${count} positions that were announced`);
    for (const position of chunk) {
      if (position >= bound) throw refused(`position ${position} of ${bound}`);
      if (position <= previous) throw refused(`position ${position} after ${previous}: they must ascend`);
      previous = position;
      positions[seen++] = position;
    }
  }
  if (seen !== count) throw refused(`a stream that ended after ${seen} of ${count} positions`);
  return positions;
}

function refused(what: string): TandemError {
  return new TandemError("PROTOCOL_STATE", `the active party sent ${what}`);
}
