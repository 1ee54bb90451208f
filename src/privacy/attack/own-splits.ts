/**
 * C: what a passive party can infer about labels from its own splits alone, which it learns with every scheme: which of
 * its thresholds split a node, and in which tree. It does not learn the direction. Columns that predict the label are
 * split often, and their sides agree about who has a high risk: the first principal component of the sides of its
 * splits ranks people without a label.
 */
import type { BinnedFeature } from "../../gbdt/split/binning.ts";
import type { LabelGuess } from "./audit-result.ts";
import { JudgedGuesses, type JudgedLabels } from "./cells.ts";
import type { OwnSplit } from "./recorder.ts";

/** Power iterations: the first component is well separated. */
const steps = 30;

/** Per split the side of each person. */
function sidesOf(features: readonly BinnedFeature[], splits: readonly OwnSplit[]): Uint32Array[] {
  return splits.map(({ feature, left }) => Uint32Array.from(features[feature].bins, (bin) => left[bin]));
}

/** The first principal component of the sides, each scaled to unit variance. */
export function firstComponent(sides: readonly Uint32Array[]): Float64Array {
  const people = sides[0]?.length ?? 0;
  const scaled = sides.map((side) => {
    const share = side.reduce((sum, value) => sum + value, 0) / people;
    const deviation = Math.sqrt(share * (1 - share)) || 1;
    return Float64Array.from(side, (value) => (value - share) / deviation);
  });
  let weights = new Float64Array(sides.length).fill(1);
  let scores = new Float64Array(people);
  for (let step = 0; step < steps; step++) {
    scores = new Float64Array(people);
    scaled.forEach((side, s) => side.forEach((value, person) => (scores[person] += weights[s] * value)));
    weights = Float64Array.from(scaled, (side) => side.reduce((sum, value, i) => sum + value * scores[i], 0));
    const norm = Math.hypot(...weights) || 1;
    weights = weights.map((weight) => weight / norm);
  }
  return scores;
}

type OwnGuess = Omit<LabelGuess, "byTree">;

/** From the party's own splits; without a label, and with some. */
export function guessFromOwnSplits(
  features: readonly BinnedFeature[],
  splits: readonly OwnSplit[],
  judged: JudgedLabels,
): OwnGuess | null {
  const sides = sidesOf(features, splits);
  return new JudgedGuesses(judged).of(sides, firstComponent(sides));
}

/** From its columns and known labels, without any job: what the party could do anyway. */
export function guessFromOwnColumns(features: readonly BinnedFeature[], judged: JudgedLabels): OwnGuess | null {
  const bins = features.map(({ bins: own }) => Uint32Array.from(own));
  return new JudgedGuesses(judged).of(bins, new Float64Array(judged.labels.length));
}
