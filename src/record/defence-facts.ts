/** Defences: those that a job ran with, and those that there are. Runs in browsers too. */
import { formatBits, formatPercent } from "../base/text/format.ts";
import { type Defences, presetOf } from "../base/parameters/privacy-parameters.ts";
import type { DefenceEffect } from "./exposure.ts";
import type { JobView } from "./job-view.ts";

export function defencesOf({ parameters }: Pick<JobView, "parameters">): Defences {
  const numberOf = (name: string): number => Number(parameters[name] ?? 0);
  return {
    answer_noise: numberOf("answer_noise"),
    min_people_share: numberOf("min_people_share"),
    max_thresholds: numberOf("max_thresholds"),
    masked_scoring: parameters["masked_scoring"] === true,
    // Where it is not said: as every preset has it.
    hidden_outcomes: (parameters["hidden_outcomes"] ?? parameters["masked_scoring"]) === true,
  };
}

/** Where a scheme reveals who is in a node there is nothing to hide, and the record does not say it. */
function mayHideOutcomes({ parameters }: Pick<JobView, "parameters">): boolean {
  return parameters["hidden_outcomes"] !== undefined;
}

/** The defences that a job ran with. A record from before there were any has none. */
export function defenceSentence(view: Pick<JobView, "parameters">): string {
  const defences = defencesOf(view);
  const preset = presetOf(defences);
  if (preset === "exact") return "The job ran without defences that would lower this (privacy: exact).";
  const { answer_noise: noise, min_people_share: share, max_thresholds: thresholds } = defences;
  const words = [
    noise > 0 && `noise of deviation ${noise} in sums`,
    share > 0 && `at least ${formatPercent(share)} of the people on each side of a candidate`,
    thresholds > 0 && `${thresholds} threshold${thresholds === 1 ? "" : "s"} per feature`,
    defences.masked_scoring && "masked scoring",
    defences.hidden_outcomes && mayHideOutcomes(view) && "hidden outcomes",
  ];
  const listed = words.filter((word) => word !== false).join(", ");
  return `The job ran with defences (privacy: ${preset ?? "own settings"}): ${listed}.`;
}

export const settingHead = ["setting", "lowers", "in this job"] as const;

/** What lowers an exposure; the last is for labels, and so for the active party alone. */
export function settingRows(view: Pick<JobView, "parameters" | "role">): string[][] {
  const { answer_noise: noise, min_people_share: share, max_thresholds: thresholds, ...rest } = defencesOf(view);
  const rounds = Number(view.parameters["local_rounds"] ?? 0);
  const whose = view.role === "active" ? " of the other parties' columns" : "";
  const rows = [
    [
      "answer_noise with min_people_share",
      `what sums reveal${whose}`,
      noise === 0 && share === 0 ? "off" : `${noise} with ${formatPercent(share)}`,
    ],
    ["max_thresholds", `what split outcomes reveal${whose}`, thresholds === 0 ? "off" : String(thresholds)],
    ["masked_scoring", `what scoring reveals${whose}`, rest.masked_scoring ? "on" : "off"],
    ...(mayHideOutcomes(view)
      ? [
          [
            "hidden_outcomes",
            "what split outcomes reveal of people outside the node",
            rest.hidden_outcomes ? "on" : "off",
          ],
        ]
      : []),
  ];
  const labels = ["local_rounds", "what trees reveal of your labels, if your own columns predict them"];
  return view.role === "active" ? [...rows, [...labels, rounds === 0 ? "off" : String(rounds)]] : rows;
}

/** @param others whether other what-ifs stand beside it */
export function whatIfTitle(learner: string, others: boolean): string {
  return `What each setting would change, and cost${others ? `: ${learner}` : ""}`;
}

/**
 * The columns of a what-if that were measured.
 *
 * @param bits that the party's columns hold per person
 */
export function whatIfTable(
  effects: readonly DefenceEffect[],
  bits: number,
): { readonly head: string[]; readonly rows: string[][] } {
  const metric = effects.find((effect) => effect.metric !== null)?.metric?.name ?? "";
  const columns: readonly (readonly [string, (effect: DefenceEffect) => string | null])[] = [
    [metric, (effect) => (effect.metric === null ? null : metricWords(effect.metric))],
    ["values whose bin is certain", ({ certain }) => (certain === null ? null : formatPercent(certain))],
    [
      `bits revealed by scoring, of ${formatBits(bits)}`,
      ({ scoringBits }) => (scoringBits === null ? null : formatBits(scoringBits)),
    ],
    ["AUC of guessed labels (0.500 is chance)", ({ labelAuc }) => labelAuc?.toFixed(3) ?? null],
  ];
  const shown = columns.filter(([, text]) => effects.some((effect) => text(effect) !== null));
  return {
    head: ["with", ...shown.map(([name]) => name)],
    rows: effects.map((effect) => [effect.name, ...shown.map(([, text]) => text(effect) ?? "–")]),
  };
}

function metricWords({ value, change }: NonNullable<DefenceEffect["metric"]>): string {
  const rounded = change.toFixed(4);
  if (Number(rounded) === 0) return value.toFixed(4);
  return `${value.toFixed(4)} (${change > 0 ? "+" : ""}${rounded})`;
}
