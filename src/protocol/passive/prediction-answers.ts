/**
 * Predictions within a job: of its test rows at the end, and of all instances by a start model before the first
 * gradients. Answers are outcomes of splits, or with masked scoring only scores.
 */
import type { MessageInitShape } from "@bufbuild/protobuf";
import { TandemError } from "../../base/error.ts";
import { MaskedAnswerer, type MaskedModel, MaskedSessions } from "../../scheme/masked/masked-answerer.ts";
import type {
  ActiveMaskOpen,
  ActiveMaskStep,
  MaskRows,
  PassiveMaskOpenedSchema,
  PassiveMaskStepSchema,
} from "../../wire/generated/tandem/v1/masked_pb.ts";
import type { ActivePredict, ActiveTestRows } from "../../wire/generated/tandem/v1/tandem_pb.ts";
import type { OwnSplit } from "./answered-splits.ts";
import type { Attempt } from "./attempt.ts";
import { joinedOutcomes, type Outcome, outcomeMessage, outcomesOfInstances, outcomesOfRows } from "./predictions.ts";
import { TestRows } from "./test-rows.ts";

/** All sessions of masked scoring within a job belong to its active party. */
const caller = "";
/** The rows of a job are fixed: the limit on ids does not apply to them. */
const rowsMax = 2 ** 32 - 1;

export class PredictionAnswers {
  readonly #attempt: Attempt;
  readonly #testRows: TestRows;
  readonly #sessions = new MaskedSessions();

  constructor(attempt: Attempt) {
    this.#attempt = attempt;
    this.#testRows = new TestRows(attempt);
  }

  testRows(chunks: AsyncIterable<ActiveTestRows>): Promise<void> {
    return this.#testRows.name(chunks);
  }

  async *predict(request: ActivePredict): AsyncGenerator<ReturnType<typeof outcomeMessage>> {
    this.#expectPhase();
    const { job, tally } = this.#attempt;
    if (job.agreed.defences.masked_scoring)
      throw new TandemError("PROTOCOL_STATE", "this job agreed on masked scoring: outcomes of splits are not sent");
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
    if (rowCount > 0) throw new TandemError("PROTOCOL_STATE", "test rows and the job's instances in one request");
    if (!this.#isStart) throw tooLate();
    return [outcomesOfInstances(job), job.instanceCount];
  }

  maskOpen(request: ActiveMaskOpen): MessageInitShape<typeof PassiveMaskOpenedSchema> {
    this.#expectPhase();
    if (!this.#attempt.job.agreed.defences.masked_scoring)
      throw new TandemError("PROTOCOL_STATE", "this job did not agree on masked scoring");
    const session = new MaskedAnswerer(request, this.#maskedModel(request.startModel));
    this.#sessions.add(caller, session);
    return session.opened;
  }

  async maskStep(request: ActiveMaskStep): Promise<MessageInitShape<typeof PassiveMaskStepSchema>> {
    this.#expectPhase();
    return this.#sessions.find(caller, request)?.step(request) ?? { expired: true };
  }

  /** @param ofStart of the start model, over instances; else of the job's own, over its test rows */
  #maskedModel(ofStart: boolean): MaskedModel {
    const { job, tally } = this.#attempt;
    if (ofStart && !this.#isStart) throw tooLate();
    if (!ofStart) this.#testRows.expectNamed();
    else if (job.start === undefined) throw new TandemError("PROTOCOL_STATE", "this job has no start model");
    const splits = this.#settledSplits;
    return {
      splitCount: ofStart ? (job.start ?? []).length : splits.length,
      idsMax: rowsMax,
      outputsMax: job.agreed.outputs,
      scoreNoise: job.agreed.defences.score_noise,
      admit: async () => {
        if (ofStart && !this.#isStart) throw tooLate();
      },
      rowCount: (rows) => this.#checkRows(rows, ofStart),
      outcomes: async ({ firstRow, rowCount }) => {
        const asked = ofStart ? { first: firstRow, count: rowCount } : { ids: this.#testRows.ids(firstRow, rowCount) };
        await job.admitQuestions?.(asked);
        await job.admitScores?.(rowCount);
        const outcomes = ofStart
          ? outcomesOfInstances(job, firstRow)
          : outcomesOfRows(job, this.#testRows.slice(firstRow, rowCount), splits);
        return joinedOutcomes(outcomes, rowCount);
      },
      finished: (rowCount, sums) => tally.see("scores", rowCount, sums),
    };
  }

  #checkRows({ ids, firstRow, rowCount }: MaskRows, ofStart: boolean): number {
    if (ids.length > 0) throw new TandemError("PROTOCOL_STATE", "rows of a job are named by number, not by id");
    if (!ofStart) this.#testRows.slice(firstRow, rowCount);
    else if (firstRow + rowCount > this.#attempt.job.instanceCount)
      throw new TandemError("PROTOCOL_STATE", "rows are out of the range of the job's instances");
    return rowCount;
  }

  /** Excludes splits of a tree that was never finished. */
  get #settledSplits(): readonly OwnSplit[] {
    const { splits, course } = this.#attempt;
    return splits.filter((split) => split.tree <= course.tree);
  }

  #expectPhase(): void {
    this.#attempt.course.expect("joined", "ready", "finished");
  }

  /** No gradients were received in this attempt yet. */
  get #isStart(): boolean {
    return !this.#attempt.hasBegunRound && this.#attempt.course.phase !== "finished";
  }
}

/** A start model is evaluated on all instances, before the first gradients of an attempt. */
function tooLate(): TandemError {
  return new TandemError("PROTOCOL_STATE", "the start model can be evaluated before the first gradients only");
}
