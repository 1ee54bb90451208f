/**
 * A4: the bins that remain possible given outcomes of splits alone. In training a won split reveals the side of every
 * instance of its node; in scoring every split reveals it for every scored instance. This is exact and needs no search,
 * given which candidates belong to one feature.
 */
import type { BinnedFeature } from "../../gbdt/split/binning.ts";
import { PossibleBins } from "./possible-bins.ts";
import type { OwnSplit } from "./recorder.ts";
import type { Transcript } from "./transcript.ts";

/** Per feature the bins that remain possible after the outcomes of training. */
export function afterTraining(
  features: readonly BinnedFeature[],
  instances: Uint32Array,
  splits: readonly OwnSplit[],
  { trees }: Transcript,
): PossibleBins[] {
  const possible = features.map((feature) => new PossibleBins(feature, instances));
  const nodes = new Map(trees.flatMap(({ tree, nodes: own }) => own.map((node) => [`${tree}/${node.id}`, node])));
  for (const split of splits) {
    const node = nodes.get(`${split.tree}/${split.node}`);
    if (node !== undefined) narrowBySide(possible, features, split, node.instances);
  }
  return possible;
}

/**
 * Per feature the bins that remain possible for instances whose side is revealed at every split: scored instances, and
 * with hidden members all training rows.
 */
export function afterScoring(
  features: readonly BinnedFeature[],
  instances: Uint32Array,
  splits: readonly OwnSplit[],
): PossibleBins[] {
  const possible = features.map((feature) => new PossibleBins(feature, instances));
  for (const split of splits) narrowBySide(possible, features, split, instances);
  return possible;
}

function narrowBySide(
  possible: readonly PossibleBins[],
  features: readonly BinnedFeature[],
  { feature, left }: OwnSplit,
  instances: Uint32Array,
): void {
  const [goesRight, goesLeft] = [0, 1].map((side) =>
    possible[feature].mask(Array.from(left, (isLeft) => (isLeft === side ? 1 : 0))),
  );
  const { bins } = features[feature];
  for (const instance of instances)
    possible[feature].narrow(instance, left[bins[instance]] === 1 ? goesLeft : goesRight);
}
