/** How many splits a tree has, whichever party wins them: one fewer than its leaves. */
import { TandemError } from "../../base/error.ts";
import { treeSizeMax } from "../../gbdt/tree/grow.ts";
import type { AgreedParameters } from "../job-parameters.ts";

export class SplitCount {
  readonly #agreed: AgreedParameters;
  #tree = -1;
  #split = new Set<number>();

  constructor(agreed: AgreedParameters) {
    this.#agreed = agreed;
  }

  /** @param split nodes that are known to be split before */
  beginTree(tree: number, split: Iterable<number>): void {
    this.#tree = tree;
    this.#split = new Set(split);
  }

  /** @throws TandemError PROTOCOL_STATE if the tree would have more leaves than were agreed */
  add(node: number): void {
    const splits = this.#split.size + (this.#split.has(node) ? 0 : 1);
    if (2 * splits + 1 > treeSizeMax(this.#agreed).nodes)
      throw new TandemError("PROTOCOL_STATE", `tree ${this.#tree} would have more leaves than were agreed`);
    this.#split.add(node);
  }
}
