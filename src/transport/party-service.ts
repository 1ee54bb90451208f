/**
 * A passive party that serves one job after the other: each call goes to the alignment or the job that its caller has
 * open. A caller reaches its own job only, whoever else is pinned. What may be opened is decided by a desk.
 */
import type { ConnectRouter, HandlerContext, ServiceImpl } from "@connectrpc/connect";
import { Alignment } from "../wire/generated/tandem/v1/alignment_pb.ts";
import { type ActiveHello, PassiveParty } from "../wire/generated/tandem/v1/tandem_pb.ts";
import { alignmentCalls, type AlignmentDesk } from "./alignment-service.ts";
import { type Caller, callerOf } from "./caller.ts";
import { handlersOf } from "./handlers.ts";
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
  return { alignment: alignmentCalls(desk), jobs: jobCalls(desk) };
}

export function partyRoutes(desk: PartyDesk): (router: ConnectRouter) => void {
  const { alignment, jobs } = partyCalls(desk);
  return (router) => void router.service(Alignment, alignment).service(PassiveParty, jobs);
}

function jobCalls(desk: PartyDesk): ServiceImpl<typeof PassiveParty> {
  async function* join(
    hello: ActiveHello,
    context: HandlerContext,
  ): ReturnType<ServiceImpl<typeof PassiveParty>["join"]> {
    const caller = callerOf(context);
    const service = await desk.openJob(hello, caller);
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
  return handlersOf(PassiveParty, (context) => desk.job(callerOf(context)).calls, { own: { join } });
}
