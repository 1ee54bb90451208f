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

/** From one round number to another, around all values; across 0 or 1 only where a value is: many are fractions. */
export function roundAxis(values: readonly (number | null)[]): Axis {
  const [lowest, highest] = extentOf(values);
  const ceiling = lowest < 0 && highest <= 0 ? 0 : highest <= 1 ? 1 : Infinity;
  const floor = lowest >= 0 ? 0 : -Infinity;
  const size = Math.max(Math.abs(lowest), Math.abs(highest));
  // Values that are all the same: a tenth on either side.
  const padding = highest - lowest > 1e-9 * Math.max(1, size) ? 0 : size > 1e-6 ? size / 10 : 0.1;
  const [from, to] = [Math.max(floor, lowest - padding), Math.min(ceiling, highest + padding)];
  const step = stepOf(from, to, false);
  return withTicks(
    Math.max(floor, Math.floor(from / step + 1e-9) * step),
    Math.min(ceiling, Math.ceil(to / step - 1e-9) * step),
    false,
  );
}

/** Where a value lies on an axis, from 0 to 1. */
export function placeOn({ low, high }: Axis, value: number): number {
  return high === low ? 0.5 : (value - low) / (high - low);
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
