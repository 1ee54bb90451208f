/** A PassiveRole behind the service of proto/: translation of calls and errors, and the life of the connection. */
import { create } from "@bufbuild/protobuf";
import type { ConnectRouter, HandlerContext } from "@connectrpc/connect";
import { TandemError } from "../base/error.ts";
import type { ActiveHello, PassiveHello } from "../protocol/generated/tandem/v1/tandem_pb.ts";
import { PassiveHelloSchema, PassiveParty } from "../protocol/generated/tandem/v1/tandem_pb.ts";
import type { PassiveRole } from "../protocol/passive-role.ts";
import { toWireError } from "./wire-error.ts";

/** How a job ended, from the passive party's point of view. */
export interface PassiveEnd {
  /** Null after success. */
  readonly failure: TandemError | null;
}

export interface PassiveService {
  readonly routes: (router: ConnectRouter) => void;
  /** Settles when the active party finishes the job, gives up, or is gone. */
  readonly ended: Promise<PassiveEnd>;
}

export function passiveService(role: PassiveRole): PassiveService {
  let end: (how: PassiveEnd) => void = () => {};
  const ended = new Promise<PassiveEnd>((resolve) => (end = resolve));

  async function* join(hello: ActiveHello, context: HandlerContext): AsyncGenerator<PassiveHello> {
    yield create(PassiveHelloSchema, role.join(hello));
    const gone = new Promise<void>((resolve) => context.signal.addEventListener("abort", () => resolve(), { once: true }));
    await Promise.race([gone, ended]);
    end({ failure: new TandemError("PARTY_LOST", `the active party ${hello.activeName} is gone: its connection closed in the middle of the job`) });
  }

  const routes = (router: ConnectRouter): void => {
    router.service(PassiveParty, {
      join: (hello, context) => wiredStream(() => join(hello, context)),
      setUp: (request) => wired(async () => role.setUp(request)),
      gradients: (chunks) => wired(() => role.gradients(chunks).then(() => ({}))),
      histograms: (nodes) => wiredStream(() => role.histograms(nodes)),
      splits: (decisions) => wiredStream(() => role.splits(decisions)),
      finishTree: (request) => wired(async () => (role.finishTree(request), {})),
      predict: (request) => wiredStream(() => role.predict(request)),
      finishJob: (request) =>
        wired(async () => {
          const failure = request.failure === "" ? null : new TandemError("PARTY_LOST", `the active party gave up: ${request.failure}`);
          // The answer goes out first: whoever waits for the end may close the server.
          setImmediate(() => end({ failure }));
          return {};
        }),
    });
  };
  return { routes, ended };
}

async function wired<T>(handle: () => Promise<T>): Promise<T> {
  try {
    return await handle();
  } catch (error) {
    throw toWireError(error);
  }
}

async function* wiredStream<T>(handle: () => AsyncIterable<T>): AsyncGenerator<T> {
  try {
    yield* handle();
  } catch (error) {
    throw toWireError(error);
  }
}
