/** Predicted times and hazards: concordance, and predicted against observed events at a horizon. */
import { quantileBounds, binOf } from "../../base/statistics/stability-index.ts";
import type { Weights } from "../metric/weighted-mean.ts";
import type { Resampled } from "./bootstrap.ts";

/** When each row was last seen, and whether that was its event. */
export interface SurvivalTimes {
  readonly times: Float64Array;
  readonly events: Uint8Array;
}

/**
 * Harrell's concordance: of the pairs in which one row is known to have had its event first, the part in which it also
 * has the higher risk; equal risks count one half. A row censored at the time of an event is taken to live longer;
 * of two events at the same time neither was first.
 */
export function resampledConcordance(
  { times, events }: SurvivalTimes,
  risks: Float64Array,
  weights: Weights,
): Resampled<"concordance"> {
  // From the latest time down; at equal times the censored ones first: they count for the events.
  const order = Uint32Array.from(times, (_, row) => row).sort(
    (a, b) => times[b] - times[a] || events[a] - events[b] || a - b,
  );
  const distinct = Float64Array.from(new Set(risks)).sort();
  const places = risks.map((risk) => binOf(risk, distinct)); // from 1 on
  const of = (copies: Float64Array | null): readonly number[] => {
    const later = new FenwickSums(distinct.length);
    let [right, pairs] = [0, 0];
    for (let i = 0; i < order.length;) {
      const first = i;
      const time = times[order[i]];
      for (; i < order.length && times[order[i]] === time; i++) {
        const row = order[i];
        if (events[row] === 1) continue;
        later.add(places[row], weightOf(row, copies, weights));
      }
      for (let k = first; k < i; k++) {
        const row = order[k];
        const weight = weightOf(row, copies, weights);
        if (events[row] === 0 || weight === 0) continue;
        const below = later.upTo(places[row] - 1);
        right += (weight * (below + later.upTo(places[row]))) / 2;
        pairs += weight * later.total;
      }
      for (let k = first; k < i; k++)
        if (events[order[k]] === 1) later.add(places[order[k]], weightOf(order[k], copies, weights));
    }
    return [right / pairs];
  };
  return { names: ["concordance"], units: times.length, strata: events, of };
}

function weightOf(row: number, copies: Float64Array | null, weights: Weights): number {
  return (copies === null ? 1 : copies[row]) * (weights === null ? 1 : weights[row]);
}

/** Sums of places 1 to n, changed and read in logarithmic time. */
class FenwickSums {
  readonly #sums: Float64Array;
  total = 0;

  constructor(places: number) {
    this.#sums = new Float64Array(places + 1);
  }

  add(place: number, weight: number): void {
    this.total += weight;
    for (let at = place; at < this.#sums.length; at += at & -at) this.#sums[at] += weight;
  }

  upTo(place: number): number {
    let sum = 0;
    for (let at = place; at > 0; at -= at & -at) sum += this.#sums[at];
    return sum;
  }
}

/** The part that lives longer than each of these times, by Kaplan and Meier. @param at ascending */
export function survivingParts({ times, events }: SurvivalTimes, weights: Weights, at: readonly number[]): number[] {
  let part = 1;
  return cumulatedOver({ times, events }, at, (died, atRisk) => (part *= 1 - died / atRisk), {
    atStart: 1,
    weights,
    shares: weights,
  });
}

/**
 * Cox's baseline: the cumulative hazard of a row with hazard 1, by Breslow. @param hazards relative ones of the rows
 * @param at ascending
 */
export function baselineHazard(
  survival: SurvivalTimes,
  hazards: Float64Array,
  weights: Weights,
  at: readonly number[],
): number[] {
  let sum = 0;
  const shares = weights === null ? hazards : hazards.map((hazard, row) => hazard * weights[row]);
  return cumulatedOver(survival, at, (died, atRisk) => (sum += died / atRisk), { atStart: 0, weights, shares });
}

interface Cumulated {
  readonly atStart: number;
  readonly weights: Weights;
  /** What a row adds to those at risk. */
  readonly shares: Weights;
}

/** Visits the times of events in order, with the events' weight and that of all rows that are still at risk. */
function cumulatedOver(
  { times, events }: SurvivalTimes,
  at: readonly number[],
  step: (died: number, atRisk: number) => number,
  { atStart, weights, shares }: Cumulated,
): number[] {
  const order = Uint32Array.from(times, (_, row) => row).sort((a, b) => times[a] - times[b]);
  let atRisk = order.reduce((sum, row) => sum + (shares?.[row] ?? 1), 0);
  let value = atStart;
  const values: number[] = [];
  for (let i = 0; i < order.length;) {
    const time = times[order[i]];
    while (values.length < at.length && at[values.length] < time) values.push(value);
    let [died, gone] = [0, 0];
    for (; i < order.length && times[order[i]] === time; i++) {
      died += events[order[i]] * (weights?.[order[i]] ?? 1);
      gone += shares?.[order[i]] ?? 1;
    }
    if (died > 0) value = step(died, atRisk);
    atRisk -= gone;
  }
  return [...values, ...at.slice(values.length).map(() => value)];
}

/** A quarter, a half and three quarters of the observed events are before these times. */
export function horizonsOf({ times, events }: SurvivalTimes): number[] {
  const sorted = times.filter((_, row) => events[row] === 1).sort();
  const at = [0.25, 0.5, 0.75].map((part) => sorted[Math.floor(part * sorted.length)]);
  return sorted.length === 0 ? [] : [...new Set(at)];
}

export interface HorizonGroup {
  readonly rows: number;
  /** Mean predicted part with an event up to the horizon, and the part by Kaplan and Meier. */
  readonly predicted: number;
  readonly observed: number;
}

const riskGroups = 5;

/** The lowest risks first. @param surviving per row the predicted probability to live longer than the horizon */
export function horizonGroups(
  { times, events }: SurvivalTimes,
  surviving: Float64Array,
  weights: Weights,
  horizon: number,
): HorizonGroup[] {
  const risks = surviving.map((part) => 1 - part);
  const bounds = quantileBounds(risks, riskGroups);
  return Array.from({ length: bounds.length + 1 }, (_, group) => {
    const rows = Uint32Array.from(risks, (_, row) => row).filter((row) => binOf(risks[row], bounds) === group);
    const pick = (values: ArrayLike<number>): Float64Array => Float64Array.from(rows, (row) => values[row]);
    const of = weights === null ? null : pick(weights);
    const total = of?.reduce((sum, weight) => sum + weight, 0) ?? rows.length;
    const [left] = survivingParts({ times: pick(times), events: Uint8Array.from(pick(events)) }, of, [horizon]);
    const predicted = rows.reduce((sum, row, i) => sum + risks[row] * (of?.[i] ?? 1), 0) / total;
    return { rows: rows.length, predicted, observed: 1 - left };
  }).filter(({ rows }) => rows > 0);
}
