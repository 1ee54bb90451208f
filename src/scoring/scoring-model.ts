/**
 * The active half of scoring a batch: the splits that each passive party answers for, the checks of its answer, and the
 * margins that follow.
 *
 * @reveals passive: the ids that are to be scored, and with which model
 */
import { TandemError } from "../base/error.ts";
import type { CategoryNames } from "../gbdt/split/split-test.ts";
import type { SplitRule } from "../gbdt/tree/tree.ts";
import type { ActiveModel } from "../protocol/active/role.ts";
import type { WriteOutcomes } from "../scheme/masked/tree-values.ts";
import type { ActiveShare } from "../store/share-files.ts";
import { checkBitmap, isSet } from "../wire/bitmap.ts";
import { addMargins, ownOutcomes, ownOutcomesOf, type RowOutcomes } from "../protocol/active/federated-margins.ts";
import { isOwnRule } from "../protocol/active/federated-tree.ts";
import type { PassiveOutcomes } from "../wire/generated/tandem/v1/scoring_pb.ts";
import { messageBytesMax, requirePassiveVersion } from "../wire/version.ts";

/** Half a message for a batch's ids, and half of the answer for their outcomes; the rest is for headers. */
const bytesPerBatch = messageBytesMax / 2;
const idOverheadBytes = 8;

/** Own values and outcomes of the rows of a batch. */
export interface BatchOutcomes {
  readonly idCount: number;
  /** The own features' values, or their codes, in the order of ScoringModel.features. */
  readonly columns: readonly Float32Array[];
  /** In the order of passiveNames; null for a party without splits. */
  readonly outcomes: readonly (PassiveOutcomes | null)[];
}

/** The column that margins start from. */
export interface RequiredColumn {
  readonly place: number;
  readonly name: string;
  /** Whether a margin can start from this value of the column. */
  readonly isUsable: (value: number) => boolean;
}

export class ScoringModel {
  /** The active party's own columns that a score needs: features that trees split on, then the base margin. */
  readonly features: readonly string[];
  /**
   * In their order: of a categorical one the categories that trees split on, of others null. Columns have codes into
   * these lists.
   */
  readonly categoryNames: readonly CategoryNames[];
  readonly #model: ActiveModel;
  /** Per feature index of training: its place in `features`. */
  readonly #place = new Map<number, number>();
  /** Per tree and node: the split's place among its owner's, in split order. */
  readonly #positions: readonly Int32Array[];
  readonly #splitCounts: readonly number[];

  /** The place of the base margins among the columns; -1 if the model takes none. */
  readonly #baseMarginPlace: number;

