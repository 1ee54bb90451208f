/** The minimums of a job: the larger of those of the data owner and those agreed for the job. */
import type { Defences } from "../../privacy/defences/defences.ts";
import type { Minimums } from "./offered-candidates.ts";
import { minimumsWithNoise } from "./tree-noise.ts";

/** The number of instances that a tree can be trained on: all of the job except those held out for validation. */
export function trainingInstanceCount(instanceCount: number, validationRowCount: number): number {
  return instanceCount - validationRowCount;
}

/**
 * The passive party and the centralised trainer both call it.
 * @param instanceCount see trainingInstanceCount; over all folds in an interleaved cross-validation
 */
export function minimumsOfJob(
  policy: Minimums,
  { answer_noise: noise, min_people_share: share }: Pick<Defences, "answer_noise" | "min_people_share">,
  instanceCount: number,
): Minimums {
  const least = Math.ceil(share * instanceCount);
  const perCandidate = Math.max(policy.perCandidate, least);
  return minimumsWithNoise({ ...policy, perCandidate, ...(least > 1 ? { between: least } : {}) }, noise > 0);
}
