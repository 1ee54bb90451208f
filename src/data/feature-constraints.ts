/**
 * Constraints of features, by the names that XGBoost and a config have for them. Configs, tables and simulations carry
 * them as one object; what is particular to one of them stands here, and where a feature is binned.
 */
import { TandemError } from "../base/error.ts";
import { suggestion } from "../base/text/nearest-name.ts";
import type { Categories } from "./dataset.ts";

export interface FeatureConstraints {
  /** Of features: whether the prediction may only rise (1) or only fall (-1) with it; 0: neither. */
  readonly monotone_constraints: Readonly<Record<string, -1 | 0 | 1>>;
  /** Of groups by name: features that may split below each other. */
  readonly interaction_constraints: Readonly<Record<string, string[]>>;
}

/** What is left out does not constrain anything. */
export function constraintsIn({
  monotone_constraints = {},
  interaction_constraints = {},
}: Partial<FeatureConstraints>): FeatureConstraints {
  return { monotone_constraints, interaction_constraints };
}

export const noConstraints: FeatureConstraints = constraintsIn({});

/** A party's own part: the active party names all interaction groups, others those that they have features in. */
export function constraintsOfParty(
  given: Partial<FeatureConstraints>,
  features: readonly string[],
  isActive: boolean,
): FeatureConstraints {
  const { monotone_constraints: monotone, interaction_constraints: groups } = constraintsIn(given);
  const own = Object.entries(groups).map(
    ([group, names]) => [group, names.filter((name) => features.includes(name))] as const,
  );
  return {
    monotone_constraints: Object.fromEntries(Object.entries(monotone).filter(([name]) => features.includes(name))),
    interaction_constraints: Object.fromEntries(own.filter(([, names]) => isActive || names.length > 0)),
  };
}

/** @throws TandemError COLUMN_UNKNOWN for a constraint of what is not a feature, USAGE for one of categories */
export function checkFeatureConstraints(
  path: string,
  given: Partial<FeatureConstraints>,
  featureNames: readonly string[],
  categories: Readonly<Record<string, Categories>> = {},
): void {
  const { monotone_constraints: monotone, interaction_constraints: groups } = constraintsIn(given);
  for (const [name, sign] of Object.entries(monotone)) {
    if (!featureNames.includes(name))
      throw new TandemError(
        "COLUMN_UNKNOWN",
        `${path}: monotone_constraints names '${name}', which is no feature${suggestion(name, featureNames)}`,
      );
    if (sign !== 0 && Object.hasOwn(categories, name))
      throw new TandemError("USAGE", `${path}: monotone_constraints names '${name}', but categories have no order`);
  }
  for (const [group, names] of Object.entries(groups)) {
    const unknown = names.find((name) => !featureNames.includes(name));
    if (unknown !== undefined)
      throw new TandemError(
        "COLUMN_UNKNOWN",
        `${path}: interaction_constraints names '${unknown}' in group '${group}', which is no feature` +
          suggestion(unknown, featureNames),
      );
  }
}