  /** @throws TandemError FILE_FORMAT for a model that takes base margins but does not name their column */
  constructor(model: ActiveModel & Pick<ActiveShare, "baseMarginColumn">) {
    this.#model = model;
    const features: string[] = [];
    const categories: (Set<string> | null)[] = [];
    const counts = model.passiveNames.map(() => 0);
    this.#positions = model.trees.map((tree) =>
      Int32Array.from(tree, (node) => {
        if (node.kind === "leaf") return -1;
        const { rule } = node;
        if (!isOwnRule(rule)) return counts[rule.owner - 1]++;
        if (!this.#place.has(rule.feature)) {
          this.#place.set(rule.feature, features.push(rule.featureName) - 1);
          categories.push(rule.categories === undefined ? null : new Set());
        }
        for (const category of rule.categories ?? []) categories[this.placeOf(rule)]?.add(category);
        return -1;
      }),
    );
    this.#baseMarginPlace = -1;
    if (model.takesBaseMargin === true) {
      if (model.baseMarginColumn === undefined)
        throw new TandemError("FILE_FORMAT", "the model takes base margins, but its share does not name their column");
      this.#baseMarginPlace = features.push(model.baseMarginColumn) - 1;
      categories.push(null);
    }
    this.features = features;
    this.categoryNames = categories.map((names) => names && [...names].sort());
    this.#splitCounts = counts;
  }

  /** Base margins per row; undefined if the model takes none. @param columns as of `margins` */
  baseMargins(columns: readonly Float32Array[]): Float64Array | undefined {
    return this.#baseMarginPlace === -1 ? undefined : Float64Array.from(columns[this.#baseMarginPlace]);
  }

  /** Those of `features` that trees split on. */
  get ownFeatures(): readonly string[] {
    return this.#baseMarginPlace === -1 ? this.features : this.features.slice(0, this.#baseMarginPlace);
  }

  /** The column that every row must have; null if there is none. */
  get requiredColumn(): RequiredColumn | null {
    const place = this.#baseMarginPlace;
    return place === -1 ? null : { place, name: this.features[place], isUsable: Number.isFinite };
  }

  /**
   * @param party index in passiveNames; a party without splits need not be asked
   */
  splitCount(party: number): number {
    return this.#splitCounts[party];
  }

  /** The end of the longest batch from `first` on that fits one message in each direction. */
  batchEnd(ids: readonly string[], first: number, idsMax: number): number {
    const outcomesMax = Math.floor((bytesPerBatch * 8) / Math.max(1, ...this.#splitCounts));
    const limit = Math.min(ids.length, first + Math.max(1, Math.min(idsMax, outcomesMax)));
    let bytes = 0;
    let end = first;
    while (end < limit) {
      bytes += Buffer.byteLength(ids[end]) + idOverheadBytes;
      if (end > first && bytes > bytesPerBatch) break;
      end++;
    }
    return end;
  }

  /** @throws TandemError if an answer is not about these splits and this many ids */
  checkOutcomes(party: number, outcomes: PassiveOutcomes, idCount: number): void {
    const name = this.#model.passiveNames[party];
    const expected = this.#splitCounts[party];
    requirePassiveVersion(outcomes.protocolVersion, name);
    if (outcomes.splitCount !== expected) {
      throw new TandemError(
        "PROTOCOL_STATE",
        `party ${name} answers for ${outcomes.splitCount} splits; our share of the model has ${expected} of it`,
      );
    }
    if (outcomes.idsMax < 1) throw new TandemError("PROTOCOL_STATE", `party ${name} allows no id per request`);
    checkBitmap(outcomes.known, idCount);
    checkBitmap(outcomes.left, expected * idCount);
  }

  /** Margins of the trees in a range, from the model's base on. */
  margins(batch: BatchOutcomes, { first, end }: { readonly first: number; readonly end: number }): Float64Array {
    const { baseMargin, outputCount = 1, trees } = this.#model;
    const margins = this.baseMargins(batch.columns) ?? new Float64Array(batch.idCount * outputCount).fill(baseMargin);
    const remote = this.#remoteOutcomes(batch);
    addMargins({ trees: trees.slice(first, end), outputCount }, margins, {
      ...this.#ownValues(batch.columns),
      remoteGoesLeft: (owner, tree, node, row) => remote(owner, first + tree, node, row),
    });
    return margins;
  }

  /** The outcomes of the active party's own splits. @param columns as those of a batch */
  ownGoesLeft(columns: readonly Float32Array[]): (tree: number, node: number, row: number) => boolean {
    return ownOutcomes(this.#model.trees, this.#ownValues(columns));
  }

  /** The same for many rows at once. */
  ownOutcomes(columns: readonly Float32Array[]): WriteOutcomes {
    return ownOutcomesOf(this.#model.trees, (rule) => {
      const place = this.placeOf(rule);
      return { values: columns[place], names: this.categoryNames[place] };
    });
  }

  /** The outcomes of all parties' splits. */
  goesLeft(batch: BatchOutcomes): (tree: number, node: number, row: number) => boolean {
    const own = this.ownGoesLeft(batch.columns);
    const remote = this.#remoteOutcomes(batch);
    return (tree, node, row) => {
      const at = this.#model.trees[tree][node];
      if (at.kind === "leaf" || isOwnRule(at.rule)) return own(tree, node, row);
      return remote(at.rule.owner, tree, node, row);
    };
  }

  #ownValues(columns: readonly Float32Array[]): Pick<RowOutcomes, "ownValue" | "ownNames"> {
    return {
      ownValue: (rule, row) => columns[this.placeOf(rule)][row],
      ownNames: (rule) => this.categoryNames[this.placeOf(rule)],
    };
  }

  #remoteOutcomes({ idCount, outcomes }: BatchOutcomes): RowOutcomes["remoteGoesLeft"] {
    return (owner, tree, node, row) => {
      const left = outcomes[owner - 1]?.left;
      return left !== undefined && isSet(left, this.#positions[tree][node] * idCount + row);
    };
  }

  /** Of each of a party's splits the tree, in the order of its answers. */
  splitTrees(party: number): number[] {
    return this.#model.trees.flatMap((tree, index) =>
      tree.flatMap((node) =>
        node.kind === "split" && !isOwnRule(node.rule) && node.rule.owner === party + 1 ? [index] : [],
      ),
    );
  }

  /** The place of a passive party's split among all of that party's. */
  positionOf(tree: number, node: number): number {
    return this.#positions[tree][node];
  }

  /** The place of an own rule's feature in `features`. */
  placeOf({ feature }: Pick<SplitRule, "feature">): number {
    return this.#place.get(feature) ?? -1;
  }
}

/**
 * Values of a column in a model's codes: numbers are unchanged, codes refer to its list of categories; a category that
 * is not in the list gets the code after the last.
 */
export function inModelCodes(values: Float32Array, from: CategoryNames, to: CategoryNames): Float32Array {
  if (from === null || to === null) return values;
  const codes = Float32Array.from(from, (name) => modelCode(name, to));
  return values.map((code) => (Number.isNaN(code) ? NaN : codes[code]));
}

export function modelCode(category: string, names: readonly string[]): number {
  const code = names.indexOf(category);
  return code === -1 ? names.length : code;
}
