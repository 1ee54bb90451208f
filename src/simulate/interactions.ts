/** Interaction constraints of a simulation: XGBoost's list of lists, cut into what each party says of its own. */
import { TandemError } from "../base/error.ts";
import { groupCountMax } from "../gbdt/split/interactions.ts";

type Groups = Readonly<Record<string, readonly string[]>>;

/** As XGBoost takes it: '[["age", "income"], ["balance", "limit"]]'. @throws TandemError USAGE */
export function parseInteractions(text: string): Groups {
  if (text === "") return {};
  let lists: unknown;
  try {
    lists = JSON.parse(text);
  } catch {
    lists = null;
  }
  const isName = (name: unknown): name is string => typeof name === "string" && name !== "";
  const isList = (list: unknown): list is string[] => Array.isArray(list) && list.every(isName);
  if (!Array.isArray(lists) || !lists.every(isList) || lists.length > groupCountMax)
    throw new TandemError(
      "USAGE",
      `--interaction-constraints takes up to ${groupCountMax} lists of features, ` +
        `such as '[["age", "income"], ["balance", "limit"]]'`,
    );
  return Object.fromEntries(lists.map((list, i) => [`group-${String(i + 1).padStart(2, "0")}`, list]));
}

/** A party's own part: the active party names all groups, others those that they have features in. */
export function interactionsOf(groups: Groups, features: readonly string[], isActive: boolean): Groups {
  const own = Object.entries(groups).map(([group, names]) => [group, names.filter((name) => features.includes(name))]);
  return Object.fromEntries(own.filter(([, names]) => isActive || names.length > 0));
}
