/** The axes of a chart: where they begin and end, and round numbers in between. */
export type Range = readonly [low: number, high: number];

export interface Axis {
  readonly low: number;
  readonly high: number;
  readonly ticks: readonly { readonly value: number; readonly text: string }[];
}

const ticksWanted = 5;
const roundSteps = [1, 2, 2.5, 5, 10];
const wholeSteps = [1, 2, 5, 10];

/** From the lowest to the highest of the values as they are. @param whole ticks at integers only */
export function tightAxis(values: readonly (number | null)[], range: Range | undefined, whole: boolean): Axis {
  const [low, high] = range ?? extentOf(values);
  return withTicks(low, high, whole);
}

/**
 * From one round number to another, around all values.
 *
 * @param bounds what the values cannot be below or above: the axis does not go there either
 */
export function roundAxis(values: readonly (number | null)[], bounds: Range): Axis {
  const [lowest, highest] = extentOf(values);
  const size = Math.max(Math.abs(lowest), Math.abs(highest));
  // Values that are all the same: a tenth on either side, but never across zero.
  const padding = highest - lowest > 1e-9 * Math.max(1, size) ? 0 : size > 1e-6 ? size / 10 : 0.1;
  const isBelowZero = lowest < 0 && highest <= 0;
  const [from, to] = [
    Math.max(bounds[0], lowest >= 0 ? Math.max(0, lowest - padding) : lowest - padding),
    Math.min(bounds[1], isBelowZero ? Math.min(0, highest + padding) : highest + padding),
  ];
  const step = stepOf(from, to, false);
  return withTicks(
    Math.max(bounds[0], Math.floor(from / step + 1e-9) * step),
    Math.min(bounds[1], Math.ceil(to / step - 1e-9) * step),
    false,
  );
}

/** Where a value lies on an axis, from 0 to 1. */
export function placeOn({ low, high }: Axis, value: number): number {
  return high === low ? 0.5 : (value - low) / (high - low);
}

/** The metrics that are fractions (gbdt/metric/metric.ts), whose code the page does not load. */
const fractions = new Set("auc aucpr ks error merror ndcg map pre interval-regression-accuracy".split(" "));

/** @param metric XGBoost's name; a number may follow after an @ */
export function metricBounds(metric: string): Range {
  return fractions.has(metric.split("@")[0]) ? [0, 1] : [-Infinity, Infinity];
}

function extentOf(values: readonly (number | null)[]): [number, number] {
  let [low, high] = [Infinity, -Infinity];
  for (const value of values)
    if (value !== null && Number.isFinite(value)) [low, high] = [Math.min(low, value), Math.max(high, value)];
  return low > high ? [0, 1] : [low, high];
}

function stepOf(low: number, high: number, whole: boolean): number {
  const rough = Math.max((high - low) / ticksWanted || 1, whole ? 1 : 0);
  const power = 10 ** Math.floor(Math.log10(rough));
  const steps = whole ? wholeSteps : roundSteps;
  return (steps.find((step) => step * power >= rough * (1 - 1e-9)) ?? 10) * power;
}

function withTicks(low: number, high: number, whole: boolean): Axis {
  const step = stepOf(low, high, whole);
  const digits = Math.max(0, Math.min(12, (String(Number(step.toPrecision(3))).split(".")[1] ?? "").length));
  const first = Math.ceil(low / step - 1e-9);
  const count = Math.max(0, Math.floor(high / step + 1e-9) - first + 1);
  return {
    low,
    high,
    ticks: Array.from({ length: Math.min(count, 4 * ticksWanted) }, (_, i) => {
      const value = (first + i) * step;
      return {
        value,
        text: value.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits }),
      };
    }),
  };
}
