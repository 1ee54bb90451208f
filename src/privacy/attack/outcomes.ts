/**
 * A4: what outcomes of splits alone leave possible. In training a won split tells the side of everybody in its node; in
 * scoring every split tells it of everybody who is scored. Exact, and no search: whoever knows which candidates are of
 * one feature reads it off.
 */
import type { BinnedFeature } from "../../gbdt/split/binning.ts";
import { PossibleBins } from "./possible-bins.ts";
import type { OwnSplit } from "./recorder.ts";
import type { Transcript } from "./transcript.ts";

/** Per feature what the outcomes of training leave. @param people whom it is about */
export function afterTraining(
  features: readonly BinnedFeature[],
  people: Uint32Array,
  splits: readonly OwnSplit[],
  { trees }: Transcript,
): PossibleBins[] {
  const possible = features.map((feature) => new PossibleBins(feature, people));
  const nodes = new Map(trees.flatMap(({ tree, nodes: own }) => own.map((node) => [`${tree}/${node.id}`, node])));
  for (const split of splits) {
    const node = nodes.get(`${split.tree}/${split.node}`);
    if (node !== undefined) tell(possible, features, split, node.instances);
  }
  return possible;
}

/**
 * Per feature what is left of people who are told a side of every split: whoever is scored, and with hidden members
 * whoever is trained on.
 */
export function afterScoring(
  features: readonly BinnedFeature[],
  people: Uint32Array,
  splits: readonly OwnSplit[],
): PossibleBins[] {
  const possible = features.map((feature) => new PossibleBins(feature, people));
  for (const split of splits) tell(possible, features, split, people);
  return possible;
}

function tell(
  possible: readonly PossibleBins[],
  features: readonly BinnedFeature[],
  { feature, left }: OwnSplit,
  people: Uint32Array,
): void {
  const [goesRight, goesLeft] = [0, 1].map((side) =>
    possible[feature].mask(Array.from(left, (isLeft) => (isLeft === side ? 1 : 0))),
  );
  const { bins } = features[feature];
  for (const person of people) possible[feature].narrow(person, left[bins[person]] === 1 ? goesLeft : goesRight);
}
