/**
 * A passive party that serves jobs of several connections: each call goes to the alignment or the job that its caller
 * has open. A caller reaches only its own job, even if several parties are pinned. A handler decides what may be
 * opened.
 */
import type { ConnectRouter, HandlerContext, ServiceImpl } from "@connectrpc/connect";
import { type AnyCall, everyCall, onlyOf, type Messages, streamOf } from "../wire/every-call.ts";
import { Admission } from "../wire/generated/tandem/v1/admission_pb.ts";
import { Alignment } from "../wire/generated/tandem/v1/alignment_pb.ts";
import { type ActiveHello, PassiveParty } from "../wire/generated/tandem/v1/tandem_pb.ts";
import { admissionCalls, type AdmissionHandler } from "./admission-service.ts";
import { psiCalls, type PsiHandler } from "./psi-service.ts";
import { type Caller, callerOf } from "./caller.ts";
import type { PassiveService } from "./passive-service.ts";
import { fromWireError, toWireError } from "./wire-error.ts";

/** Opens alignments and jobs, or refuses them with a TandemError. */
export interface PartyHandler extends PsiHandler, AdmissionHandler {
  openJob(hello: ActiveHello, caller: Caller): Promise<PassiveService>;
  /** The job that the caller has open. */
  job(caller: Caller): PassiveService;
  /** The job that was just opened failed before it began. */
  jobRefused(caller: Caller, error: unknown): void;
}

/** The calls that a passive party answers. */
export interface PartyCalls {
  readonly admission: ServiceImpl<typeof Admission>;
  readonly alignment: ServiceImpl<typeof Alignment>;
  readonly jobs: ServiceImpl<typeof PassiveParty>;
}

export function partyCalls(handler: PartyHandler): PartyCalls {
  return {
    admission: admissionCalls(handler),
    alignment: psiCalls(handler),
    jobs: everyCall(PassiveParty, jobCalls(handler)),
  };
}

export function partyRoutes(handler: PartyHandler): (router: ConnectRouter) => void {
  const { admission, alignment, jobs } = partyCalls(handler);
  return (router) =>
    void router.service(Admission, admission).service(Alignment, alignment).service(PassiveParty, jobs);
}

/** Passes calls to the job's service, which converts its errors; only a join is handled here. */
function jobCalls(handler: PartyHandler): AnyCall<HandlerContext> {
  return (method, requests, context) => {
    if (method === PassiveParty.method.join) return joining(handler, requests as Messages<ActiveHello>, context);
    try {
      return handler.job(callerOf(context)).answer(method, requests, context);
    } catch (error) {
      return refusal(error);
    }
  };
}

async function* joining(
  handler: PartyHandler,
  requests: Messages<ActiveHello>,
  context: HandlerContext,
): AsyncGenerator {
  const caller = callerOf(context);
  let isOpen = false;
  let hasJoined = false;
  try {
    const hello = await onlyOf(requests);
    const service = await handler.openJob(hello, caller);
    isOpen = true;
    for await (const answer of service.answer(PassiveParty.method.join, streamOf(hello), context)) {
      hasJoined = true;
      yield answer;
    }
  } catch (error) {
    if (isOpen && !hasJoined) handler.jobRefused(caller, fromWireError(error, caller.name));
    throw toWireError(error);
  }
}

function refusal(error: unknown): Messages<never> {
  return {
    [Symbol.asyncIterator]: () => ({
      next: async () => {
        throw toWireError(error);
      },
    }),
  };
}
