/**
 * The table of defences, one file each. Options, configs, policies, the handshake, records, reports and
 * docs/parameters.md are generated from it. A preset sets all of them; each can also be set alone.
 */
import { type Membership, membershipFacts } from "../../base/membership.ts";
import { type ChoiceSpec, choice, type ValuesOf } from "../../base/parameters/parameter-spec.ts";
import { answerNoise } from "./answer-noise.ts";
import type { Defence, DefenceValue } from "./defence.ts";
import { hiddenOutcomes } from "./hidden-outcomes.ts";
import { hiddenSums } from "./hidden-sums.ts";
import { maskedScoring } from "./masked-scoring.ts";
import { maxThresholds } from "./max-thresholds.ts";
import { minPeopleShare } from "./min-people-share.ts";
import { outcomeBits } from "./outcome-bits.ts";
import { scoreNoise } from "./score-noise.ts";

export const defences = {
  answer_noise: answerNoise,
  min_people_share: minPeopleShare,
  max_thresholds: maxThresholds,
  outcome_bits: outcomeBits,
  masked_scoring: maskedScoring,
  score_noise: scoreNoise,
  hidden_outcomes: hiddenOutcomes,
  hidden_sums: hiddenSums,
} as const satisfies Readonly<Record<string, Defence>>;

export type DefenceName = keyof typeof defences;
export const defenceNames = Object.keys(defences) as readonly DefenceName[];

export const presets = ["exact", "guarded", "strict"] as const;
export type Preset = (typeof presets)[number];

type DefenceParameters = { readonly [Name in DefenceName]: (typeof defences)[Name]["parameter"] };

export const privacyParameters: { readonly privacy: ChoiceSpec<Preset> } & DefenceParameters = {
  privacy: choice(presets, "exact", "preset for the other privacy parameters; exact: all off"),
  ...mapDefences<DefenceParameters>((name) => defences[name].parameter),
};

export type PrivacyParameters = ValuesOf<typeof privacyParameters>;

/** The defences without the preset's name: what jobs agree on and policies compare. */
export type Defences = ValuesOf<DefenceParameters>;

/** All of them off. */
export const noDefences = mapDefences<Defences>((name) => defences[name].parameter.default);

/** An object with the result of `of` for each defence. */
export function mapDefences<T extends Readonly<Record<DefenceName, unknown>>>(
  of: (name: DefenceName) => T[DefenceName],
): T {
  return Object.fromEntries(defenceNames.map((name) => [name, of(name)])) as T;
}

export function isOn(value: DefenceValue): boolean {
  return value !== false && value !== 0;
}

/**
 * The first defences. Model ids, commitments and stored terms of jobs have a field for each of these, on or off, and
 * for a later defence only where it is on, so that they do not change when a defence is added.
 */
const alwaysNamed: readonly DefenceName[] = [
  "answer_noise",
  "min_people_share",
  "max_thresholds",
  "masked_scoring",
  "hidden_outcomes",
];

/** The fields in model ids, commitments and stored terms. */
export function namedDefences(values: Defences): Partial<Defences> {
  const named = defenceNames.filter((name) => alwaysNamed.includes(name) || isOn(values[name]));
  return Object.fromEntries(named.map((name) => [name, values[name]]));
}

/** Those that are on and count the instances of nodes: where members are hidden, they hold at the root only. */
export function countingDefences(values: Defences): readonly DefenceName[] {
  return defenceNames.filter((name) => "countsMembers" in defences[name] && isOn(values[name]));
}

/** Whether a job's value reveals more than the demanded one. */
export function isWeaker(name: DefenceName, value: DefenceValue, demanded: DefenceValue): boolean {
  if (!isOn(demanded)) return false;
  if (!isOn(value)) return true;
  const defence: Defence = defences[name];
  if (!("stricter" in defence)) return false;
  return defence.stricter === "higher" ? value < demanded : value > demanded;
}

/**
 * Whether a training protocol supports the defence.
 * @param masksSums the scheme can mask sums; left out: some scheme of the protocol can
 */
export function appliesTo(name: DefenceName, membership: Membership, masksSums = true): boolean {
  const { appliesTo: applies, needsMasks }: Defence = defences[name];
  return (applies?.(membershipFacts[membership]) ?? true) && (needsMasks !== true || masksSums);
}

/**
 * The preset with exactly these values; null: none.
 * @param given known defences: a record leaves out those that do not apply or were added later
 */
export function presetOf(given: Partial<Defences>): Preset | null {
  const isSetBy = (preset: Preset): boolean =>
    formsOf(preset).some((form) =>
      defenceNames.every((name) => given[name] === undefined || given[name] === form[name]),
    );
  return presets.find(isSetBy) ?? null;
}

/** The values of a preset: with noise in sums, and where it has noise also with hidden sums. */
export function formsOf(preset: Preset): readonly Defences[] {
  const byNoise = mapDefences<Defences>((name) => {
    const { parameter }: Defence = defences[name];
    return (parameter.defaultOf?.[preset] ?? parameter.default) as Defences[typeof name];
  });
  return isOn(byNoise.answer_noise) ? [byNoise, hidingSums(byNoise)] : [byNoise];
}

/** The same with hidden sums in place of noise. */
export function hidingSums<D extends Defences>(values: D): D {
  return { ...values, hidden_sums: true, answer_noise: 0 };
}
