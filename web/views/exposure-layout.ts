/**
 * Where the parts of an exposure's pictures lie, as fractions of their width: a bar per column, and the gauge of sums.
 * The same on the page and in the report. Runs in browsers too.
 */
import { finite } from "../../src/base/text/format.ts";
import type { ColumnExposure } from "../../src/record/exposure.ts";
import type { ExposureKind } from "../../src/record/exposure-facts.ts";

export interface BarPart {
  readonly kind: ExposureKind;
  readonly bits: number;
  /** Of the longest bar. */
  readonly from: number;
  readonly to: number;
}

export interface ColumnBar {
  readonly column: ColumnExposure;
  /** All of them together are the column's bits; parts of nothing are left out. */
  readonly parts: readonly BarPart[];
}

/** Bars that are drawn; the table has all. */
export const barsMax = 40;

/** The most exposed first. What is revealed never exceeds the column, and never shrinks on the way. */
export function placeBars(columns: readonly ColumnExposure[]): ColumnBar[] {
  const longest = Math.max(...columns.map(({ bits }) => finite(bits)), 0) || 1;
  return columns
    .toSorted((a, b) => finite(b.toldBits.sums) - finite(a.toldBits.sums) || finite(b.bits) - finite(a.bits))
    .slice(0, barsMax)
    .map((column) => ({ column, parts: partsOf(column, longest) }));
}

function partsOf({ bits, toldBits }: ColumnExposure, longest: number): BarPart[] {
  const whole = Math.max(0, finite(bits));
  const ends: readonly (readonly [ExposureKind, number])[] = [
    ["outcomes", toldBits.outcomes],
    ["sums", toldBits.sums],
    ["scoring", toldBits.scoring],
    ["unknown", whole],
  ];
  let at = 0;
  return ends.flatMap(([kind, end]) => {
    const [from, to] = [at, Math.min(whole, Math.max(at, finite(end)))];
    at = to;
    return to === from ? [] : [{ kind, bits: to - from, from: from / longest, to: to / longest }];
  });
}

export interface GaugeMark {
  readonly at: number;
  readonly value: number;
  readonly word: "little" | "half" | "all";
}

export interface PlacedGauge {
  /** Where the bar ends. */
  readonly at: number;
  /** More than the scale has room for. */
  readonly isBeyond: boolean;
  readonly marks: readonly GaugeMark[];
  /** Of the policy, if it has one. */
  readonly limitAt: number | null;
}

/** A little beyond "all". */
const sumsScaleMax = 0.125;

const gaugeMarks = [
  [0.02, "little"],
  [0.05, "half"],
  [0.1, "all"],
] as const;

export function placeGauge(sumsPerPerson: number, limit: number | null): PlacedGauge {
  const place = (value: number): number => Math.min(1, Math.max(0, finite(value)) / sumsScaleMax);
  return {
    at: place(sumsPerPerson),
    isBeyond: finite(sumsPerPerson) > sumsScaleMax,
    marks: gaugeMarks.map(([value, word]) => ({ at: place(value), value, word })),
    limitAt: limit === null ? null : place(limit),
  };
}
