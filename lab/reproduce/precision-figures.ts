/** Figures of the precision of sums: the paper's bound, and its two trade-offs (sec. III-C). */
import { scientific } from "./figures-in-words.ts";
import type { LinePanel, ResultFigure } from "./outcome.ts";
import type { SumErrors } from "./precision-sums.ts";

export function boundFigure(rows: readonly SumErrors[]): ResultFigure {
  const line = (name: string, value: (row: SumErrors) => number, dashed = false) => ({
    name,
    dashed,
    points: positive(rows.map((row) => [row.r, value(row)])),
  });
  return {
    name: "precision-bound",
    caption: `Error of the sum of all gradients by information bits r, at alpha_max = ${scientific(rows[0].alphaMax)}.`,
    panels: [
      {
        kind: "lines",
        title: "error of the sum",
        xTitle: "r, bits",
        yTitle: "error",
        xLog: false,
        yLog: true,
        series: [
          line("the paper's bound", ({ bound }) => bound, true),
          line("rounding to nearest", ({ error }) => error.nearest),
          line("stochastic rounding", ({ error }) => error.stochastic),
        ],
      },
    ],
  };
}

export function tradeOffFigure(
  name: string,
  axis: string,
  rows: readonly SumErrors[],
  at: (row: SumErrors) => number,
  xLog: boolean,
): ResultFigure {
  const panel = (title: string, yTitle: string, yLog: boolean, series: LinePanel["series"]): LinePanel => ({
    kind: "lines",
    title,
    xTitle: axis,
    yTitle,
    xLog,
    yLog,
    series,
  });
  const points = (value: (row: SumErrors) => number) => positive(rows.map((row) => [at(row), value(row)]));
  return {
    name: `precision-${name}`,
    caption: `Trade-off of ${axis} (r = ${rows[0].r}): number of values that may be added, and error of their sum.`,
    panels: [
      panel("(a) values that may be added", "largest n", xLog, [
        { name: "no overflow is proven up to", points: points((row) => row.countMax) },
      ]),
      panel("(b) error of the sum", "error", true, [
        { name: "the paper's bound", dashed: true, points: points(({ bound }) => bound) },
        { name: "rounding to nearest", points: points(({ error }) => error.nearest) },
        { name: "stochastic rounding", points: points(({ error }) => error.stochastic) },
      ]),
    ],
  };
}

/** A logarithmic axis has no zero. */
function positive(points: readonly (readonly [number, number])[]): (readonly [number, number])[] {
  return points.filter(([, value]) => value > 0);
}
