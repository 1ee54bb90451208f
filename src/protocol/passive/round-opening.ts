/** Begins a round at a passive party, and checks which round may begin. On failure the round has not begun. */
import { TandemError } from "../../base/error.ts";
import type { ActiveGradients } from "../../wire/generated/tandem/v1/tandem_pb.ts";
import { treeCountOf } from "../job-parameters.ts";
import type { Attempt } from "./attempt.ts";
import { sampleDigest } from "./digests.ts";
import type { PassiveJob } from "./job.ts";

/** The sample of a round, and its column sampling rate where that differs from the agreed one. */
export type RoundTerms = Pick<ActiveGradients, "sampled" | "colsampleBytree">;

export class RoundOpening {
  readonly #attempt: Attempt;

  constructor(attempt: Attempt) {
    this.#attempt = attempt;
  }

  /** @throws TandemError PROTOCOL_STATE unless a round may begin with this tree */
  check(tree: number, terms: RoundTerms): void {
    const { job, course, progress } = this.#attempt;
    course.expect("ready");
    const treeCount = treeCountOf(job.agreed);
    if (course.tree + 1 >= treeCount)
      throw new TandemError("PROTOCOL_STATE", `${treeCount} trees were agreed, not more`);
    if (progress.current.testRows !== null)
      throw new TandemError("PROTOCOL_STATE", "predictions were asked for: the training of this job is over");
    if (tree !== course.tree + 1)
      throw new TandemError("PROTOCOL_STATE", `tree ${tree} cannot begin: tree ${course.tree + 1} is next`);
    this.#checkColumns(terms.colsampleBytree);
    const { round } = progress.current;
    if (round?.tree === tree && round.sample !== sampleDigest(terms))
      throw new TandemError("PROTOCOL_STATE", `the round of tree ${tree} was begun with another sample`);
  }

  /** @param begin settles when the tree's nodes may be requested */
  async open(tree: number, begin: () => Promise<void>): Promise<void> {
    const { job, course, answered } = this.#attempt;
    course.phase = "loading";
    course.tree = tree;
    course.level = 0;
    answered.beginTree();
    job.observer.roundBegan?.(tree);
    try {
      await begin();
      this.#attempt.hasBegunRound = true;
      if (course.phase === "loading") course.phase = "growing";
    } catch (error) {
      if (course.phase === "loading") [course.phase, course.tree] = ["ready", tree - 1];
      throw error;
    }
  }

  /** Fewer columns than agreed would show which candidates are drawn together. */
  #checkColumns(rate: number): void {
    const { colsampleBytree: agreed } = this.#attempt.job.agreed;
    if (rate === 0 || (rate >= agreed && rate <= 1 && rate !== agreed)) return;
    throw new TandemError("PROTOCOL_STATE", `colsample_bytree of a round is ${rate}, where ${agreed} was agreed on`);
  }
}

/** Sums over few instances can be decomposed into single ones. @throws TandemError POLICY */
export function checkSampleSize({ name, sampleMin = 1 }: PassiveJob, count: number): void {
  if (count < sampleMin)
    throw new TandemError(
      "POLICY",
      `the policy of ${name} does not allow this tree: it sums ${count} instances, the minimum is ${sampleMin}`,
    );
}
