/** Varying numbers of trees: the paper's sec. IV-D, Table IV and Fig. 7. */
import type { MeasuredCells } from "./measured-cells.ts";
import type { ExperimentOutcome } from "./outcome.ts";
import type { Scale } from "./scale.ts";
import { accuracyTable, pairOf, type Sweep, sweepResults, timeFigure, timeTable } from "./sweep.ts";
import { sweepParagraph } from "./sweep-words.ts";

export function roundsSweep(scale: Scale): Sweep {
  return {
    name: "rounds",
    axis: "trees",
    variety: "numbers of trees",
    tableReference: "Table IV",
    figureReference: "Fig. 7",
    dataset: "default",
    points: scale.rounds.map((point) => ({ ...point, ...pairOf(scale, { dataset: "default", trees: point.run, keyBits: scale.keyBits }) })),
  };
}

export function roundsOutcome(scale: Scale, cells: MeasuredCells): ExperimentOutcome {
  const sweep = roundsSweep(scale);
  const results = sweepResults(sweep, cells);
  return {
    name: "rounds",
    title: "Varying numbers of trees",
    reference: "sec. IV-D, Table IV, Fig. 7",
    paragraph: sweepParagraph(sweep, results),
    tables: [accuracyTable(sweep, results), timeTable(sweep, results)],
    figures: [timeFigure(sweep, results)],
  };
}
