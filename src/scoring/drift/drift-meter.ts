/**
 * Counts the people who are scored in the bins of a model's reference. The index is of the latest 5,000 to 10,000
 * people: two windows, of which the older one is dropped when the newer one is full. Nothing of a person is kept.
 */
import { binner, type Distribution } from "../../base/statistics/distribution.ts";
import { stabilityIndex } from "../../base/statistics/stability-index.ts";
import type { CategoryNames } from "../../gbdt/split/split-test.ts";
import { type DriftItem, driftPeopleMin, type DriftSummary } from "../../record/drift-facts.ts";
import type { Reference } from "../../store/reference-file.ts";

export interface ScoredPeople {
  /** Their rows in the columns, or among the scores. */
  readonly rows: ArrayLike<number>;
  /** Values of an own feature, with the categories of codes. */
  column(name: string): { readonly values: ArrayLike<number>; readonly names: CategoryNames };
  /** Predictions, side by side per row; left out where there are none. */
  readonly scores?: ArrayLike<number>;
}

interface Quantity {
  readonly of: DriftItem["of"];
  readonly name: string;
  readonly reference: Distribution;
  older: Float64Array;
  newer: Float64Array;
}

const windowPeople = 5000;

export class DriftMeter {
  readonly #quantities: readonly Quantity[];
  readonly #scoreCount: number;
  readonly #binners = new WeakMap<Quantity, { names: CategoryNames; binOf: (value: number) => number }>();
  #older = 0;
  #newer = 0;

  constructor({ scores, features }: Pick<Reference, "scores" | "features">) {
    const quantity = (of: DriftItem["of"], name: string, reference: Distribution): Quantity => ({
      of,
      name,
      reference,
      older: new Float64Array(reference.counts.length),
      newer: new Float64Array(reference.counts.length),
    });
    this.#scoreCount = scores.length;
    this.#quantities = [
      ...scores.map((reference, k) => quantity("score", scores.length === 1 ? "" : String(k), reference)),
      ...features.map(({ name, distribution }) => quantity("feature", name, distribution)),
    ];
  }

  see(people: ScoredPeople): void {
    const { rows, scores } = people;
    if (rows.length === 0) return;
    if (this.#newer >= windowPeople) this.#moveOn();
    this.#newer += rows.length;
    this.#quantities.forEach((quantity, k) => {
      const counts = quantity.newer;
      if (quantity.of === "score") {
        if (scores === undefined) return;
        const binOf = this.#binner(quantity, null);
        for (let i = 0; i < rows.length; i++) counts[binOf(scores[rows[i] * this.#scoreCount + k])]++;
        return;
      }
      const { values, names } = people.column(quantity.name);
      const binOf = this.#binner(quantity, names);
      for (let i = 0; i < rows.length; i++) counts[binOf(values[rows[i]])]++;
    });
  }

  /** Null while there are too few people. */
  summary(at: number): DriftSummary | null {
    const people = this.#older + this.#newer;
    if (people < driftPeopleMin) return null;
    const items = this.#quantities.flatMap(({ of, name, reference, older, newer }) => {
      const index = stabilityIndex(
        reference.counts,
        older.map((count, bin) => count + newer[bin]),
      );
      return Number.isNaN(index) ? [] : [{ of, name, index }];
    });
    return { at, people, items };
  }

  #moveOn(): void {
    this.#older = this.#newer;
    this.#newer = 0;
    for (const quantity of this.#quantities) {
      quantity.older = quantity.newer;
      quantity.newer = new Float64Array(quantity.older.length);
    }
  }

  /** The same names give the same codes, so the last one is kept. */
  #binner(quantity: Quantity, names: CategoryNames): (value: number) => number {
    const kept = this.#binners.get(quantity);
    if (kept?.names === names) return kept.binOf;
    const binOf = binner(quantity.reference, names);
    this.#binners.set(quantity, { names, binOf });
    return binOf;
  }
}
