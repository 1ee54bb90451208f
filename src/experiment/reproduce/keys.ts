/** Varying lengths of the key: the paper's sec. IV-B, Table II and Fig. 5, and two lengths that are in use today. */
import type { MeasuredCells } from "./measured-cells.ts";
import type { ExperimentOutcome } from "./outcome.ts";
import type { Scale } from "./scale.ts";
import { accuracyTable, pairOf, type Sweep, sweepResults, timeFigure, timeTable } from "./sweep.ts";
import { sweepParagraph } from "./sweep-words.ts";

export function keysSweep(scale: Scale): Sweep {
  return {
    name: "keys",
    axis: "key bits",
    variety: "key lengths",
    tableReference: "Table II",
    figureReference: "Fig. 5",
    dataset: "default",
    points: scale.keys.map((point) => ({ ...point, ...pairOf(scale, { dataset: "default", trees: scale.trees, keyBits: point.run }) })),
  };
}

export function keysOutcome(scale: Scale, cells: MeasuredCells): ExperimentOutcome {
  const sweep = keysSweep(scale);
  const results = sweepResults(sweep, cells);
  const inThePaper = results.filter(({ paper }) => paper !== null);
  const beyond = results.filter(({ paper }) => paper === null);
  const models = new Set(results.map(({ measured }) => measured.batched.model)).size;
  const sameModel =
    models === 1 && results.length > 1
      ? " The length of the key does not touch the model: ours is the same, bit for bit, at every length. The paper's accuracies change with the key, so something else must have changed between its runs."
      : "";
  return {
    name: "keys",
    title: "Varying lengths of the key",
    reference: "sec. IV-B, Table II, Fig. 5",
    paragraph: sweepParagraph(sweep, results) + sameModel,
    tables: [accuracyTable(sweep, results), timeTable(sweep, results)],
    // Apart, or the long keys' bars would leave nothing to see of the paper's.
    figures: [timeFigure(sweep, inThePaper), ...(beyond.length === 0 ? [] : [timeFigure(sweep, beyond, "keys-longer")])],
  };
}
