/**
 * The parameters of a job. They are resolved once, from a config or from options, and passed as one object to both
 * roles, the centralised trainer, simulations and verification.
 */
import {
  type CodecParameters,
  codecParameters,
  type ParameterSpec,
  type ParameterValue,
} from "../base/parameters/parameters.ts";
import { privacyParameters } from "../privacy/defences/defences.ts";
import type { ValuesOf } from "../base/parameters/parameter-spec.ts";
import { trainingParameters } from "../gbdt/parameters/training-parameters.ts";
import type { SchemeParameters } from "../scheme/scheme.ts";
import type { Shortcuts } from "../scheme/shortcuts.ts";

/** The tables of a job's parameters, by their section of a config. Options, records and evidence are made from them. */
export const jobSections = {
  training: trainingParameters,
  privacy: privacyParameters,
  codec: codecParameters,
} as const satisfies Readonly<Record<string, Readonly<Record<string, ParameterSpec>>>>;

export type JobSection = keyof typeof jobSections;
export const jobSectionNames = Object.keys(jobSections) as readonly JobSection[];

/** Shorter keys need an option with "insecure" in its name. */
export const secureKeyBits = 2048;

/** Every section's values, checked and complete. */
export type SectionValues = {
  readonly [S in JobSection]: S extends "codec" ? CodecParameters : ValuesOf<(typeof jobSections)[S]>;
};

/** A start model, as far as passive parties know it. */
export interface AgreedStart {
  /** Its id. */
  readonly model: string;
  readonly trees: readonly unknown[];
}

export interface Job<Start extends AgreedStart = AgreedStart> extends SectionValues {
  readonly name: string;
  readonly scheme: string;
  /** The scheme's own parameters, as compared at the handshake. */
  readonly schemeParameters: SchemeParameters;
  /** Names of the interaction groups (interaction-groups.ts); empty: none. */
  readonly interactionGroups: string;
  /** Null: none. */
  readonly start: Start | null;
  /** It vets columns, and trains nothing (vetting.ts). Left out: it trains. */
  readonly vetting?: true;
  /** Left out: all. */
  readonly shortcuts?: Shortcuts | undefined;
}

/** A section's values as in configs and records: those of the codec without what only experiments set. */
export function valuesIn(job: SectionValues, section: JobSection): Record<string, ParameterValue> {
  const values: Readonly<Record<string, ParameterValue>> = { ...job[section] };
  return Object.fromEntries(Object.keys(jobSections[section]).map((name) => [name, values[name]]));
}

/** Maps each section with `of`. */
export function mapSections<T>(of: (section: JobSection) => T): Record<JobSection, T> {
  return Object.fromEntries(jobSectionNames.map((section) => [section, of(section)])) as Record<JobSection, T>;
}
