/**
 * Options of jobs as types. Each is inferred from the table or schema that checks its values: no field is listed twice.
 * The functions are never called. Their declarations are written out field by field, and name no module behind them;
 * scripts/library-types.mjs adds what is known of each field.
 */
import type { z } from "zod";
import type { resolveParameters } from "../base/parameters/parameters.ts";
import type { privacyParameters } from "../privacy/defences/defences.ts";
import type { trainingParameters } from "../gbdt/parameters/training-parameters.ts";
import type { activeConfig, passiveConfig } from "../party/config/config.ts";

type Given<T> = T extends infer O ? { -readonly [K in keyof O]?: O[K] } : never;
declare function valuesIn<T extends Parameters<typeof resolveParameters>[0]>(): Given<
  ReturnType<typeof resolveParameters<T>>
>;
declare function fieldsOf<S extends z.ZodType>(): z.input<S>;

function training() {
  return valuesIn<typeof trainingParameters>();
}
function privacy() {
  return valuesIn<typeof privacyParameters>();
}
function active() {
  return fieldsOf<typeof activeConfig>();
}
function passive() {
  return fieldsOf<typeof passiveConfig>();
}

/** Training parameters under XGBoost's names; docs/parameters.md describes each. */
export type TrainingParameters = ReturnType<typeof training>;

/** A preset in `privacy`, and the defences that differ from it; docs/privacy-choices.md compares them. */
export type PrivacyParameters = ReturnType<typeof privacy>;

/** The fields of `active.yaml`; docs/config.md describes each. Paths are relative to the working directory. */
export type ActiveConfig = Omit<ReturnType<typeof active>, "training"> & { training?: TrainingParameters };

/** The fields of `passive.yaml`; docs/config.md describes each. Paths are relative to the working directory. */
export type PassiveConfig = ReturnType<typeof passive>;
