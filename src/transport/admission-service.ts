/** The service Admission around a handler: what a job waits for, until it may begin. */
import type { HandlerContext, ServiceImpl } from "@connectrpc/connect";
import { type ActiveRequest, Admission } from "../wire/generated/tandem/v1/admission_pb.ts";
import { type Caller, callerOf } from "./caller.ts";
import { toHandlers } from "./handlers.ts";
import { heartbeatKey } from "./heartbeat.ts";

/** Where a job stands. */
export interface JobPlace {
  /** 1: the next to begin; 0: it may begin now. */
  readonly place: number;
  /** How many wait. */
  readonly waiting: number;
  /** The name of a request that waits for approval, and has no place yet; empty: it does not wait for that. */
  readonly request: string;
}

export interface AdmissionHandler {
  /** Takes a place for a job. @throws TandemError if it is refused */
  request(request: ActiveRequest, caller: Caller): Promise<RequestedJob>;
}

export interface RequestedJob {
  /** @throws TandemError if the job has lost its place */
  readonly where: () => JobPlace;
  /** Resolves when `where` may have another answer. */
  readonly changed: () => Promise<unknown>;
}

export function admissionCalls(handler: AdmissionHandler): ServiceImpl<typeof Admission> {
  return toHandlers(Admission, {
    request: (request, context) => places(handler, request, context),
  });
}

async function* places(
  handler: AdmissionHandler,
  request: ActiveRequest,
  context: HandlerContext,
): AsyncGenerator<JobPlace> {
  const caller = callerOf(context);
  const job = await handler.request(request, caller);
  const beatMs = context.values.get(heartbeatKey);
  const over = new AbortController(); // a connection outlives its calls: no listener of theirs is left at it
  const gone = new Promise<void>((resolve) => {
    for (const signal of [caller.gone, context.signal])
      signal.addEventListener("abort", () => resolve(), { once: true, signal: over.signal });
  });
  try {
    while (!caller.gone.aborted && !context.signal.aborted) {
      const changed = job.changed(); // before the answer: nothing in between is missed
      const place = job.where();
      yield place;
      if (place.place === 0 && place.request === "") return;
      await Promise.race([changed, gone, pause(beatMs)]);
    }
  } finally {
    over.abort();
  }
}

/** 0, as in memory: for ever. */
function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    if (ms > 0) setTimeout(resolve, ms).unref();
  });
}
