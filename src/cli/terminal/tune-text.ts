/** What `tandem tune` prints: its cost, progress and result. */
import { formatCount } from "../../base/text/format.ts";
import { importanceTrialsMin, type TuneOutcome } from "../../gbdt/tune/outcome.ts";
import type { TrialTurns } from "../../gbdt/tune/trial-turns.ts";
import { textTable } from "./text-table.ts";

/** Trials that the terminal shows; the report has all. */
const shownMax = 10;

export interface TunePrice {
  readonly trials: number;
  readonly folds: number;
  readonly trees: number;
  /** Of one training with these parameters. */
  readonly treesOfOne: number;
  /** Nodes that a passive party is asked about, at most. */
  readonly nodes: number;
  /** 0: no limit. */
  readonly thresholds: number;
  readonly parties: readonly string[];
}

/** The cost in disclosures, printed before the start. */
export function priceText({ trials, folds, trees, treesOfOne, nodes, thresholds, parties }: TunePrice): string {
  const times = Math.round(trees / treesOfOne);
  const limit =
    thresholds === 0
      ? "no limit on thresholds (max_thresholds would set one)"
      : `at most ${formatCount(thresholds)} thresholds of each feature, over all trials`;
  return [
    `  ${formatCount(trials)} trials of ${folds} folds: up to ${formatCount(trees)} trees with ${parties.join(", ")}`,
    `  it reveals about as much as ${formatCount(Math.max(1, times))} trainings of ${formatCount(treesOfOne)} trees:`,
    `  each passive party answers for up to ${formatCount(nodes)} nodes, and sends outcomes of the splits it wins;`,
    `  ${limit}`,
    `  its policy must allow max_trees ${trees}; --explain-leakage lists what is revealed`,
  ].join("\n");
}

/** One line per trial that has finished a rung. */
export function trialLines(say: (line: string) => void, rungs: number): (turns: TrialTurns) => void {
  const printedRung = new Map<number, number>();
  return (turns) => {
    for (const state of turns.ranking) {
      const { trial, rung, outcome } = state;
      if (printedRung.get(trial) === rung) continue;
      printedRung.set(trial, rung);
      const name = trial === 0 ? "baseline" : `trial ${trial}`;
      const rounds = outcome.rounds === 1 ? "1 round" : `${outcome.rounds} rounds`;
      const after = `${turns.metric} ${turns.scoreOf(state).toFixed(4)} after ${rounds}`;
      say(`rung ${rung + 1}/${rungs}  ${name}: ${after}`);
    }
  };
}

export function tuneText({ trials, searched, metric, best, importance, schedule }: TuneOutcome): string {
  const rows = trials
    .slice(0, shownMax)
    .map(({ trial, parameters, score, bestRound, rounds, rungs }) => [
      trial === 0 ? "baseline" : String(trial),
      score.mean.toFixed(4),
      score.deviation.toFixed(4),
      `${bestRound}/${rounds}`,
      `${rungs}/${schedule.length}`,
      ...searched.map((name) => String(parameters[name] ?? "")),
    ]);
  const more = trials.length > shownMax ? [`  and ${trials.length - shownMax} more in the report`] : [];
  return [
    "",
    textTable([["trial", metric, "std", "round", "rungs", ...searched], ...rows]),
    ...more,
    "",
    `  parameter importance: ${importanceText(importance)}`,
    "",
    ...(trials[0].trial === 0 ? ["  the baseline is the best trial: no other parameters were better", ""] : []),
    "  for the config:",
    "  training:",
    ...Object.entries(best).map(([name, value]) => `    ${name}: ${value}`),
    "",
  ].join("\n");
}

function importanceText(importance: TuneOutcome["importance"]): string {
  if (importance === null) return `not shown, as it needs at least ${importanceTrialsMin} trials`;
  const shares = importance
    .filter(({ share }) => share >= 0.01)
    .map(({ parameter, share }) => `${parameter} ${Math.round(100 * share)} %`);
  return shares.length === 0 ? "none distinguishable from chance" : shares.join(", ");
}
