/**
 * Masked scoring within a job: the passive party's answers about test rows, and about all instances by the splits of a
 * start model. The active party gets margins, and no outcome of a split.
 *
 * @reveals active: where scoring is masked, the score of every person asked about, and no outcome of a split
 */
import type { MessageInitShape } from "@bufbuild/protobuf";
import { TandemError } from "../../base/error.ts";
import type { Tally } from "../../messages/tally.ts";
import { MaskedSession, MaskedSessions, type RowOutcomes, stepOf } from "../../scheme/masked/masked-sessions.ts";
import type {
  ActiveMaskOpen,
  ActiveMaskStep,
  MaskRows,
  PassiveMaskOpenedSchema,
  PassiveMaskStepSchema,
} from "../../wire/generated/tandem/v1/masked_pb.ts";
import { protocolVersion } from "../../wire/version.ts";
import type { OwnSplit } from "./answered-splits.ts";
import type { PassiveJob } from "./job.ts";
import { type Outcome, outcomesOfInstances, outcomesOfRows } from "./predictions.ts";
import { bySplitOrder } from "./split-outcomes.ts";
import type { TestRows } from "./test-rows.ts";

/** There is one caller: the job's. */
const caller = "";

export class MaskedPredictions {
  readonly #job: PassiveJob;
  readonly #tally: Tally;
  readonly #testRows: TestRows;
  readonly #sessions = new MaskedSessions();
  readonly #splits = new WeakMap<MaskedSession, readonly OwnSplit[]>();

  constructor(job: PassiveJob, tally: Tally, testRows: TestRows) {
    this.#job = job;
    this.#tally = tally;
    this.#testRows = testRows;
  }

  /** @param splits those of the model, or of the start model */
  open(request: ActiveMaskOpen, splits: readonly OwnSplit[]): MessageInitShape<typeof PassiveMaskOpenedSchema> {
    if (!this.#job.agreed.maskedScoring)
      throw new TandemError("PROTOCOL_STATE", "this job did not agree on masked scoring");
    if (request.startModel && this.#job.start === undefined)
      throw new TandemError("PROTOCOL_STATE", "this job goes on from no model");
    const session = new MaskedSession(request, request.startModel ? "start" : "model", splits.length);
    this.#splits.set(session, splits.toSorted(bySplitOrder));
    this.#sessions.add(caller, session);
    const idsMax = 2 ** 32 - 1; // who takes part in the job may be asked about
    return { protocolVersion, session: session.id, splitCount: splits.length, idsMax, scheme: session.opening };
  }

  /** @param startMayBeAsked whether it is the time for a start model */
  async step(
    request: ActiveMaskStep,
    startMayBeAsked: boolean,
  ): Promise<MessageInitShape<typeof PassiveMaskStepSchema>> {
    const session = this.#sessions.find(caller, request);
    if (session === null) return { expired: true };
    if (session.subject === "start" && !startMayBeAsked) throw tooLate();
    const { batch, scheme } = request;
    const step = stepOf(request);
    switch (step.kind) {
      case "set-up":
        return { scheme: await session.setUp(scheme) };
      case "begin": {
        const { rows } = step;
        const outcomes = this.#outcomes(session, rows); // other rows are refused before anything is counted
        await this.#job.admitScores?.(rows.rowCount);
        const [message, { known }] = await session.begin(batch, rows.rowCount, async () => outcomes());
        return { known, scheme: message };
      }
      case "finish": {
        const [sums, rowCount] = await session.finish(batch, scheme);
        this.#tally.see("scores", rowCount, sums);
        return { scheme: sums };
      }
    }
  }

  #outcomes(session: MaskedSession, { ids, firstRow: first, rowCount: count }: MaskRows): () => RowOutcomes {
    if (ids.length > 0) throw new TandemError("PROTOCOL_STATE", "ids are named beside the job's rows");
    if (session.subject === "model") {
      const rows = this.#testRows.slice(first, count);
      return () => joined(outcomesOfRows(this.#job, rows, this.#splits.get(session) ?? []), count);
    }
    if (first + count > this.#job.instanceCount)
      throw new TandemError("PROTOCOL_STATE", "instances that are none of the job's");
    return () => joined(outcomesOfInstances(this.#job, first), count);
  }
}

/** A start model is asked about all instances, before the first gradients of an attempt. */
export function tooLate(): TandemError {
  return new TandemError("PROTOCOL_STATE", "the start model is asked before the first gradients only");
}

/** Outcomes split by split, in one bitmap. */
function joined(outcomes: Iterable<Outcome>, rowCount: number): RowOutcomes {
  const all = [...outcomes].toSorted(bySplitOrder);
  const left = new Uint8Array(Math.ceil((all.length * rowCount) / 8));
  all.forEach(({ goesLeft }, split) => {
    for (let row = 0, at = split * rowCount; row < rowCount; row++, at++)
      if (goesLeft(row)) left[at >>> 3] |= 1 << (at & 7);
  });
  return { rowCount, left, known: new Uint8Array(0) };
}
