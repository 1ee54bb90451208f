/**
 * What a column is worth by itself for a label of two classes, from the people and events of its bins.
 *
 * Weight of evidence and information value are those of FATE (federatedml, iv_calculator.py) and of SecretFlow
 * (vert_woe_binning_pyu.py): WOE = ln(share of events / share of non-events), IV the sum over bins of the difference of
 * these shares times the WOE. In a bin without events, or without non-events, both counts are raised by one half; the
 * totals are not. Missing values are a bin, as in FATE.
 *
 * AUC and KS are those of a score that ranks people by the share of events in their bin, so that neither the direction
 * nor the place of missing values matters.
 */
import type { ClassSums, ColumnBin } from "./column-bins.ts";

export interface BinFigures extends ColumnBin {
  /** Of all people of the column. */
  readonly share: number;
  /** The share of events in the bin. */
  readonly rate: number;
  readonly woe: number;
  /** What the bin adds to the column's information value. */
  readonly iv: number;
}

export interface ColumnFigures {
  readonly iv: number;
  /** The standard deviation of the information value because of noise; 0: sums are exact. */
  readonly ivError: number;
  /** What noise adds to the information value on average. */
  readonly ivBias: number;
  readonly auc: number;
  readonly ks: number;
  /** Null: missing values cannot be distinguished from others. */
  readonly missingShare: number | null;
  readonly bins: readonly BinFigures[];
}

/** The standard deviation of the noise in one sum, in people. */
export interface SumNoise {
  readonly events: number;
  readonly people: number;
}

/** Added to both counts of a bin that lacks one of the classes. */
const adjustment = 0.5;

/** @param total of all people @param noise of each sum; null: sums are exact */
export function columnFigures(
  bins: readonly ColumnBin[],
  total: ClassSums,
  noise: SumNoise | null = null,
): ColumnFigures {
  const others = total.people - total.events;
  const figures = bins.map((bin): BinFigures => {
    const { events, nonEvents } = counted(bin);
    const [of1, of0] = [events / total.events, nonEvents / others];
    const woe = Math.log(of1 / of0);
    return {
      ...bin,
      share: bin.people / total.people,
      rate: events / (events + nonEvents),
      woe,
      iv: (of1 - of0) * woe,
    };
  });
  const missing = bins.filter((bin) => bin.hasMissing);
  const isApart = missing.every((bin) => bin.bins.length === 0);
  return {
    iv: figures.reduce((sum, { iv }) => sum + iv, 0),
    ...ivNoise(figures, total, noise),
    ...separation(figures),
    missingShare: isApart ? missing.reduce((sum, { people }) => sum + people, 0) / total.people : null,
    bins: figures,
  };
}

/** Noise may make a count negative. */
function counted({ people, events }: ClassSums): { events: number; nonEvents: number } {
  const [found, rest] = [Math.max(0, events), Math.max(0, people - events)];
  return found === 0 || rest === 0
    ? { events: found + adjustment, nonEvents: rest + adjustment }
    : { events: found, nonEvents: rest };
}

/**
 * To second order: with d = e/E - n/N and w = ln(e/E) - ln(n/N), IV is the sum of d w. Its gradient gives the error,
 * its curvature the bias: noise makes bins look more different than they are.
 */
function ivNoise(
  bins: readonly BinFigures[],
  total: ClassSums,
  noise: SumNoise | null,
): Pick<ColumnFigures, "ivError" | "ivBias"> {
  if (noise === null) return { ivError: 0, ivBias: 0 };
  const [all1, all0] = [total.events, total.people - total.events];
  let bias = 0;
  /** Per sum: what its events and its people move the information value by. Neighbouring bins share a sum. */
  const slopes = new Map<number, { events: number; people: number }>();
  for (const bin of bins) {
    const { events, nonEvents } = counted(bin);
    const [ofEvents, ofPeople] = [bin.parts.length * noise.events ** 2, bin.parts.length * noise.people ** 2];
    const difference = events / all1 - nonEvents / all0;
    const [by1, by0] = [bin.woe / all1 + difference / events, -bin.woe / all0 - difference / nonEvents];
    for (const { candidate, sign } of bin.parts) {
      const slope = slopes.get(candidate) ?? { events: 0, people: 0 };
      // Non-events are people minus events.
      slopes.set(candidate, { events: slope.events + sign * (by1 - by0), people: slope.people + sign * by0 });
    }
    const [curved1, curved0] = [
      2 / (all1 * events) - difference / events ** 2,
      2 / (all0 * nonEvents) + difference / nonEvents ** 2,
    ];
    const crossed = -1 / (all1 * nonEvents) - 1 / (all0 * events);
    bias += 0.5 * ((curved1 + curved0 - 2 * crossed) * ofEvents + curved0 * ofPeople);
  }
  const variances = [...slopes.values()].map(
    (slope) => (slope.events * noise.events) ** 2 + (slope.people * noise.people) ** 2,
  );
  return { ivError: Math.sqrt(variances.reduce((a, b) => a + b, 0)), ivBias: bias };
}

function separation(bins: readonly BinFigures[]): Pick<ColumnFigures, "auc" | "ks"> {
  const ranked = bins
    .map(({ people, events, rate }) => ({
      rate,
      events: Math.max(0, events),
      others: Math.max(0, people - Math.max(0, events)),
    }))
    .sort((a, b) => b.rate - a.rate);
  const all1 = ranked.reduce((sum, { events }) => sum + events, 0);
  const all0 = ranked.reduce((sum, { others }) => sum + others, 0);
  if (all1 === 0 || all0 === 0) return { auc: 0.5, ks: 0 }; // with noise a class may have no people
  let [found1, found0, pairs, ks] = [0, 0, 0, 0];
  for (let i = 0; i < ranked.length;) {
    // Bins of one rate are not ranked.
    const level = { events: 0, others: 0 };
    for (const { rate } = ranked[i]; i < ranked.length && ranked[i].rate === rate; i++) {
      level.events += ranked[i].events;
      level.others += ranked[i].others;
    }
    pairs += level.others * (found1 + level.events / 2);
    found1 += level.events;
    found0 += level.others;
    ks = Math.max(ks, Math.abs(found1 / all1 - found0 / all0));
  }
  return { auc: pairs / (all1 * all0), ks };
}
