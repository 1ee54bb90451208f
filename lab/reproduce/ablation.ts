/**
 * What each optimisation gains, and the paper's own setting, with everything but batching off: its claim about time is
 * checked there.
 */
import { TandemError } from "../../src/base/error.ts";
import { allShortcuts } from "../../src/scheme/shortcuts.ts";
import { ablationVariants } from "../bench/ablation.ts";
import type { TrialSpec } from "../trials/trial.ts";
import { count, listed, percent, seconds } from "./figures-in-words.ts";
import type { MeasuredTrial, MeasuredTrials, MeasuredPair, Pair } from "../trials/measured-trials.ts";
import { type ExperimentOutcome, plainColumns, type ResultFigure, type ResultTable } from "./outcome.ts";
import { paperTimeFractions, type Range } from "./paper.ts";
import type { Scale } from "./scale.ts";
import { pairOf, percentageNote, rangeText, timeCells, timeColumns, timePanels } from "./sweep.ts";

/** Everything that the paper's implementation does not have. */
export const paperSettingName = "everything-off";

/** The trials that have one optimisation off each, after the one that has none off. */
export function ablationTrials(scale: Scale): TrialSpec[] {
  const { batched } = pairOf(scale, { dataset: "default", trees: scale.ablation.trees, keyBits: scale.keyBits });
  const variants = Object.entries(ablationVariants)
    .filter(([name]) => name !== paperSettingName)
    .slice(0, scale.ablation.shortcutsMax);
  return [
    batched,
    ...variants.map(([without, changed]) => ({ ...batched, without, shortcuts: { ...allShortcuts, ...changed } })),
  ];
}

/** The paper's setting, by key bits. */
export function paperSettingPairs(scale: Scale): Pair[] {
  return scale.paperSetting.keys.map((keyBits) => {
    const { batched, unbatched } = pairOf(scale, { dataset: "default", trees: scale.paperSetting.trees, keyBits });
    // Long jobs even out the machine's drift by themselves, and these are the longest.
    const off = {
      without: paperSettingName,
      shortcuts: { ...allShortcuts, ...ablationVariants[paperSettingName] },
      repeats: 1,
    };
    return { batched: { ...batched, ...off }, unbatched: { ...unbatched, ...off } };
  });
}

interface Variant {
  readonly spec: TrialSpec;
  readonly measured: MeasuredTrial;
  /** Time per tree over time per tree with everything on. */
  readonly relative: number;
}

export function ablationOutcome(scale: Scale, trials: MeasuredTrials): ExperimentOutcome {
  const variants = ablationResults(scale, trials);
  const pairs = paperSettingPairs(scale).flatMap((pair) => {
    const measured = trials.pair(pair);
    return measured === null ? [] : [{ keyBits: pair.batched.keyBits, measured }];
  });
  return {
    name: "ablation",
    title: "What each optimisation gains, and the paper's own setting",
    reference: "sec. IV-D, the claim of 55-75% and 50-60%",
    paragraph: `${optimisationWords(variants)} ${paperSettingWords(scale, pairs)}`,
    tables: [optimisationTable(scale, variants), paperSettingTable(scale, pairs)],
    figures: [optimisationFigure(scale, variants), paperSettingFigure(pairs)],
  };
}

/** @throws TandemError INTERNAL if an optimisation changes the model */
function ablationResults(scale: Scale, trials: MeasuredTrials): Variant[] {
  const [all, ...others] = ablationTrials(scale);
  const base = trials.trial(all);
  if (base === null) return [];
  return [all, ...others].flatMap((spec) => {
    const measured = trials.trial(spec);
    if (measured === null) return [];
    if (measured.model !== base.model) throw new TandemError("INTERNAL", `${spec.without} changes the model`);
    return [{ spec, measured, relative: measured.secondsPerTree / base.secondsPerTree }];
  });
}

/** The bench's names say what is done instead; these say what is missing. */
const optimisationTitles: Readonly<Record<string, string>> = {
  "": "nothing",
  "no-packing": "packing",
  "no-subtraction": "sibling subtraction",
  "no-joint-bins": "joint bins",
  "no-skip-bin": "skipped bins",
  "textbook-encryption": "key-owner encryption",
};

function missing({ without }: TrialSpec): string {
  return optimisationTitles[without] ?? without;
}

