/** DART boosting between parties: from the beginning, after a start model, or resumed after an interrupted attempt. */
import { assert } from "../../base/assert.ts";
import { TandemError } from "../../base/error.ts";
import type { BoostingTask } from "../../gbdt/boost/boosting-task.ts";
import { dartBeginning } from "../../gbdt/boost/dart/begin.ts";
import { DartCourse } from "../../gbdt/boost/dart/course.ts";
import { checkDartSize } from "../../gbdt/boost/dart/size.ts";
import { treesPerBoostingRound } from "../job-parameters.ts";
import type { ActiveJob } from "./job.ts";
import type { PeerPredictions } from "./peer-predictions.ts";
import { leavesAfter } from "./predictions.ts";

/** @throws TandemError USAGE, before any party is contacted: dart needs the leaf of every instance in all trees */
export function checkDart({ job: { training, start, privacy }, rows }: ActiveJob): void {
  const trees = (start?.trees.length ?? 0) + training.num_round * treesPerBoostingRound(training);
  checkDartSize(training, rows.count, trees);
  if (training.booster === "dart" && start !== null && privacy.masked_scoring)
    throw new TandemError(
      "USAGE",
      "warm start: dart needs each instance's leaf in the model's trees, which masked_scoring hides",
    );
}

/** @returns null unless the booster is dart */
export async function federatedDart(
  job: ActiveJob,
  task: BoostingTask,
  sessions: readonly PeerPredictions[],
): Promise<DartCourse | null> {
  const { progress } = job;
  const { training, start } = job.job;
  if (training.booster !== "dart") return null;
  if (progress !== undefined) {
    assert(progress.dart !== undefined, "dart resumes from its stored state");
    return new DartCourse(training, task.outputCount, progress.dart);
  }
  const leaves = start === null ? [] : await leavesAfter(sessions, start, job);
  const beginning = dartBeginning(training, task, start, (tree) => leaves[tree]);
  return new DartCourse(training, task.outputCount, beginning);
}
