/** A parameter's values and the scores of their trials: a dot per trial. */
import type { TrialOutcome } from "../../src/gbdt/tune/outcome.ts";
import type { Searched } from "../../src/gbdt/tune/search-space.ts";

const [width, height, left, right, top, bottom] = [440, 220, 62, 14, 10, 34];

interface ValuesChartProps {
  /** The best first; it is drawn last. */
  readonly trials: readonly TrialOutcome[];
  readonly name: Searched;
}

export function ValuesChart({ trials, name }: ValuesChartProps) {
  const dots = trials.flatMap((trial) => {
    const value = trial.parameters[name];
    return value === undefined || !Number.isFinite(trial.early) ? [] : [{ ...trial, value }];
  });
  const x = scaleOf(dots.map(({ value }) => value));
  const y = scaleOf(dots.map(({ early }) => early));
  const base = height - bottom;
  return (
    <svg class="values" viewBox={`0 0 ${width} ${height}`} role="img" aria-label={`Scores by ${name}`}>
      <path class="axes" d={`M${left} ${top}V${base}H${width - right}`} />
      <text x={left} y={height - 12}>
        {short(x.low)}
      </text>
      <text x={width - right} y={height - 12} text-anchor="end">
        {short(x.high)}
      </text>
      <text x={left - 8} y={base} text-anchor="end">
        {short(y.low)}
      </text>
      <text x={left - 8} y={top + 12} text-anchor="end">
        {short(y.high)}
      </text>
      {dots.toReversed().map((dot) => {
        const cx = (left + x.part(dot.value) * (width - left - right)).toFixed(1);
        const cy = (base - y.part(dot.early) * (base - top)).toFixed(1);
        if (dot === dots[0]) return <path class="best" d={`M${cx} ${cy}m0-8l8 8l-8 8l-8-8z`} />;
        return <circle cx={cx} cy={cy} r={dot.trial === 0 ? 6 : 4} class={dot.trial === 0 ? "given" : "dot"} />;
      })}
    </svg>
  );
}

/** Where a value lies between the lowest and the highest; in the logarithm where they are far apart. */
function scaleOf(values: readonly number[]) {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const isLog = low > 0 && high / low > 8;
  const at = (value: number): number => (isLog ? Math.log(value) : value);
  return { low, high, part: (value: number) => (high === low ? 0.5 : (at(value) - at(low)) / (at(high) - at(low))) };
}

function short(value: number): string {
  return String(Number(value.toPrecision(4)));
}
