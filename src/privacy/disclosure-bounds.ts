/** How much of something a job can have at most: nodes, splits, candidates, sampled instances. Null: not known. */
import { formatCount } from "../base/text/format.ts";
import { nodesAskedMax } from "../gbdt/tree/grow.ts";
import type { Defence } from "./defences/defence.ts";
import { defenceNames, defences, isOn } from "./defences/defences.ts";
import type { DisclosureFacts, Extent } from "./disclosure-entry.ts";

/** What the job's defences say of a disclosure. */
export function defenceNotes(disclosure: string, facts: Pick<DisclosureFacts, "defences">): readonly string[] {
  return defenceNames.flatMap((name) => {
    const { notes }: Defence = defences[name];
    const value = facts.defences[name];
    return isOn(value) ? (notes?.[disclosure]?.(Number(value)) ?? []) : [];
  });
}

/**
 * Scores are sent, and no outcome of a split: of test rows, of a start model, and of instances that are scored later.
 * Null: either may be.
 */
export function masksScoring({ defences: { masked_scoring: isMasked }, isPolicy }: DisclosureFacts): boolean | null {
  return isMasked || (isPolicy === true ? null : false);
}

/** Null where one of the numbers that it is made of is zero: there is nothing of it. */
export function present(factors: readonly (number | null)[], extent: Extent | null): Extent | null {
  return factors.includes(0) ? null : extent;
}

/** @param condition what makes a feature one of them, where their number is not known */
export function someFeatures(count: number | null, condition: string): Extent | null {
  return present([count], { atMost: count, unit: "features", ...(count === null ? { note: condition } : {}) });
}

export function product(...factors: readonly (number | null)[]): number | null {
  return factors.reduce((total, factor) => (total === null || factor === null ? null : total * factor), 1);
}

/** Nodes of a tree at which candidates are compared: all that are not on the last level. */
export function nodesMax({ depth, leaves }: DisclosureFacts): number | null {
  return smallest(depth === 0 ? null : 2 ** depth - 1, leaves === 0 ? null : 2 * leaves - 1);
}

export function splitsMax({ depth, leaves }: DisclosureFacts): number | null {
  return smallest(depth === 0 ? null : 2 ** depth - 1, leaves === 0 ? null : leaves - 1);
}

/** Nodes of a tree that a passive party is asked about: the root and a child of each pair, or both of them. */
export function nodesAsked(facts: DisclosureFacts): number | null {
  const { depth, leaves, columnsAreSampled } = facts;
  if (depth === 0 && leaves === 0) return null;
  const rate = columnsAreSampled === false ? 1 : 0;
  return nodesAskedMax({ maxDepth: depth, maxLeaves: leaves }, { byLevel: rate, byNode: rate });
}

/** Sides of one instance that the active party gets in a tree: one per level, or of every split. */
export function sidesMax(facts: DisclosureFacts): number | null {
  return coverAll(facts) ? splitsMax(facts) : levelsMax(facts);
}

/** Outcomes of a split may be of all instances. */
export function coverAll({ memberships }: DisclosureFacts): boolean {
  return memberships.some(({ outcomesCover }) => outcomesCover === "all instances");
}

/** Levels of splits. */
export function levelsMax({ depth, leaves }: DisclosureFacts): number | null {
  return smallest(depth === 0 ? null : depth, leaves === 0 ? null : leaves - 1);
}

/** Those whose children may be split further: passive parties are told who goes where. */
export function levelsToldMax(facts: DisclosureFacts): number | null {
  const levels = levelsMax(facts);
  return levels === null ? null : levels - 1;
}

/** Null: there is no limit that is known. */
export function smallest(...limits: readonly (number | null)[]): number | null {
  const known = limits.filter((limit) => limit !== null);
  return known.length === 0 ? null : Math.min(...known);
}

/**
 * Thresholds in both directions of missing values, as gbdt/split/candidate.ts counts them with a monotone constraint.
 */
export function candidatesMax({ passiveParty: { candidates, features }, binsMax }: DisclosureFacts): number | null {
  return candidates ?? (features === null ? null : 2 * binsMax * features);
}

export function candidateNote(facts: DisclosureFacts): string {
  const known = candidatesMax(facts);
  const many =
    known === null
      ? `${formatCount(2 * facts.binsMax)} candidates per feature that it brings`
      : `${formatCount(known)} candidates`;
  const nodes = nodesMax(facts);
  const where = nodes === null ? "the nodes" : `up to ${formatCount(nodes)} nodes`;
  return `up to ${many}, at ${where} of each of ${formatCount(facts.trees)} trees`;
}

/** Instances whose gradients are encrypted in a round; validation rows never are. */
export function sampleMax({ instances: all, validationRows, sampling }: DisclosureFacts): number | null {
  if (all === null) return null;
  const instances = all - (validationRows ?? 0);
  if (sampling === null) return instances;
  switch (sampling.method) {
    case "none":
      return instances;
    case "uniform":
      return Math.max(1, Math.round(sampling.fraction * instances));
    case "goss":
      return Math.min(
        instances,
        Math.max(1, Math.round(sampling.topFraction * instances)) + Math.round(sampling.otherFraction * instances),
      );
    case "folds":
      return instances - Math.floor(instances / sampling.folds);
  }
}
