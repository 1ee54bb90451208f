/**
 * SHAP values between parties: the contribution of each of the active party's own features to an instance's margin, and
 * of each passive party's features together. Outcomes and covers are known; tags say which splits of a passive party
 * are one player in a tree. Without tags a passive party is one player as a whole.
 */
import { contributionsOf, playersBy, type TreePlayers } from "../gbdt/explain/contributions.ts";
import { isOwnRule } from "../protocol/active/federated-tree.ts";
import type { ActiveShare } from "../store/share-files.ts";
import type { FeatureTags } from "./feature-tags.ts";
import type { ContributionPlace } from "./received-contributions.ts";
import type { BatchOutcomes, ScoringModel } from "./scoring-model.ts";

interface TreeRange {
  readonly first: number;
  readonly end: number;
}

export class Explainer {
  readonly #share: ActiveShare;
  readonly #model: ScoringModel;

  constructor(share: ActiveShare, model: ScoringModel) {
    this.#share = share;
    this.#model = model;
  }

  /** Names of the values: own features, a total per passive party, the bias. No name occurs twice. */
  get columns(): string[] {
    const { ownFeatures } = this.#model;
    const parties = this.#share.passiveNames.map((party) => `party:${party}`);
    return [...ownFeatures, ...unlike(ownFeatures, [...parties, "bias"])];
  }

  /** @param tags per passive party; null: it is one player. @returns per row and output a value per column */
  values(batch: BatchOutcomes, range: TreeRange, tags: readonly (FeatureTags | null)[]): Promise<Float64Array> {
    const { trees, outputCount = 1, baseMargin } = this.#share;
    const goesLeft = this.#model.goesLeft(batch);
    const starts = this.#model.baseMargins(batch.columns);
    const columnCount = this.#model.ownFeatures.length + this.#share.passiveNames.length;
    const playersOf = (tree: number): TreePlayers => this.#players(tree, tags);
    return contributionsOf(
      { trees, outputCount, columnCount, range, playersOf, goesLeft },
      batch.idCount,
      (row) => starts?.[row] ?? baseMargin,
    );
  }

  /** Names of the values of `ownValues`: own features, all other parties' together, the bias. */
  get ownColumns(): string[] {
    const { ownFeatures } = this.#model;
    return [...ownFeatures, ...unlike(ownFeatures, ["others", "bias"])];
  }

  /**
   * Own features' Shapley values where other parties' splits take no part, and what those parties add to the margin
   * afterwards. No outcome of their splits is needed: the score alone.
   * @param margins per row and output
   */
  async ownValues(
    { idCount, columns }: Pick<BatchOutcomes, "idCount" | "columns">,
    range: TreeRange,
    margins: Float64Array,
  ): Promise<Float64Array> {
    const { trees, outputCount = 1, baseMargin } = this.#share;
    const starts = this.#model.baseMargins(columns);
    const others = this.#model.ownFeatures.length;
    const values = await contributionsOf(
      {
        trees,
        outputCount,
        columnCount: others + 1,
        range,
        playersOf: (tree) =>
          playersBy(
            trees[tree],
            (rule) => (isOwnRule(rule) ? rule.feature : null),
            (rule) => (isOwnRule(rule) ? this.#model.placeOf(rule) : others),
          ),
        goesLeft: this.#model.ownGoesLeft(columns),
      },
      idCount,
      (row) => starts?.[row] ?? baseMargin,
    );
    const width = others + 2;
    margins.forEach((margin, i) => {
      const known = values.subarray(i * width, (i + 1) * width);
      known[others] = margin - known.reduce((sum, value) => sum + value, 0);
    });
    return values;
  }

  /**
   * The contributions of a passive party's splits, per tree and tag: the values that may be sent to it.
   * @param rows those of the batch that count
   * @returns per row a value per place
   */
  async tagValues(
    batch: BatchOutcomes,
    rows: ArrayLike<number>,
    tags: readonly (FeatureTags | null)[],
    party: number,
    places: readonly ContributionPlace[],
  ): Promise<Float64Array> {
    const { trees, outputCount = 1 } = this.#share;
    const columnOf = new Map<string, number>();
    for (const { tree, tag } of places) {
      const key = `${tree}/${tag}`;
      if (!columnOf.has(key)) columnOf.set(key, columnOf.size);
    }
    const columnCount = columnOf.size + 1; // the last one is all other parties'
    const goesLeft = this.#model.goesLeft(batch);
    const values = await contributionsOf(
      {
        trees,
        outputCount,
        columnCount,
        range: { first: 0, end: trees.length },
        playersOf: (tree) => {
          const { players, columns: all } = this.#players(tree, tags);
          const columns = new Int32Array(all.length).fill(columnOf.size);
          trees[tree].forEach((at, node) => {
            if (at.kind === "leaf" || isOwnRule(at.rule) || at.rule.owner !== party + 1) return;
            const tag = tags[party]?.[this.#model.positionOf(tree, node)] ?? 0;
            columns[players[node]] = columnOf.get(`${tree}/${tag}`) ?? columnOf.size;
          });
          return { players, columns };
        },
        goesLeft: (tree, node, row) => goesLeft(tree, node, rows[row]),
      },
      rows.length,
      () => 0,
    );
    const picked = places.map(
      ({ tree, tag, output }) => output * (columnCount + 1) + (columnOf.get(`${tree}/${tag}`) ?? 0),
    );
    const width = outputCount * (columnCount + 1);
    return Float64Array.from(
      { length: rows.length * places.length },
      (_, i) => values[Math.floor(i / places.length) * width + picked[i % places.length]],
    );
  }

  #players(tree: number, tags: readonly (FeatureTags | null)[]): TreePlayers {
    return playersBy(
      this.#share.trees[tree],
      (rule, node) =>
        isOwnRule(rule)
          ? rule.feature
          : `${rule.owner}/${tags[rule.owner - 1]?.[this.#model.positionOf(tree, node)] ?? 0}`,
      (rule) => (isOwnRule(rule) ? this.#model.placeOf(rule) : this.#model.ownFeatures.length + rule.owner - 1),
    );
  }
}

/** The names, each with underscores as far as one like it was there before. */
function unlike(taken: readonly string[], names: readonly string[]): string[] {
  const all = new Set(taken);
  const unique = (name: string): string => (all.has(name) ? unique(`${name}_`) : name);
  return names.map((name) => {
    const free = unique(name);
    all.add(free);
    return free;
  });
}
