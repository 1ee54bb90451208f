/**
 * The claims that a reproduction checks by name: what is claimed, the bar, the number that was seen, and whether it
 * holds.
 */
import { paperSettingPairs } from "./ablation.ts";
import { counted, decimals, percent } from "./figures-in-words.ts";
import { keysSweep } from "./keys.ts";
import type { MeasuredTrials, MeasuredPair } from "../trials/measured-trials.ts";
import { paperTimeFractions, type Range } from "./paper.ts";
import { roundsSweep } from "./rounds.ts";
import { samplesSweep } from "./samples.ts";
import type { Scale } from "./scale.ts";
import { accuracyOf, rangeText } from "./sweep.ts";
import { largestGap } from "./sweep-words.ts";

export interface Claim {
  readonly name: string;
  readonly claim: string;
  readonly bar: string;
  readonly seen: string;
  /** Null if what it needs was not run. */
  readonly held: boolean | null;
}

/** Key length at which time is claimed, or the longest that the scale has. */
const timeKeyBits = 1024;

export function checkClaims(scale: Scale, trials: MeasuredTrials): Claim[] {
  const sweepPairs = [keysSweep(scale), samplesSweep(scale), roundsSweep(scale)].flatMap(({ points }) =>
    points.flatMap((point) => trials.pair(point) ?? []),
  );
  const paperSetting = paperSettingPairs(scale).flatMap((pair) => {
    const measured = trials.pair(pair);
    return measured === null ? [] : [{ keyBits: pair.batched.keyBits, measured }];
  });
  const everything = [...sweepPairs, ...paperSetting.map(({ measured }) => measured)];
  return [
    ciphertexts(everything),
    bytes(everything),
    candidates(paperSetting.map(({ measured }) => measured)),
    timePerTree(paperSetting),
    gap("AUC on test", "auc", 0.002, sweepPairs),
    gap("KS on test", "ks", 0.01, sweepPairs),
    noOverflow(trials),
    paperRange(
      "the paper's time per tree",
      paperTimeFractions.perTree,
      paperSetting,
      ({ perTreeFraction }) => perTreeFraction,
    ),
    paperRange("the paper's total time", paperTimeFractions.total, paperSetting, ({ totalFraction }) => totalFraction),
  ];
}

function ciphertexts(pairs: readonly MeasuredPair[]): Claim {
  const exact = pairs.filter(
    ({ batched, unbatched }) => 2 * batched.counts.gradientCiphertexts === unbatched.counts.gradientCiphertexts,
  ).length;
  return {
    name: "gradient ciphertexts",
    claim: "batching halves the number of gradient ciphertexts",
    bar: "exactly one half in every pair",
    seen: pairs.length === 0 ? "not run" : `exactly one half in ${exact} of ${counted(pairs.length, "pair")}`,
    held: pairs.length === 0 ? null : exact === pairs.length,
  };
}

function bytes(pairs: readonly MeasuredPair[]): Claim {
  const fractions = pairs.map(
    ({ batched, unbatched }) => batched.bytes.activeToPassive / unbatched.bytes.activeToPassive,
  );
  return fractionClaim(
    "gradient bytes",
    "batching halves the bytes from active to passive party",
    "50% within 2%",
    fractions,
    (fraction) => Math.abs(fraction / 0.5 - 1) <= 0.02,
  );
}

function candidates(pairs: readonly MeasuredPair[]): Claim {
  const fractions = pairs.map(
    ({ batched, unbatched }) => batched.counts.candidateCiphertexts / unbatched.counts.candidateCiphertexts,
  );
  return fractionClaim(
    "candidate ciphertexts",
    "with packing off, batching halves the number of candidate ciphertexts",
    "50% within 2%",
    fractions,
    (fraction) => Math.abs(fraction / 0.5 - 1) <= 0.02,
  );
}

function timePerTree(pairs: readonly { readonly keyBits: number; readonly measured: MeasuredPair }[]): Claim {
  const found = pairs.find(({ keyBits }) => keyBits === timeKeyBits) ?? pairs.at(-1);
  return fractionClaim(
    "time per tree",
    `in the paper's setting at ${found?.keyBits ?? timeKeyBits} bits, batching takes at most 60% of the time per tree`,
    "<= 60%",
    found === undefined ? [] : [found.measured.perTreeFraction],
    (fraction) => fraction <= 0.6,
  );
}

function gap(name: string, metric: "auc" | "ks", bar: number, pairs: readonly MeasuredPair[]): Claim {
  const gaps = largestGap(
    pairs.map(({ batched, unbatched }) => ({ batched: accuracyOf(batched), unbatched: accuracyOf(unbatched) })),
  );
  return {
    name,
    claim: `batching changes ${metric.toUpperCase()} on the test rows by no more than ${bar}`,
    bar: `<= ${bar}`,
    seen:
      pairs.length === 0 ? "not run" : `${decimals(gaps[metric], 5)} at most, over ${counted(pairs.length, "pair")}`,
    held: pairs.length === 0 ? null : gaps[metric] <= bar,
  };
}

function noOverflow(trials: MeasuredTrials): Claim {
  const { overflowed, repeats } = trials.overflows;
  return {
    name: "no overflow",
    claim: "no sum overflows in any job",
    bar: "0 jobs",
    seen: repeats === 0 ? "not run" : `${overflowed} of ${counted(repeats, "job")}; every decrypted sum is checked`,
    held: repeats === 0 ? null : overflowed === 0,
  };
}

function paperRange(
  name: string,
  range: Range,
  pairs: readonly { readonly measured: MeasuredPair }[],
  fraction: (pair: MeasuredPair) => number,
): Claim {
  const fractions = pairs.map(({ measured }) => fraction(measured));
  return fractionClaim(
    name,
    `in the paper's setting batching takes ${rangeText(range)} of it`,
    rangeText(range),
    fractions,
    (value) => value >= range.min && value <= range.max,
  );
}

function fractionClaim(
  name: string,
  claim: string,
  bar: string,
  fractions: readonly number[],
  holds: (fraction: number) => boolean,
): Claim {
  const [low, high] = [Math.min(...fractions), Math.max(...fractions)];
  const spread = fractions.length === 1 || low === high ? percent(low, 2) : `${percent(low, 2)} to ${percent(high, 2)}`;
  return {
    name,
    claim,
    bar,
    seen: fractions.length === 0 ? "not run" : `${spread} in ${counted(fractions.length, "pair")}`,
    held: fractions.length === 0 ? null : fractions.every(holds),
  };
}

export function verdict({ held }: Claim): string {
  return held === null ? "not run" : held ? "held" : "NOT held";
}
