/**
 * Interaction groups of a party's own features, by the names that all parties of a job use. The active party's config
 * says which groups a job has; a passive party gives its own features to them.
 */
import { TandemError } from "../base/error.ts";
import { groupCountMax } from "../gbdt/split/interactions.ts";
import { groupNames, isGroupText } from "../protocol/interaction-groups.ts";

/** @returns what is wrong with a list of groups; false: nothing */
export function impossibleGroups(text: string): string | false {
  if (isGroupText(text)) return false;
  return (
    `interaction_groups: up to ${groupCountMax} names of up to 32 letters, digits, dashes and underscores are ` +
    "needed, each once and ascending"
  );
}

/**
 * A party with interaction groups refuses jobs that do not have all of them.
 * @throws TandemError POLICY; the message does not contain the names of the party's own groups
 */
export function checkOwnGroups(own: Readonly<Record<string, unknown>>, ofJob: string, name: string): void {
  const names = groupNames(ofJob);
  if (Object.keys(own).every((group) => names.includes(group))) return;
  const asked = names.length === 0 ? "no groups" : `the groups ${names.join(", ")}`;
  throw new TandemError(
    "POLICY",
    `the policy of ${name} does not allow this job: interaction_constraints: ${asked} requested, ` +
      `but ${name} has features in a group of another name. The active party's config must name all groups`,
  );
}