function optimisationTable(scale: Scale, variants: readonly Variant[]): ResultTable {
  return {
    name: "ablation-shortcuts",
    title: "Time per tree without one optimisation",
    columns: plainColumns(
      "without",
      "per tree, s",
      "relative",
      "CPU, s",
      "additions",
      "candidate ciphertexts",
      "repeats",
    ),
    rows: variants.map(({ spec, measured, relative }) => [
      missing(spec),
      seconds(measured.secondsPerTree),
      relative.toFixed(2),
      seconds(measured.cpuSeconds),
      count(measured.counts.additions),
      count(measured.counts.candidateCiphertexts),
      String(measured.repeatCount),
    ]),
    notes: [
      `Batched, ${count(scale.keyBits)}-bit key, ${scale.ablation.trees} trees. ` +
        "Every variant trains the same model, which is checked.",
    ],
  };
}

function optimisationFigure(scale: Scale, variants: readonly Variant[]): ResultFigure {
  return {
    name: "ablation-shortcuts",
    caption: `Time per tree without one optimisation, relative to all on (batched, ${count(scale.keyBits)}-bit key).`,
    panels: [
      {
        kind: "bars",
        title: "time per tree, relative",
        xTitle: "without",
        yTitle: "times",
        categories: variants.map(({ spec }) => missing(spec)),
        series: [{ name: "relative to all on", values: variants.map(({ relative }) => relative) }],
        labels: variants.map(({ relative }) => relative.toFixed(2)),
      },
    ],
  };
}

interface KeyedPair {
  readonly keyBits: number;
  readonly measured: MeasuredPair;
}

function paperSettingTable(scale: Scale, pairs: readonly KeyedPair[]): ResultTable {
  return {
    name: "ablation-paper-setting",
    title: "The paper's setting: textbook encryption, no packing, no subtraction, no joint bins, no skipped bins",
    columns: timeColumns("key bits"),
    rows: pairs.map(({ keyBits, measured }) => [count(keyBits), ...timeCells(measured)]),
    notes: [
      `Default, ${scale.paperSetting.trees} trees. ` +
        "The two differ only in that the batched codec has g and h in one ciphertext.",
    ],
  };
}

function paperSettingFigure(pairs: readonly KeyedPair[]): ResultFigure {
  return {
    name: "ablation-paper-setting",
    caption: `The paper's setting, everything but batching off, in the form of its Fig. 5. ${percentageNote}`,
    panels: timePanels(
      "key bits",
      pairs.map(({ keyBits }) => count(keyBits)),
      pairs.map(({ measured }) => measured),
    ),
  };
}

function optimisationWords(variants: readonly Variant[]): string {
  const costs = variants.filter(({ spec }) => spec.without !== "").toSorted((a, b) => b.relative - a.relative);
  if (costs.length === 0) return "The optimisations were not measured.";
  const shown = costs.map(({ spec, relative }) => `${relative.toFixed(2)} times as long without ${missing(spec)}`);
  return `A tree takes ${listed(shown)}. None of these optimisations is in the paper.`;
}

function paperSettingWords(scale: Scale, pairs: readonly KeyedPair[]): string {
  if (pairs.length === 0) return "The paper's setting was not run.";
  const part = (what: string, range: Range, fraction: (pair: MeasuredPair) => number): string => {
    const inside = pairs.filter(({ measured }) => fraction(measured) >= range.min && fraction(measured) <= range.max);
    const shown = listed(
      pairs.map(({ keyBits, measured }) => `${percent(fraction(measured))} at ${count(keyBits)} bits`),
    );
    const verdict =
      inside.length === pairs.length
        ? "all within"
        : inside.length === 0
          ? "none within"
          : `${inside.length} of ${pairs.length} within`;
    return `Of the ${what} batching takes ${shown}: ${verdict} the paper's ${rangeText(range)}.`;
  };
  const below = pairs.some(({ measured }) => measured.totalFraction < paperTimeFractions.total.min);
  const sentences = [
    "The paper's setting turns all of them off.",
    part("time per tree", paperTimeFractions.perTree, ({ perTreeFraction }) => perTreeFraction),
    part("total time", paperTimeFractions.total, ({ totalFraction }) => totalFraction),
  ];
  if (below)
    sentences.push(
      "Totals below that range occur because our jobs do little besides building trees:",
      "the total fraction is close to the fraction per tree.",
    );
  if (scale.name !== "full")
    sentences.push("With so few rows and trees, the fixed costs of a job weigh more than at full size.");
  return sentences.join(" ");
}
