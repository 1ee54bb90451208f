/**
 * Predictions within a job: of its test rows at the end, and of all instances by a start model before the first
 * gradients. Outcomes of splits, or where scoring is masked margins alone.
 */
import type { MessageInitShape } from "@bufbuild/protobuf";
import { TandemError } from "../../base/error.ts";
import type {
  ActiveMaskOpen,
  ActiveMaskStep,
  PassiveMaskOpenedSchema,
  PassiveMaskStepSchema,
} from "../../wire/generated/tandem/v1/masked_pb.ts";
import type { ActivePredict, ActiveTestRows } from "../../wire/generated/tandem/v1/tandem_pb.ts";
import type { OwnSplit } from "./answered-splits.ts";
import type { Attempt } from "./attempt.ts";
import { MaskedPredictions, tooLate } from "./masked-predictions.ts";
import { type Outcome, outcomeMessage, outcomesOfInstances, outcomesOfRows } from "./predictions.ts";
import { TestRows } from "./test-rows.ts";

export class PredictionAnswers {
  readonly #attempt: Attempt;
  readonly #testRows: TestRows;
  readonly #masked: MaskedPredictions;

  constructor(attempt: Attempt) {
    this.#attempt = attempt;
    this.#testRows = new TestRows(attempt);
    this.#masked = new MaskedPredictions(attempt.job, attempt.tally, this.#testRows);
  }

  testRows(chunks: AsyncIterable<ActiveTestRows>): Promise<void> {
    return this.#testRows.name(chunks);
  }

  async *predict(request: ActivePredict): AsyncGenerator<ReturnType<typeof outcomeMessage>> {
    this.#expectPhase();
    const { job, tally } = this.#attempt;
    if (job.agreed.maskedScoring)
      throw new TandemError("PROTOCOL_STATE", "this job agreed on masked scoring: no outcome of a split is told");
    const [outcomes, rowCount] = this.#outcomes(request);
    await job.admitScores?.(rowCount);
    for (const outcome of outcomes) {
      const message = outcomeMessage(outcome, rowCount);
      tally.see("prediction", message, rowCount);
      yield message;
    }
  }

  #outcomes({ startInstances, firstRow, rowCount }: ActivePredict): [outcomes: Iterable<Outcome>, rowCount: number] {
    const { job } = this.#attempt;
    if (!startInstances)
      return [outcomesOfRows(job, this.#testRows.slice(firstRow, rowCount), this.#settledSplits), rowCount];
    if (rowCount > 0) throw new TandemError("PROTOCOL_STATE", "test rows are named beside the job's instances");
    if (!this.#isStart) throw tooLate();
    return [outcomesOfInstances(job), job.instanceCount];
  }

  maskOpen(request: ActiveMaskOpen): MessageInitShape<typeof PassiveMaskOpenedSchema> {
    this.#expectPhase();
    const { job } = this.#attempt;
    if (request.startModel && !this.#isStart) throw tooLate();
    const start = (job.start ?? []).map(({ split }) => split);
    if (!request.startModel) this.#testRows.expectNamed();
    return this.#masked.open(request, request.startModel ? start : this.#settledSplits);
  }

  async maskStep(request: ActiveMaskStep): Promise<MessageInitShape<typeof PassiveMaskStepSchema>> {
    this.#expectPhase();
    return this.#masked.step(request, this.#isStart);
  }

  /** Others are of a tree that was never finished. */
  get #settledSplits(): readonly OwnSplit[] {
    const { splits, course } = this.#attempt;
    return splits.filter((split) => split.tree <= course.tree);
  }

  #expectPhase(): void {
    this.#attempt.course.expect("joined", "ready", "finished");
  }

  /** Nothing was trained in this attempt yet. */
  get #isStart(): boolean {
    return !this.#attempt.hasBegunRound && this.#attempt.course.phase !== "finished";
  }
}
