/** A secret random order: ids sent in it reveal nothing about the order of the sender's file. */
import type { SecureRandom } from "../base/random.ts";
import { isSliceOver, nextSlice } from "../base/scheduling/event-loop-slice.ts";

const drawsPerBlock = 4096;

/** @returns 0..count-1, every order equally likely (Fisher-Yates; draws by rejection from the operating system) */
export async function randomPermutation(count: number, random: SecureRandom): Promise<Uint32Array> {
  const order = new Uint32Array(count);
  for (let i = 0; i < count; i++) order[i] = i;
  const words = new Uint32Array(drawsPerBlock);
  const bytes = new Uint8Array(words.buffer);
  let used = drawsPerBlock;
  for (let i = count - 1; i > 0; i--) {
    const bound = i + 1;
    const limit = 2 ** 32 - (2 ** 32 % bound);
    let word: number;
    do {
      if (used === drawsPerBlock) {
        random.fill(bytes);
        used = 0;
        if (isSliceOver()) await nextSlice();
      }
      word = words[used++];
    } while (word >= limit);
    const j = word % bound;
    const held = order[i];
    order[i] = order[j];
    order[j] = held;
  }
  return order;
}
