/**
 * The service Alignment around a handler: points and positions without their messages. Masks are not used twice, so any
 * error ends an alignment that has begun.
 */
import { ConnectError, type HandlerContext, type ServiceImpl } from "@connectrpc/connect";
import type { PassivePsi } from "../psi/passive-psi.ts";
import { TandemError } from "../base/error.ts";
import {
  type ActiveAlignmentOffer,
  type ActiveCommonPositions,
  Alignment,
} from "../wire/generated/tandem/v1/alignment_pb.ts";
import { type Caller, callerOf } from "./caller.ts";
import { type Answers, toHandlers } from "./handlers.ts";
import { numbered, pointsOf } from "./numbered-points.ts";
import { fromWireError, toWireError } from "./wire-error.ts";

export interface PsiHandler {
  beginAlignment(offer: ActiveAlignmentOffer, caller: Caller): Promise<{ passiveIdCount: number }>;
  /** The alignment that the caller has open. */
  alignment(caller: Caller): PassivePsi;
  /** The alignment has ended well, with these of this party's rows. */
  aligned(caller: Caller, rows: Uint32Array): Promise<void>;
  alignmentFailed(caller: Caller, error: unknown): void;
}

export function psiCalls(handler: PsiHandler): ServiceImpl<typeof Alignment> {
  const onError = (error: unknown, context: HandlerContext): ConnectError => {
    // A refused offer has not begun an alignment.
    if (context.method === Alignment.method.begin) return toWireError(error);
    const caller = callerOf(context);
    // A message that cannot be read, or a stream that broke: not this party's fault.
    handler.alignmentFailed(caller, error instanceof ConnectError ? fromWireError(error, caller.name) : error);
    return toWireError(error);
  };
  /** A stream that is not read to its end is a failure too: the caller has left. */
  async function* whole<T>(context: HandlerContext, items: AsyncIterable<T>): AsyncGenerator<T> {
    let isOver = false;
    try {
      yield* items;
      isOver = true;
    } catch (error) {
      isOver = true;
      throw error;
    } finally {
      if (!isOver) {
        const error = new TandemError("PARTY_LOST", "the active party gave up the alignment");
        handler.alignmentFailed(callerOf(context), error);
      }
    }
  }
  const answers: Answers<typeof Alignment> = {
    begin: (offer, context) => handler.beginAlignment(offer, callerOf(context)),
    remask: (messages, context) => {
      const points = pointsOf(messages, "the active party");
      return whole(context, numbered(handler.alignment(callerOf(context)).remask(points)));
    },
    maskedIds: (_request, context) => whole(context, numbered(handler.alignment(callerOf(context)).maskedIds())),
    accept: async (messages, context) => {
      const caller = callerOf(context);
      const { commonCount, positions } = await commonPositions(messages);
      await handler.aligned(caller, await handler.alignment(caller).accept(commonCount, positions));
    },
  };
  return toHandlers(Alignment, answers, onError);
}

/** The count, which every message repeats, and the positions of all messages. */
async function commonPositions(
  messages: AsyncIterable<ActiveCommonPositions>,
): Promise<{ commonCount: number; positions: AsyncIterable<Uint32Array> }> {
  const iterator = messages[Symbol.asyncIterator]();
  const first = await iterator.next();
  if (first.done === true)
    throw new TandemError("PROTOCOL_STATE", "the active party does not say how many ids are common");
  const { commonCount } = first.value;
  async function* positions(): AsyncGenerator<Uint32Array> {
    // Without common ids the first message is the only one, and empty.
    if (commonCount > 0 || first.value?.positions.length !== 0) yield Uint32Array.from(first.value?.positions ?? []);
    for (let next = await iterator.next(); next.done !== true; next = await iterator.next()) {
      if (next.value.commonCount !== commonCount)
        throw new TandemError("PROTOCOL_STATE", "the active party changes its mind about how many ids are common");
      yield Uint32Array.from(next.value.positions);
    }
  }
  return { commonCount, positions: positions() };
}
