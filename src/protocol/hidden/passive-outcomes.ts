/**
 * A passive party's answers for splits that it wins, where members are hidden and the job hides outcomes: the sides of
 * all instances, masked so that the active party can read those of the node's members only. This party does not learn
 * the members.
 *
 * It cannot prevent an active party from requesting others. One that requests all receives what every job without
 * hidden outcomes reveals.
 */
import type { MessageInitShape } from "@bufbuild/protobuf";
import { TandemError } from "../../base/error.ts";
import { isSliceOver, nextSlice } from "../../base/scheduling/event-loop-slice.ts";
import { PassiveOutcomes, pieceCount } from "../../scheme/outcomes/passive-outcomes.ts";
import type {
  ActiveHiddenSplits,
  ActiveOutcomeKeys,
  PassiveOutcomeKeysSchema,
  PassiveSplitSchema,
} from "../../wire/generated/tandem/v1/tandem_pb.ts";
import type { Attempt } from "../passive/attempt.ts";
import type { SplitDecisions } from "../passive/split-decisions.ts";

export class OutcomeTransfers {
  readonly #attempt: Attempt;
  readonly #decisions: SplitDecisions;
  readonly #outcomes = new PassiveOutcomes();

  constructor(attempt: Attempt, decisions: SplitDecisions) {
    this.#attempt = attempt;
    this.#decisions = decisions;
  }

  async keys({ scheme }: ActiveOutcomeKeys): Promise<MessageInitShape<typeof PassiveOutcomeKeysSchema>> {
    this.#attempt.course.expect("growing");
    const answer = await this.#outcomes.keys(scheme);
    this.#attempt.tally.see("outcome keys", scheme);
    this.#attempt.tally.see("outcome points", answer);
    return { scheme: answer };
  }

  async *splits(
    messages: AsyncIterable<ActiveHiddenSplits>,
  ): AsyncGenerator<MessageInitShape<typeof PassiveSplitSchema>> {
    const { tally, job } = this.#attempt;
    const { instanceCount } = job;
    const pieces = messages[Symbol.asyncIterator]();
    try {
      const first = await nextOf(pieces);
      if (first.request === undefined) throw new TandemError("PROTOCOL_STATE", "choices without a decision");
      const answers = await this.#decisions.decide(first.request);
      for (const [i, { split, leftMembers, monotone, groups }] of answers.entries()) {
        const { tree, node } = split;
        const masked = this.#outcomes.mask(first.firstBatch + i, leftMembers, instanceCount);
        let bytes = 0;
        for (let piece = 0; piece < pieceCount(instanceCount); piece++) {
          const { scheme, request } = await nextOf(pieces);
          if (request !== undefined) throw new TandemError("PROTOCOL_STATE", "decisions among choices");
          bytes += scheme.length;
          masked.add(scheme);
          if (isSliceOver()) await nextSlice();
        }
        const answer = { tree, node, leftMembers: masked.masked(), monotone, groups };
        tally.see("choices", tree, node, bytes);
        tally.see("outcome", answer, { transfers: instanceCount, chosen: null });
        if (this.#attempt.isGrouped) tally.see("split groups", answer);
        yield answer;
      }
      if ((await pieces.next()).done !== true) throw new TandemError("PROTOCOL_STATE", "choices for no decision");
    } finally {
      await pieces.return?.();
    }
  }
}

async function nextOf(pieces: AsyncIterator<ActiveHiddenSplits>): Promise<ActiveHiddenSplits> {
  const next = await pieces.next();
  if (next.done === true) throw new TandemError("PROTOCOL_STATE", "fewer choices than decisions");
  return next.value;
}
