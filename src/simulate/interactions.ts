/** Interaction constraints of a simulation, as XGBoost takes them. */
import { TandemError } from "../base/error.ts";
import { groupCountMax } from "../gbdt/split/interactions.ts";

/** As XGBoost takes it: '[["age", "income"], ["balance", "limit"]]'. @throws TandemError USAGE */
export function parseInteractions(text: string): Record<string, string[]> {
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
