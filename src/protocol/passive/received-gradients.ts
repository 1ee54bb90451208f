/**
 * Digests of all gradients that this party has answered, or is about to. The first gradients of a round, or of a node
 * that has gradients of its own, are stored with the active party's signature before anything about them is answered.
 * From then on, in this attempt and every later one, the same gradients get the stored answers and others are refused.
 *
 * Otherwise an active party could send marks, read the root and disconnect without evidence. It could subtract sums
 * over two sets of gradients that have the same noise. And it could have a party that repeats its answers blamed.
 */
import { TandemError } from "../../base/error.ts";
import { Exclusive } from "../../base/scheduling/exclusive.ts";
import type { RoundStore, SignedGradients } from "./round-store.ts";

type Place = Pick<SignedGradients, "tree" | "node">;

export class ReceivedGradients {
  readonly #store: RoundStore | null;
  readonly #refused: (words: string) => void;
  readonly #writes = new Exclusive();
  #loaded: Promise<void> | null = null;
  /** The digest, by tree and node. */
  readonly #digests = new Map<string, string>();
  /** The first tree with these gradients, by digest. */
  readonly #firstTrees = new Map<string, number>();
  /** Rounds and nodes of which other gradients were stored in this attempt: one signature is proof enough. */
  readonly #refusedKeys = new Set<string>();
  /** They wait for the store, which writes all at once. */
  #waiting: SignedGradients[] = [];

  /** @param store null: there is one attempt only @param refused called with the reason */
  constructor(store: RoundStore | null, refused: (words: string) => void) {
    this.#store = store;
    this.#refused = refused;
  }

  /**
   * Settles when they are stored.
   * @returns the first tree of the job with these gradients: this one, unless they are repeated
   * @throws TandemError PROTOCOL_STATE if others were received before for this round or node
   */
  async accept(gradients: SignedGradients): Promise<number> {
    await (this.#loaded ??= this.#load());
    const key = keyOf(gradients);
    const digest = hexOf(gradients.digest);
    const before = this.#digests.get(key);
    if (before !== undefined && before !== digest) {
      await this.#keepRefused(key, gradients);
      const words = otherGradients(gradients);
      this.#refused(words);
      throw new TandemError("PROTOCOL_STATE", `${words}: a round that is redone must be the same`);
    }
    if (before === undefined) {
      this.#remember(gradients);
      this.#waiting.push(gradients);
    }
    await this.#writes.run(() => this.#write());
    return this.#firstTrees.get(digest) ?? gradients.tree;
  }

  async #keepRefused(key: string, gradients: SignedGradients): Promise<void> {
    if (this.#refusedKeys.has(key)) return;
    this.#refusedKeys.add(key);
    try {
      await this.#store?.refuseGradients(gradients);
    } catch (error) {
      this.#refusedKeys.delete(key);
      throw error;
    }
  }

  async #load(): Promise<void> {
    for (const gradients of (await this.#store?.readGradients()) ?? []) this.#remember(gradients);
  }

  async #write(): Promise<void> {
    if (this.#waiting.length === 0) return; // stored with others
    const all = this.#waiting;
    this.#waiting = [];
    try {
      await this.#store?.addGradients(all);
    } catch (error) {
      this.#waiting.unshift(...all);
      throw error;
    }
  }

  #remember(gradients: SignedGradients): void {
    const digest = hexOf(gradients.digest);
    this.#digests.set(keyOf(gradients), digest);
    if (!this.#firstTrees.has(digest)) this.#firstTrees.set(digest, gradients.tree);
  }
}

function keyOf({ tree, node }: Place): string {
  return `${tree}/${node ?? "round"}`;
}

function hexOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("hex");
}

function otherGradients({ tree, node }: Place): string {
  const what = node === null ? `the round of tree ${tree}` : `node ${node} of tree ${tree}`;
  return `the gradients of ${what} are not those that were received before`;
}
