/** Upper bounds of a job: nodes, splits, candidates, sampled instances. Null: not known. */
import { formatCount } from "../base/text/format.ts";
import { nodesAskedMax } from "../gbdt/tree/grow.ts";
import type { Defence } from "./defences/defence.ts";
import { defenceNames, defences, isOn } from "./defences/defences.ts";
import type { DisclosureFacts, Extent } from "./disclosure-entry.ts";

/** Notes of the job's defences about a disclosure. */
export function defenceNotes(disclosure: string, facts: Pick<DisclosureFacts, "defences">): readonly string[] {
  return defenceNames.flatMap((name) => {
    const { notes }: Defence = defences[name];
    const value = facts.defences[name];
    return isOn(value) ? (notes?.[disclosure]?.(Number(value)) ?? []) : [];
  });
}

/**
 * Whether scores are sent instead of outcomes of splits: for test rows, a start model, and instances scored later.
 * Null: a policy, under which both are possible.
 */
export function masksScoring({ defences: { masked_scoring: isMasked }, isPolicy }: DisclosureFacts): boolean | null {
  return isMasked || (isPolicy === true ? null : false);
}

/** Null where a factor is zero: the job does not have this disclosure. */
export function present(factors: readonly (number | null)[], extent: Extent | null): Extent | null {
  return factors.includes(0) ? null : extent;
}

/** @param condition which features these are, where their number is not known */
export function someFeatures(count: number | null, condition: string): Extent | null {
  return present([count], { atMost: count, unit: "features", ...(count === null ? { note: condition } : {}) });
}

export function product(...factors: readonly (number | null)[]): number | null {
  return factors.reduce((total, factor) => (total === null || factor === null ? null : total * factor), 1);
}

/** Nodes of a tree at which candidates are compared: all except the last level. */
export function nodesMax({ depth, leaves }: DisclosureFacts): number | null {
  return smallest(depth === 0 ? null : 2 ** depth - 1, leaves === 0 ? null : 2 * leaves - 1);
}

export function splitsMax({ depth, leaves }: DisclosureFacts): number | null {
  return smallest(depth === 0 ? null : 2 ** depth - 1, leaves === 0 ? null : leaves - 1);
}

/** Nodes of a tree that are requested from a passive party: the root and one child of each pair, or both. */
export function nodesAsked(facts: DisclosureFacts): number | null {
  const { depth, leaves, columnsAreSampled } = facts;
  if (depth === 0 && leaves === 0) return null;
  const rate = columnsAreSampled === false ? 1 : 0;
  return nodesAskedMax({ maxDepth: depth, maxLeaves: leaves }, { byLevel: rate, byNode: rate });
}

/** Sides of one instance that the active party receives in a tree: one per level, or one per split. */
export function sidesMax(facts: DisclosureFacts): number | null {
  return coverAll(facts) ? splitsMax(facts) : levelsMax(facts);
}

/** Whether outcomes of a split may cover all instances of the job. */
export function coverAll({ memberships }: DisclosureFacts): boolean {
  return memberships.some(({ outcomesCover }) => outcomesCover === "all instances");
}

/** Levels of splits in a tree. */
export function levelsMax({ depth, leaves }: DisclosureFacts): number | null {
  return smallest(depth === 0 ? null : depth, leaves === 0 ? null : leaves - 1);
}

/** Levels whose children may be split further: only their partitions are sent to passive parties. */
export function levelsSentMax(facts: DisclosureFacts): number | null {
  const levels = levelsMax(facts);
  return levels === null ? null : levels - 1;
}

/** Null: no limit is known. */
export function smallest(...limits: readonly (number | null)[]): number | null {
  const known = limits.filter((limit) => limit !== null);
  return known.length === 0 ? null : Math.min(...known);
}

/**
 * Each threshold with both default directions, as gbdt/split/candidate.ts counts them with a monotone constraint.
 */
export function candidatesMax({ passiveParty: { candidates, features }, binsMax }: DisclosureFacts): number | null {
  return candidates ?? (features === null ? null : 2 * binsMax * features);
}

export function candidateNote(facts: DisclosureFacts): string {
  const known = candidatesMax(facts);
  const many =
    known === null ? `${formatCount(2 * facts.binsMax)} candidates per feature` : `${formatCount(known)} candidates`;
  const nodes = nodesMax(facts);
  const where = nodes === null ? "the nodes" : `up to ${formatCount(nodes)} nodes`;
  return `up to ${many}, at ${where} of each of ${formatCount(facts.trees)} trees`;
}

/** Instances whose gradients are encrypted in a gradient round; those of validation rows never are. */
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
