/**
 * The table of defences: a file each. Options, configs, policies, the handshake, records, reports and
 * docs/parameters.md are made from it. A preset sets all of them; each can be set by itself.
 */
import { type Membership, membershipFacts } from "../../base/membership.ts";
import { type ChoiceSpec, choice, type ValuesOf } from "../../base/parameters/parameter-spec.ts";
import { answerNoise } from "./answer-noise.ts";
import type { Defence, DefenceValue } from "./defence.ts";
import { hiddenOutcomes } from "./hidden-outcomes.ts";
import { maskedScoring } from "./masked-scoring.ts";
import { maxThresholds } from "./max-thresholds.ts";
import { minPeopleShare } from "./min-people-share.ts";

export const defences = {
  answer_noise: answerNoise,
  min_people_share: minPeopleShare,
  max_thresholds: maxThresholds,
  masked_scoring: maskedScoring,
  hidden_outcomes: hiddenOutcomes,
} as const satisfies Readonly<Record<string, Defence>>;

export type DefenceName = keyof typeof defences;
export const defenceNames = Object.keys(defences) as readonly DefenceName[];

export const presets = ["exact", "guarded", "strict"] as const;
export type Preset = (typeof presets)[number];

type DefenceParameters = { readonly [Name in DefenceName]: (typeof defences)[Name]["parameter"] };

export const privacyParameters: { readonly privacy: ChoiceSpec<Preset> } & DefenceParameters = {
  privacy: choice(presets, "exact", "what the others are set to: exact is none of them"),
  ...mapDefences<DefenceParameters>((name) => defences[name].parameter),
};

export type PrivacyParameters = ValuesOf<typeof privacyParameters>;

/** The defences without the name of the preset: what jobs agree on, and policies compare. */
export type Defences = ValuesOf<DefenceParameters>;

/** All of them off. */
export const noDefences = mapDefences<Defences>((name) => defences[name].parameter.default);

/** What `of` makes of each defence. */
export function mapDefences<T extends Readonly<Record<DefenceName, unknown>>>(
  of: (name: DefenceName) => T[DefenceName],
): T {
  return Object.fromEntries(defenceNames.map((name) => [name, of(name)])) as T;
}

export function isOn(value: DefenceValue): boolean {
  return value !== false && value !== 0;
}

/**
 * The first defences. Ids of models, commitments and stored terms of jobs have a field for each of these, on or off; of
 * a later defence where it is on, so that none of them changes when the table grows.
 */
const alwaysNamed: readonly DefenceName[] = [
  "answer_noise",
  "min_people_share",
  "max_thresholds",
  "masked_scoring",
  "hidden_outcomes",
];

/** What ids, commitments and stored terms name. */
export function namedDefences(values: Defences): Partial<Defences> {
  const named = defenceNames.filter((name) => alwaysNamed.includes(name) || isOn(values[name]));
  return Object.fromEntries(named.map((name) => [name, values[name]]));
}

/** Whether a job's value reveals more than one that is demanded would. */
export function isWeaker(name: DefenceName, value: DefenceValue, demanded: DefenceValue): boolean {
  if (!isOn(demanded)) return false;
  if (!isOn(value)) return true;
  const defence: Defence = defences[name];
  if (!("stricter" in defence)) return false;
  return defence.stricter === "higher" ? value < demanded : value > demanded;
}

/** Whether jobs with a training protocol have a use for it. */
export function appliesTo(name: DefenceName, membership: Membership): boolean {
  const { appliesTo: applies }: Defence = defences[name];
  return applies?.(membershipFacts[membership]) ?? true;
}

/**
 * The preset that sets just these; null: they are a choice of their own.
 * @param given those that are known: a record leaves out what does not apply, or was not there yet
 */
export function presetOf(given: Partial<Defences>): Preset | null {
  const isSetBy = (preset: Preset): boolean =>
    defenceNames.every((name) => {
      const { parameter }: Defence = defences[name];
      return given[name] === undefined || given[name] === (parameter.defaultOf?.[preset] ?? parameter.default);
    });
  return presets.find(isSetBy) ?? null;
}
