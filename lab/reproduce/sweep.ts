/**
 * A sweep: the same job, batched and unbatched, along one axis. The paper's sec. IV has three of them (key length,
 * sample size, number of trees), each with a table of accuracies and a figure of two bar charts.
 */
import { allShortcuts } from "../../src/scheme/shortcuts.ts";
import type { TrialSpec } from "../trials/trial.ts";
import { count, decimals, percent, seconds, signed } from "./figures-in-words.ts";
import type { MeasuredTrial, MeasuredTrials, MeasuredPair, Pair } from "../trials/measured-trials.ts";
import type { BarPanel, ResultFigure, ResultTable } from "./outcome.ts";
import { type Accuracy, type PaperRow, paperTables, paperTimeFractions, type Range, type SweepName } from "./paper.ts";
import { type DatasetName, paperDatasets } from "../trials/paper-datasets.ts";
import type { Point, Scale } from "./scale.ts";

export interface Sweep {
  readonly name: SweepName;
  /** "key bits", "training rows", "trees" */
  readonly axis: string;
  /** "key lengths", "numbers of training rows", "numbers of trees" */
  readonly variety: string;
  readonly tableReference: string;
  readonly figureReference: string;
  readonly dataset: DatasetName;
  readonly points: readonly (Point & Pair)[];
}

/** A finished point: what was measured there, and the paper's row if it has one. */
export interface SweepResult {
  readonly point: Point;
  readonly measured: MeasuredPair;
  readonly paper: PaperRow | null;
}

/** The two trials of a point. */
export function pairOf(
  scale: Scale,
  job: Pick<TrialSpec, "dataset" | "trees" | "keyBits"> & { readonly trainRows?: number },
): Pair {
  const dataset = paperDatasets[job.dataset];
  const spec = {
    trainRows: Math.round(dataset.trainRows * scale.rowFraction),
    ...job,
    testRows: Math.round(dataset.testRows * scale.rowFraction),
    without: "",
    shortcuts: allShortcuts,
    repeats: scale.repeats(job.keyBits),
  };
  return { batched: { ...spec, codec: "batched" }, unbatched: { ...spec, codec: "unbatched" } };
}

export function sweepResults(sweep: Sweep, trials: MeasuredTrials): SweepResult[] {
  const rows: readonly PaperRow[] = paperTables[sweep.name];
  return sweep.points.flatMap((point) => {
    const measured = trials.pair(point);
    return measured === null ? [] : [{ point, measured, paper: rows.find(({ at }) => at === point.paper) ?? null }];
  });
}

/** What is trained at a point, and in brackets what it stands for in the paper if that is not the same. */
export function pointTitle({ ours, paper }: Point): string {
  return paper === null || paper === ours ? count(ours) : `${count(ours)} (for ${count(paper)})`;
}

export function accuracyOf({ metrics }: MeasuredTrial): Accuracy {
  const { train, test } = metrics;
  return { aucTrain: train["auc"], aucTest: test["auc"], ksTrain: train["ks"], ksTest: test["ks"] };
}

const accuracyColumns = {
  aucTrain: "AUC train",
  aucTest: "AUC test",
  ksTrain: "KS train",
  ksTest: "KS test",
} as const satisfies Record<keyof Accuracy, string>;
const accuracyKeys = Object.keys(accuracyColumns) as (keyof Accuracy)[];

export function accuracyTable(sweep: Sweep, results: readonly SweepResult[]): ResultTable {
  const rows = results.flatMap(({ point, measured, paper }) =>
    (["unbatched", "batched"] as const).map((codec) => {
      const ours = accuracyOf(measured[codec]);
      const cells = accuracyKeys.flatMap((key) => {
        const theirs = paper?.[codec][key];
        return theirs === undefined
          ? ["", decimals(ours[key]), ""]
          : [decimals(theirs), decimals(ours[key]), signed(ours[key] - theirs)];
      });
      return [pointTitle(point), algorithmTitle(codec), ...cells];
    }),
  );
  const [finest] = results.map(({ measured }) => measured.unbatched.resolutions[0]);
  return {
    name: `${sweep.name}-accuracy`,
    title: `Accuracy with different ${sweep.variety} (the paper's ${sweep.tableReference})`,
    columns: [
      { group: "", title: sweep.axis },
      { group: "", title: "algorithm" },
      ...accuracyKeys.flatMap((key) =>
        ["paper", "ours", "difference"].map((title) => ({ group: accuracyColumns[key], title })),
      ),
    ],
    rows,
    notes: finest === undefined ? [] : [gridNote(results)],
  };
}

/** Which grids were compared. */
function gridNote(results: readonly SweepResult[]): string {
  const { unbatched, batched } = results[0].measured;
  const fine = Math.round(Math.log2(unbatched.resolutions[0]));
  const coarse = batched.resolutions[0];
  return (
    `SecureBoost's g is rounded to steps of 2^${fine}, fine enough that rounding does not matter. ` +
    `The paper's slots round g and h to steps of alpha_max / 2^r = ${coarse.toPrecision(2)}.`
  );
}

