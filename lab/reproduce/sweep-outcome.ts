/** The outcome of a sweep: its paragraph, both tables, and the figure in the form of the paper. */
import type { MeasuredTrials } from "../trials/measured-trials.ts";
import type { ExperimentOutcome } from "./outcome.ts";
import { accuracyTable, type Sweep, sweepResults, timeFigure, timeTable } from "./sweep.ts";
import { sweepParagraph } from "./sweep-words.ts";

export function sweepOutcome(title: string, section: string, sweep: Sweep, trials: MeasuredTrials): ExperimentOutcome {
  const results = sweepResults(sweep, trials);
  return {
    name: sweep.name,
    title,
    reference: `${section}, ${sweep.tableReference}, ${sweep.figureReference}`,
    paragraph: sweepParagraph(sweep, results),
    tables: [accuracyTable(sweep, results), timeTable(sweep, results)],
    figures: [timeFigure(sweep, results)],
  };
}
