/**
 * Which plaintexts this party has encrypted, and under which numbers. Nonces are a function of the job's seed and such
 * a number, so that a round that is redone has the same bytes. Nothing that was encrypted leaves before its entry is
 * stored: no number is ever used for other plaintexts, whatever is lost, and a node or round that is redone with other
 * plaintexts is refused.
 */
import { gradientsDigest } from "../../base/gradients/gradients-digest.ts";
import type { QuantisedGradients } from "../../base/gradients/quantised-gradients.ts";
import { TandemError } from "../../base/error.ts";
import { Exclusive } from "../../base/scheduling/exclusive.ts";
import type { GradientLayout } from "../../codec/layout.ts";

export interface JournalEntry {
  readonly tree: number;
  /** Null: the gradients of the gradient round that begins with this tree. */
  readonly node: number | null;
  readonly serial: number;
  /** Digest, in hex. */
  readonly plaintexts: string;
}

type Place = Pick<JournalEntry, "tree" | "node">;

export class PlaintextJournal {
  readonly #store: (entries: readonly JournalEntry[]) => Promise<void>;
  readonly #writes = new Exclusive();
  /** By tree and node. */
  readonly #entries = new Map<string, JournalEntry>();
  /** By plaintexts. */
  readonly #serials = new Map<string, number>();
  #next = 0;
  /** They wait for the store, which writes all at once. */
  #waiting: JournalEntry[] = [];

  /**
   * @param stored the entries of earlier attempts
   * @param store settles when the entries are stored durably
   */
  constructor(
    stored: readonly JournalEntry[] = [],
    store: (entries: readonly JournalEntry[]) => Promise<void> = () => Promise.resolve(),
  ) {
    this.#store = store;
    for (const entry of stored) this.#remember(entry);
  }

  /**
   * The number under which plaintexts are encrypted: equal ones have the same number, others never.
   * @param fresh the number of plaintexts that have none; left out: the next one
   * @returns it, and when the entry is stored: nothing leaves earlier
   * @throws TandemError CHECKPOINT if other plaintexts were encrypted for the same round or node
   */
  enter(place: Place, plaintexts: string, fresh = this.#next): { readonly serial: number; stored: Promise<void> } {
    const known = this.#entries.get(keyOf(place));
    if (known !== undefined && known.plaintexts !== plaintexts) throw otherPlaintexts(place);
    const entry = known ?? { ...place, serial: this.#serials.get(plaintexts) ?? fresh, plaintexts };
    if (known === undefined) {
      this.#remember(entry);
      this.#waiting.push(entry);
    }
    return { serial: entry.serial, stored: this.#writes.run(() => this.#write()) };
  }

  async #write(): Promise<void> {
    if (this.#waiting.length === 0) return; // stored with an earlier one
    const all = this.#waiting;
    this.#waiting = [];
    try {
      await this.#store(all);
    } catch (error) {
      this.#waiting.unshift(...all); // nothing leaves before they are stored
      throw error;
    }
  }

  #remember(entry: JournalEntry): void {
    this.#entries.set(keyOf(entry), entry);
    if (!this.#serials.has(entry.plaintexts)) this.#serials.set(entry.plaintexts, entry.serial);
    this.#next = Math.max(this.#next, entry.serial + 1);
  }
}

/** Everything that determines the plaintexts of a gradient round. @param sample its instances; null: all */
export function plaintextDigest(
  layout: GradientLayout,
  gradients: QuantisedGradients,
  sample: Uint32Array | null,
): string {
  return gradientsDigest(gradients, sample, JSON.stringify(layout));
}

function keyOf({ tree, node }: Place): string {
  return `${tree}/${node ?? "round"}`;
}

function otherPlaintexts({ tree, node }: Place): TandemError {
  const what = node === null ? `the gradients of tree ${tree}` : `node ${node} of tree ${tree}`;
  return new TandemError(
    "CHECKPOINT",
    `${what} differ from those that were sent in an earlier attempt, and cannot be encrypted again. ` +
      "The data, the program or a party's answers have changed: begin anew under another name",
  );
}
