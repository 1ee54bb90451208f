/** What a passive party's owner asks of a job's defences: no job may bring less of any of them. */
import { TandemError } from "../base/error.ts";
import { membershipFacts } from "../base/membership.ts";
import {
  type Defences,
  presetOf,
  type PrivacyParameters,
  privacyParameters,
  resolveParameters,
} from "../base/parameters/parameters.ts";
import type { AgreedParameters } from "../protocol/job-parameters.ts";
import { schemeNamed } from "../scheme/registry.ts";

/** One phrase for each defence that is weaker than the policy's. */
export function weakerDefences(agreed: AgreedParameters, demanded: Defences): readonly string[] {
  const { answerNoise, minPeopleShare, maxThresholds, maskedScoring } = agreed;
  const { answer_noise: noise, min_people_share: share, max_thresholds: thresholds } = demanded;
  const few = maxThresholds === 0 ? "no limit" : String(maxThresholds);
  return [
    answerNoise < noise && `answer_noise: ${answerNoise} asked, at least ${noise} needed`,
    minPeopleShare < share && `min_people_share: ${minPeopleShare} asked, at least ${share} needed`,
    thresholds > 0 &&
      (maxThresholds === 0 || maxThresholds > thresholds) &&
      `max_thresholds: ${few} asked, at most ${thresholds} allowed`,
    demanded.masked_scoring && !maskedScoring && "masked_scoring: off asked, it must be on",
    demanded.hidden_outcomes &&
      !agreed.hiddenOutcomes &&
      hasOutcomesToHide(agreed.scheme) &&
      "hidden_outcomes: off asked, it must be on",
  ].filter((phrase) => phrase !== false);
}

/** Without transfers the active party would get outcomes of instances outside the node. */
function hasOutcomesToHide(scheme: string): boolean {
  return membershipFacts[schemeNamed(scheme).membership].outcomesCover === "all instances";
}

/**
 * Presets bring hidden outcomes for the schemes that have a use for them.
 * @throws TandemError USAGE if they are asked for by themselves, with another scheme
 */
export function checkHiddenOutcomes({ privacy, hidden_outcomes: asked }: PrivacyParameters, scheme: string): void {
  const isPresets = resolveParameters(privacyParameters, { privacy }).hidden_outcomes;
  if (!asked || isPresets || hasOutcomesToHide(scheme)) return;
  throw new TandemError(
    "USAGE",
    `hidden_outcomes: the scheme ${scheme} tells passive parties who is in a node, and they tell the sides of these ` +
      "people only. There is nothing to hide: leave it out",
  );
}

/** For a record: hidden outcomes only where there is something to hide. */
export function recordedDefences<D extends Defences>(
  defences: D,
  scheme: string,
): Omit<D, "hidden_outcomes"> & { readonly hidden_outcomes?: boolean } {
  const { hidden_outcomes: hidden, ...others } = defences;
  return hasOutcomesToHide(scheme) ? { ...others, hidden_outcomes: hidden } : others;
}

/** What the active party can write into its config where its defences are too weak; else nothing. */
export function presetHint(agreed: AgreedParameters, demanded: Defences): string {
  const preset = presetOf(demanded);
  return preset === null || weakerDefences(agreed, demanded).length === 0
    ? ""
    : `. 'privacy: ${preset}' in the active party's config brings the defences that are needed`;
}
