/** The minimums of a job: what a passive party's owner asks for, and what the job has agreed on, whichever is more. */
import type { Defences } from "../../privacy/defences/defences.ts";
import type { Minimums } from "./offered-candidates.ts";
import { minimumsWithNoise } from "./tree-noise.ts";

/** The people that a tree can learn from: all of the job but those that are held back for validation. */
export function peopleOf(instanceCount: number, validationRowCount: number): number {
  return instanceCount - validationRowCount;
}

/**
 * The passive party and the centralised trainer both call it.
 * @param people see peopleOf; of all folds together where folds take turns
 */
export function minimumsOfJob(
  policy: Minimums,
  { answer_noise: noise, min_people_share: share }: Pick<Defences, "answer_noise" | "min_people_share">,
  people: number,
): Minimums {
  const least = Math.ceil(share * people);
  const perCandidate = Math.max(policy.perCandidate, least);
  return minimumsWithNoise({ ...policy, perCandidate, ...(least > 1 ? { between: least } : {}) }, noise > 0);
}
