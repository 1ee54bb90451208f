/** Varying lengths of the key: the paper's sec. IV-B, Table II and Fig. 5, and two lengths that are in use today. */
import { count } from "./figures-in-words.ts";
import type { MeasuredTrials } from "../trials/measured-trials.ts";
import type { ExperimentOutcome, ResultFigure } from "./outcome.ts";
import type { Scale } from "./scale.ts";
import {
  accuracyTable,
  pairOf,
  percentageNote,
  type Sweep,
  sweepPanels,
  type SweepResult,
  sweepResults,
  timeFigure,
  timeTable,
} from "./sweep.ts";
import { sweepParagraph } from "./sweep-words.ts";

export function keysSweep(scale: Scale): Sweep {
  return {
    name: "keys",
    axis: "key bits",
    variety: "key lengths",
    tableReference: "Table II",
    figureReference: "Fig. 5",
    dataset: "default",
    points: scale.keys.map((point) => ({
      ...point,
      ...pairOf(scale, { dataset: "default", trees: scale.trees, keyBits: point.ours }),
    })),
  };
}

export function keysOutcome(scale: Scale, trials: MeasuredTrials): ExperimentOutcome {
  const sweep = keysSweep(scale);
  const results = sweepResults(sweep, trials);
  const inThePaper = results.filter(({ paper }) => paper !== null);
  const beyond = results.filter(({ paper }) => paper === null);
  const longer: ResultFigure = {
    name: "keys-longer-time",
    caption: `Time with keys that the paper did not run. ${percentageNote}`,
    panels: sweepPanels(sweep, beyond),
  };
  return {
    name: "keys",
    title: "Varying lengths of the key",
    reference: "sec. IV-B, Table II, Fig. 5",
    paragraph: [sweepParagraph(sweep, results), ...modelWords(results), ...crowdedWords(results)].join(" "),
    tables: [accuracyTable(sweep, results), timeTable(sweep, results)],
    // In a figure of their own: next to the bars of long keys the paper's would be too small.
    figures: [timeFigure(sweep, inThePaper), ...(beyond.length === 0 ? [] : [longer])],
  };
}

function modelWords(results: readonly SweepResult[]): string[] {
  const models = new Set(results.map(({ measured }) => measured.batched.model)).size;
  if (models !== 1 || results.length < 2) return [];
  return [
    "Our model is the same, bit for bit, at every key length. " +
      "The paper's accuracies differ, so something other than the key must have changed between its jobs.",
  ];
}

/** With packing on, short keys are a disadvantage of the wider, batched sums. */
function crowdedWords(results: readonly SweepResult[]): string[] {
  return results
    .filter(
      ({ measured: { batched, unbatched } }) =>
        batched.counts.candidateCiphertexts > unbatched.counts.candidateCiphertexts,
    )
    .map(
      ({ point, measured: { batched, unbatched } }) =>
        `At ${count(point.ours)} bits the batched side returns more ciphertexts than the unbatched one: ` +
        `${count(batched.counts.candidateCiphertexts)} against ${count(unbatched.counts.candidateCiphertexts)}. ` +
        "Its sums are wider, and fewer of them fit into so short a key.",
    );
}
