/**
 * What lowers what a job gives away. Both sides agree on these before a job, and a passive party's policy can ask for
 * more. A preset sets all of them; each can be set by itself.
 */
import { choice, type ParameterSpec, type ValuesOf } from "./parameter-spec.ts";

export const presets = ["exact", "guarded", "strict"] as const;

export type Preset = (typeof presets)[number];

export const privacyParameters = {
  privacy: choice(presets, "exact", "what the others are set to: exact is none of them"),
  answer_noise: {
    kind: "number",
    default: 0,
    defaultOf: { guarded: 10, strict: 20 },
    min: 0,
    max: 1000,
    help: "standard deviation of the noise in sums that passive parties return, in gradients of one person; 0: none",
  },
  min_people_share: {
    kind: "number",
    default: 0,
    defaultOf: { guarded: 0.01, strict: 0.02 },
    min: 0,
    max: 0.5,
    help: "share of the people that a passive party's candidate needs on each side, and between neighbours; 0: none",
  },
  max_thresholds: {
    kind: "integer",
    default: 0,
    defaultOf: { guarded: 3, strict: 1 },
    min: 0,
    max: 4096,
    help: "thresholds of each passive feature that a job may use in all its trees; 0: no limit",
  },
  masked_scoring: {
    kind: "switch",
    default: false,
    defaultOf: { guarded: true, strict: true },
    help: "score people without telling the outcome of any split",
  },
  hidden_outcomes: {
    kind: "switch",
    default: false,
    defaultOf: { guarded: true, strict: true },
    help: "tell which side a node's people fall on, and nobody else's, where a scheme hides who is in a node",
  },
} as const satisfies Record<string, ParameterSpec>;

export type PrivacyParameters = ValuesOf<typeof privacyParameters>;

/** The defences without the name of the preset: what jobs agree on, and policies compare. */
export type Defences = Omit<PrivacyParameters, "privacy">;

/** The preset that sets just these; null: they are a choice of their own. */
export function presetOf(defences: Defences): Preset | null {
  const { privacy: _, ...specs } = privacyParameters;
  const isSetBy = (preset: Preset): boolean =>
    (Object.keys(specs) as (keyof Defences)[]).every((name) => {
      const values: Readonly<Record<string, number | boolean>> = specs[name].defaultOf;
      return defences[name] === (values[preset] ?? specs[name].default);
    });
  return presets.find(isSetBy) ?? null;
}
