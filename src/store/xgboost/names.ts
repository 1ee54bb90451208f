/**
 * Feature names that XGBoost accepts: unique, and without the characters that it rejects or cannot read.
 *
 * 1. `[`, `]` and `<` (refused), control characters and lone surrogates (its JSON reader does not know their escapes)
 *    become `_`.
 * 2. A name that several parties use gets the party's name in front at all of them: `active.age`, `passive-1.age`.
 * 3. What is still not unique, such as two columns of one name within a party, gets `_2`, `_3`, ... behind it.
 */

const refused = /[[\]<\p{Cc}\p{Cs}]/gu;

/** @returns one name per feature: the active party's, then each passive party's, in order */
export function xgboostFeatureNames(features: readonly (readonly string[])[], partyNames: readonly string[]): string[] {
  const cleaned = features.map((names) => names.map(clean));
  const parties = partyNames.map(clean);
  const ownerCounts = new Map<string, number>();
  for (const names of cleaned)
    for (const name of new Set(names)) ownerCounts.set(name, (ownerCounts.get(name) ?? 0) + 1);
  const wanted = cleaned.flatMap((names, owner) =>
    names.map((name) => ((ownerCounts.get(name) ?? 0) > 1 ? `${parties[owner]}.${name}` : name)),
  );

  // First come, first served; but a suffix never creates a name that another feature already has.
  const taken = new Set(wanted);
  const given = new Set<string>();
  return wanted.map((name) => {
    let unique = name;
    for (let n = 2; given.has(unique) || (unique !== name && taken.has(unique)); n++) unique = `${name}_${n}`;
    given.add(unique);
    return unique;
  });
}

function clean(name: string): string {
  return name.replace(refused, "_");
}
