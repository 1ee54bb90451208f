/**
 * A passive party that serves one job after the other: each call goes to the alignment or the job that its caller has
 * open. A caller reaches its own job only, whoever else is pinned. What may be opened is decided by a desk.
 */
import type { ConnectRouter, HandlerContext, ServiceImpl } from "@connectrpc/connect";
import { TandemError } from "../base/error.ts";
import type { PassiveAlignment } from "../align/passive-alignment.ts";
import {
  Alignment,
  type ActiveAlignmentOffer,
  type ActiveCommonPositions,
} from "../wire/generated/tandem/v1/alignment_pb.ts";
import { type ActiveHello, PassiveParty } from "../wire/generated/tandem/v1/tandem_pb.ts";
import { numbered, pointsOf } from "./alignment-client.ts";
import { type Caller, callerOf } from "./caller.ts";
import type { PassiveService } from "./passive-service.ts";
import { fromWireError, toWireError } from "./wire-error.ts";

/** Opens alignments and jobs, or refuses them with a TandemError that says why. */
export interface PartyDesk {
  beginAlignment(offer: ActiveAlignmentOffer, caller: Caller): Promise<{ passiveIdCount: number }>;
  /** The alignment that the caller has open. */
  alignment(caller: Caller): PassiveAlignment;
  /** The alignment has ended well, with these of this party's rows. */
  aligned(caller: Caller, rows: Uint32Array): Promise<void>;
  alignmentFailed(caller: Caller, error: unknown): void;
  openJob(hello: ActiveHello, caller: Caller): Promise<PassiveService>;
  /** The job that the caller has open. */
  job(caller: Caller): PassiveService;
  /** The job that was just opened ended before it began. */
  jobRefused(caller: Caller, error: unknown): void;
}

/** The calls that a passive party answers. */
export interface PartyCalls {
  readonly alignment: ServiceImpl<typeof Alignment>;
  readonly jobs: ServiceImpl<typeof PassiveParty>;
}

export function partyCalls(desk: PartyDesk): PartyCalls {
  return { alignment: alignmentCalls(desk), jobs: jobCalls(desk) };
}

export function partyRoutes(desk: PartyDesk): (router: ConnectRouter) => void {
  const { alignment, jobs } = partyCalls(desk);
  return (router) => void router.service(Alignment, alignment).service(PassiveParty, jobs);
}

function alignmentCalls(desk: PartyDesk): ServiceImpl<typeof Alignment> {
  /** Whatever goes wrong with an alignment ends it: masks are not used twice. */
  const failed = (context: HandlerContext, error: unknown): Error => {
    desk.alignmentFailed(callerOf(context), error);
    return toWireError(error);
  };
  const wired = async <T>(context: HandlerContext, handle: () => Promise<T>): Promise<T> => {
    try {
      return await handle();
    } catch (error) {
      throw failed(context, error);
    }
  };
  async function* wiredStream<T>(context: HandlerContext, handle: () => AsyncIterable<T>): AsyncGenerator<T> {
    let ended = false;
    try {
      yield* handle();
      ended = true;
    } catch (error) {
      ended = true;
      throw failed(context, error);
    } finally {
      // Half a stream, because the caller has left.
      if (!ended) failed(context, new TandemError("PARTY_LOST", "the active party gave up the alignment"));
    }
  }
  return {
    begin: async (offer, context) => {
      try {
        return await desk.beginAlignment(offer, callerOf(context));
      } catch (error) {
        throw toWireError(error);
      }
    },
    remask: (messages, context) =>
      wiredStream(context, () =>
        numbered(desk.alignment(callerOf(context)).remask(pointsOf(messages, "the active party"))),
      ),
    maskedIds: (_request, context) =>
      wiredStream(context, () => numbered(desk.alignment(callerOf(context)).maskedIds())),
    accept: (messages, context) =>
      wired(context, async () => {
        const { commonCount, positions } = await commonPositions(messages);
        await desk.aligned(callerOf(context), await desk.alignment(callerOf(context)).accept(commonCount, positions));
        return {};
      }),
  };
}

/** The number that every message repeats, and the positions of all of them. */
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

function jobCalls(desk: PartyDesk): ServiceImpl<typeof PassiveParty> {
  const callsOf = (context: HandlerContext): ServiceImpl<typeof PassiveParty> => {
    try {
      return desk.job(callerOf(context)).calls;
    } catch (error) {
      throw toWireError(error);
    }
  };
  async function* join(
    hello: ActiveHello,
    context: HandlerContext,
  ): ReturnType<ServiceImpl<typeof PassiveParty>["join"]> {
    const caller = callerOf(context);
    let service: PassiveService;
    try {
      service = await desk.openJob(hello, caller);
    } catch (error) {
      throw toWireError(error);
    }
    let joined = false;
    try {
      for await (const answer of service.calls.join(hello, context)) {
        joined = true;
        yield answer;
      }
    } catch (error) {
      if (!joined) desk.jobRefused(caller, fromWireError(error, caller.name));
      throw error;
    }
  }
  return {
    join,
    setUp: (request, context) => callsOf(context).setUp(request, context),
    gradients: (chunks, context) => callsOf(context).gradients(chunks, context),
    histograms: (nodes, context) => callsOf(context).histograms(nodes, context),
    splits: (decisions, context) => callsOf(context).splits(decisions, context),
    finishTree: (request, context) => callsOf(context).finishTree(request, context),
    predict: (request, context) => callsOf(context).predict(request, context),
    finishJob: (request, context) => callsOf(context).finishJob(request, context),
  };
}
