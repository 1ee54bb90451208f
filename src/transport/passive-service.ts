/**
 * A PassiveRole behind the service of proto/: the lifecycle of one attempt at a job, from its join to its end.
 */
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import type { ConnectError, ConnectRouter, HandlerContext } from "@connectrpc/connect";
import { isCrewTrouble } from "../base/crew-trouble.ts";
import { TandemError } from "../base/error.ts";
import {
  type ActiveHello,
  type ActiveJobFinished,
  type PassiveHello,
  PassiveHelloSchema,
  PassiveParty,
} from "../wire/generated/tandem/v1/tandem_pb.ts";
import { type AnyCall, callsTo, everyCall, onlyOf, type Messages, streamOf } from "../wire/every-call.ts";
import { peerText } from "../wire/peer-text.ts";
import type { Answers } from "./handlers.ts";
import { heartbeatKey, heartbeats } from "./heartbeat.ts";
import { isOwnFault, toWireError } from "./wire-error.ts";

/** A PassiveRole as the transport sees it: its answer to each call. */
export interface JobAnswers extends Omit<Answers<typeof PassiveParty>, "join" | "finishJob"> {
  /** The first answer of a stream that lasts as long as the job; after it come heartbeats only. */
  join(hello: ActiveHello): MessageInitShape<typeof PassiveHelloSchema>;
  finishJob(finished: ActiveJobFinished): void;
}

/** How a job ended, from the passive party's point of view. */
export interface PassiveEnd {
  /** Null after success. */
  readonly failure: TandemError | null;
  /** The connection was lost: the active party may come back. */
  readonly isLost?: true;
}

export interface PassiveService {
  readonly routes: (router: ConnectRouter) => void;
  /** The same calls, for a server of several jobs. */
  readonly answer: AnyCall<HandlerContext>;
  /** Settles when the active party finishes the job, gives up, or is lost. */
  readonly ended: Promise<PassiveEnd>;
  /** Whether the active party has joined. */
  readonly hasBegun: boolean;
  /** Whether a call is being answered. */
  readonly isWorking: boolean;
  /** Ends the attempt from this side: another connection has replaced it. */
  end(failure: TandemError): void;
}

/** What must be stored before the active party gets its answer. */
export interface ServiceStorage {
  /** The job has begun or resumed. */
  begin(): Promise<void>;
  /** The job has succeeded: stores the party's share. */
  finish(): Promise<void>;
}

const nothingStored: ServiceStorage = { begin: () => Promise.resolve(), finish: () => Promise.resolve() };

/** @param around a wrapper of the role's calls, which records them */
export function passiveService(
  role: JobAnswers,
  storage: ServiceStorage = nothingStored,
  around: (answer: AnyCall<HandlerContext>) => AnyCall<HandlerContext> = (answer) => answer,
): PassiveService {
  const inner = around(callsTo(role));
  let end: (how: PassiveEnd) => void = () => {};
  const ended = new Promise<PassiveEnd>((resolve) => (end = resolve));
  /** Set before `ended` settles: the active party closes the connection as soon as it has its answer. */
  let verdict: PassiveEnd | null = null;
  /** A failure of our own workers: the reason if the active party leaves. */
  let trouble: PassiveEnd | null = null;
  let hasBegun = false;
  let openJoins = 0;
  /** Open calls, without the join. */
  let openCalls = 0;
  const endAfterAnswer = (how: PassiveEnd): void => {
    verdict ??= how;
    setImmediate(() => end(how)); // the caller that awaits the end may close the server
  };

  async function* join(hello: ActiveHello, context: HandlerContext): AsyncGenerator<PassiveHello> {
    const first = await onlyOf(inner(PassiveParty.method.join, streamOf(hello), context));
    const answer = create(PassiveHelloSchema, first as MessageInitShape<typeof PassiveHelloSchema>);
    await storage.begin();
    hasBegun = true;
    openJoins++;
    const gone = new Promise<void>((resolve) =>
      context.signal.addEventListener("abort", () => resolve(), { once: true }),
    );
    try {
      yield answer;
      if (context.signal.aborted) return;
      const beats = heartbeats(context.values.get(heartbeatKey), () => openCalls > 0, Promise.race([gone, ended]));
      while ((await beats.next()).done !== true) yield create(PassiveHelloSchema, { working: true });
    } finally {
      // However the stream ends, even while the answer is being sent: without it there is no job.
      const name = peerText(hello.activeName);
      const failure = new TandemError(
        "PARTY_LOST",
        `the active party ${name} is gone: its connection closed in the middle of the job`,
      );
      // A repeated join is open twice.
      if (--openJoins === 0) end(verdict ?? { ...(trouble ?? { failure }), isLost: true });
    }
  }

  /** The peer learns only that there was an internal error; the job ends here with its details. */
  const onError = (error: unknown, { signal }: HandlerContext): ConnectError => {
    if (isOwnFault(error) && !signal.aborted) {
      const failure =
        error instanceof TandemError ? error : new TandemError("INTERNAL", String(error), { cause: error });
      endAfterAnswer({ failure });
    }
    if (error instanceof TandemError && isCrewTrouble(error.code)) trouble ??= { failure: error };
    return toWireError(error);
  };

  const stored = async (): Promise<void> => {
    try {
      await storage.finish();
    } catch (cause) {
      endAfterAnswer({
        failure: cause instanceof TandemError ? cause : new TandemError("INTERNAL", String(cause), { cause }),
      });
      throw new TandemError("FILE_UNWRITABLE", "the party cannot store its share of the model; its own log says why", {
        cause,
      });
    }
  };

  async function* finishJob(finished: ActiveJobFinished, context: HandlerContext): AsyncGenerator {
    const answer = await onlyOf(inner(PassiveParty.method.finishJob, streamOf(finished), context));
    if (finished.failure === "") await stored();
    endAfterAnswer({
      failure:
        finished.failure === ""
          ? null
          : new TandemError("PARTY_LOST", `the active party gave up: ${peerText(finished.failure)}`),
    });
    yield answer;
  }

  const answer: AnyCall<HandlerContext> = async function* (method, requests, context) {
    const { join: joining, finishJob: finishing } = PassiveParty.method;
    const isJoin = method === joining;
    if (!isJoin) openCalls++;
    try {
      if (isJoin) yield* join(await onlyOf(requests as Messages<ActiveHello>), context);
      else if (method === finishing) yield* finishJob(await onlyOf(requests as Messages<ActiveJobFinished>), context);
      else yield* inner(method, requests, context);
    } catch (error) {
      throw onError(error, context);
    } finally {
      if (!isJoin) openCalls--;
    }
  };
  return {
    routes: (router) => void router.service(PassiveParty, everyCall(PassiveParty, answer)),
    answer,
    ended,
    get hasBegun() {
      return hasBegun;
    },
    get isWorking() {
      return openCalls > 0;
    },
    end: (failure) => end({ failure }),
  };
}
