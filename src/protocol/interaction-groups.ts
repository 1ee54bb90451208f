/** Names of interaction groups, as parties agree on them: ascending, with commas between. Bits go by this order. */
import { groupCountMax } from "../gbdt/split/interactions.ts";

export const groupSyntax = /^[A-Za-z0-9_-]{1,32}$/;

export function groupText(names: Iterable<string>): string {
  return [...new Set(names)].sort().join();
}

export function groupNames(text: string): readonly string[] {
  return text === "" ? [] : text.split(",");
}

/** Whether a text is what groupText makes. */
export function isGroupText(text: string): boolean {
  const names = groupNames(text);
  return names.length <= groupCountMax && names.every((name) => groupSyntax.test(name)) && groupText(names) === text;
}

/** A bit for each of some groups. @param text of all */
export function groupBits(text: string, groups: Iterable<string>): number {
  const names = groupNames(text);
  return [...groups].reduce((bits, group) => bits | (1 << names.indexOf(group)), 0);
}

/** All groups of a job, as bits. */
export function allGroups(text: string): number {
  return 2 ** groupNames(text).length - 1;
}
