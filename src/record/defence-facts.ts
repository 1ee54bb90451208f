/** The defences of a job, for the page and the report. Runs in browsers too. */
import { formatBits, formatPercent } from "../base/text/format.ts";
import type { Defence, DefenceValue } from "../privacy/defences/defence.ts";
import {
  appliesTo,
  defenceNames,
  type Defences,
  defences,
  isOn,
  noDefences,
  presetOf,
} from "../privacy/defences/defences.ts";
import type { DefenceEffect } from "./exposure.ts";
import type { JobView } from "./job-view.ts";

/** The defences in a record: it leaves out those that do not apply or were added in later versions. */
function recordedDefences({ parameters }: Pick<JobView, "parameters">): Partial<Defences> {
  const recorded = defenceNames
    .map((name) => [name, parameters[name]] as const)
    .filter(([name, value]) => typeof value === typeof noDefences[name]);
  return Object.fromEntries(recorded) as Partial<Defences>;
}

export function defencesOf(view: Pick<JobView, "parameters">): Defences {
  return { ...noDefences, ...recordedDefences(view) };
}

/** The defences that a job ran with. Records of versions without defences have none. */
export function defenceSentence(view: Pick<JobView, "parameters">): string {
  const recorded = recordedDefences(view);
  const preset = presetOf(recorded);
  if (preset === "exact") return "The job ran without defences that would lower this (privacy: exact).";
  const phrases = defenceNames.flatMap((name) => {
    const value = recorded[name] ?? 0;
    return isOn(value) ? [defences[name].phrase(Number(value))] : [];
  });
  return `The job ran with defences (privacy: ${preset ?? "own settings"}): ${phrases.join(", ")}.`;
}

export const settingHead = ["setting", "lowers", "in this job"] as const;

/** The settings that lower an exposure; the last one protects labels and is shown to the active party only. */
export function settingRows(view: Pick<JobView, "parameters" | "role" | "membership">): string[][] {
  const values = defencesOf(view);
  const columns = view.role === "active" ? "the other parties' columns" : null;
  const rows = defenceNames
    .filter((name) => appliesTo(name, view.membership.name))
    .map((name) => {
      const defence: Defence = defences[name];
      const lowersOf = defence.lowersOf ?? columns;
      const lowers = lowersOf === null ? defence.lowers : `${defence.lowers} of ${lowersOf}`;
      return [name, lowers, settingText(defence, values[name])];
    });
  const rounds = Number(view.parameters["local_rounds"] ?? 0);
  const labels = ["local_rounds", "what trees reveal of your labels, if your own columns predict them"];
  return view.role === "active" ? [...rows, [...labels, rounds === 0 ? "off" : String(rounds)]] : rows;
}

function settingText(defence: Defence, value: DefenceValue): string {
  if (!isOn(value)) return "off";
  return "stricter" in defence ? (defence.format ?? String)(Number(value)) : "on";
}

/** @param others whether several what-ifs are shown */
export function whatIfTitle(learner: string, others: boolean): string {
  return `What each setting would change, and cost${others ? `: ${learner}` : ""}`;
}

/**
 * The columns of a what-if that were measured.
 *
 * @param bits entropy of the party's columns, per instance
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
