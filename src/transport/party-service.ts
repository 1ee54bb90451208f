/**
 * A passive party that serves one job after the other: each call goes to the alignment or the job that its caller has
 * open. A caller reaches its own job only, whichever other parties are pinned. What may be opened is decided by a desk.
 */
import type { ConnectRouter, HandlerContext, ServiceImpl } from "@connectrpc/connect";
import { type AnyCall, everyCall, onlyOf, type Messages, streamOf } from "../wire/every-call.ts";
import { Alignment } from "../wire/generated/tandem/v1/alignment_pb.ts";
import { type ActiveHello, PassiveParty } from "../wire/generated/tandem/v1/tandem_pb.ts";
import { alignmentCalls, type AlignmentDesk } from "./alignment-service.ts";
import { type Caller, callerOf } from "./caller.ts";
import { withWireErrors } from "./handlers.ts";
import type { PassiveService } from "./passive-service.ts";
import { fromWireError } from "./wire-error.ts";

/** Opens alignments and jobs, or refuses them with a TandemError that says why. */
export interface PartyDesk extends AlignmentDesk {
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
  return { alignment: alignmentCalls(desk), jobs: everyCall(PassiveParty, withWireErrors(jobCalls(desk))) };
}

export function partyRoutes(desk: PartyDesk): (router: ConnectRouter) => void {
  const { alignment, jobs } = partyCalls(desk);
  return (router) => void router.service(Alignment, alignment).service(PassiveParty, jobs);
}

function jobCalls(desk: PartyDesk): AnyCall<HandlerContext> {
  return async function* (method, requests, context) {
    const caller = callerOf(context);
    if (method !== PassiveParty.method.join) return yield* desk.job(caller).answer(method, requests, context);
    const hello = await onlyOf(requests as Messages<ActiveHello>);
    const service = await desk.openJob(hello, caller);
    let joined = false;
    try {
      for await (const answer of service.answer(method, streamOf(hello), context)) {
        joined = true;
        yield answer;
      }
    } catch (error) {
      if (!joined) desk.jobRefused(caller, fromWireError(error, caller.name));
      throw error;
    }
  };
}