export function algorithmTitle(codec: TrialSpec["codec"]): string {
  return codec === "batched" ? "Proposed" : "SecureBoost";
}

export function timeTable(sweep: Sweep, results: readonly SweepResult[]): ResultTable {
  return {
    name: `${sweep.name}-time`,
    title: `Time with different ${sweep.variety} (the paper's ${sweep.figureReference})`,
    columns: timeColumns(sweep.axis),
    rows: results.map(({ point, measured }) => [pointTitle(point), ...timeCells(measured)]),
    notes: [],
  };
}

/** How times were measured, and what they are compared with. */
export const timesNote =
  "Times: trainings are interleaved, and the minimum counts. CPU is that of building trees; it depends less on the " +
  "load of the machine. The paper publishes its times as bars without numbers; its text says that batching takes " +
  `${rangeText(paperTimeFractions.total)} of the total time and ${rangeText(paperTimeFractions.perTree)} ` +
  "of the time per tree. Differences are to the nearer end of that range, in percentage points.";

export function timeColumns(axis: string) {
  const group = (name: string) =>
    ["SecureBoost", "Proposed", "fraction", "paper", "difference"].map((title) => ({ group: name, title }));
  const cpu = ["SecureBoost", "Proposed", "fraction"].map((title) => ({ group: "CPU of both parties, s", title }));
  return [
    { group: "", title: axis },
    ...group("total, s"),
    ...group("per tree, s"),
    ...cpu,
    { group: "", title: "repeats" },
  ];
}

export function timeCells({ batched, unbatched, totalFraction, perTreeFraction }: MeasuredPair): string[] {
  const side = (without: number, with_: number, fraction: number, range: Range): string[] => [
    seconds(without),
    seconds(with_),
    percent(fraction),
    rangeText(range),
    outside(fraction, range),
  ];
  return [
    ...side(unbatched.totalSeconds, batched.totalSeconds, totalFraction, paperTimeFractions.total),
    ...side(unbatched.secondsPerTree, batched.secondsPerTree, perTreeFraction, paperTimeFractions.perTree),
    seconds(unbatched.cpuSeconds),
    seconds(batched.cpuSeconds),
    percent(batched.cpuSeconds / unbatched.cpuSeconds),
    String(Math.min(batched.repeatCount, unbatched.repeatCount)),
  ];
}

export function rangeText({ min, max }: Range): string {
  return `${Math.round(100 * min)}-${Math.round(100 * max)}%`;
}

/** How far a fraction lies outside a range, in percentage points. */
function outside(fraction: number, { min, max }: Range): string {
  const points = fraction > max ? fraction - max : fraction < min ? fraction - min : 0;
  return points === 0 ? "within" : `${signed(100 * points, 1)} pp`;
}

/** The paper's form: (a) total runtime, (b) time per tree; over each batched bar its fraction of the unbatched one. */
export function timeFigure(sweep: Sweep, results: readonly SweepResult[]): ResultFigure {
  return {
    name: `${sweep.name}-time`,
    caption: `Time with different ${sweep.variety}, as in the paper's ${sweep.figureReference}. ${percentageNote}`,
    panels: sweepPanels(sweep, results),
  };
}

export const percentageNote = "The percentage is Proposed over SecureBoost.";

/** The meaning of a point in the paper is on a second line. */
export function sweepPanels(sweep: Sweep, results: readonly SweepResult[]): BarPanel[] {
  return timePanels(
    sweep.axis,
    results.map(({ point }) => pointTitle(point).replace(" (", "\n(")),
    results.map(({ measured }) => measured),
  );
}

export function timePanels(axis: string, categories: readonly string[], pairs: readonly MeasuredPair[]): BarPanel[] {
  const panel = (
    title: string,
    yTitle: string,
    value: (trial: MeasuredTrial) => number,
    fraction: (pair: MeasuredPair) => number,
  ): BarPanel => ({
    kind: "bars",
    title,
    xTitle: axis,
    yTitle,
    categories,
    series: [
      { name: "SecureBoost", values: pairs.map(({ unbatched }) => value(unbatched)) },
      { name: "Proposed", values: pairs.map(({ batched }) => value(batched)) },
    ],
    labels: pairs.map((pair) => percent(fraction(pair), 0)),
  });
  return [
    panel(
      "(a) total runtime",
      "seconds",
      ({ totalSeconds }) => totalSeconds,
      ({ totalFraction }) => totalFraction,
    ),
    panel(
      "(b) time per tree",
      "seconds",
      ({ secondsPerTree }) => secondsPerTree,
      ({ perTreeFraction }) => perTreeFraction,
    ),
  ];
}
