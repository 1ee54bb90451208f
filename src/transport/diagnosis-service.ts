/** Answers the probes of partners: versions, names, the clock, and bytes. */
import type { ConnectRouter } from "@connectrpc/connect";
import { TandemError } from "../base/error.ts";
import { programVersion } from "../base/program-version.ts";
import { Diagnosis } from "../wire/generated/tandem/v1/diagnosis_pb.ts";
import { messageBytesMax, protocolVersion } from "../wire/version.ts";
import { type Caller, callerOf } from "./caller.ts";
import { toHandlers } from "./handlers.ts";

/** Room for the other fields of an answer. */
export const probeBytesMax = messageBytesMax - 4096;

export interface ProbedParty {
  readonly name: string;
  /** @throws TandemError if a job with this training would be refused for the party's table */
  checkTable(training: { readonly enableCategorical: boolean }, caller: Caller): Promise<void>;
}

export function diagnosisRoutes({ name, checkTable }: ProbedParty): (router: ConnectRouter) => void {
  const handlers = toHandlers(Diagnosis, {
    probe: async ({ protocolVersion: theirs, answerBytes, training }, context) => {
      if (answerBytes > probeBytesMax)
        throw new TandemError("PROTOCOL_STATE", `a probe asks for more than ${probeBytesMax} bytes`);
      // A probe of another version is answered too: its sender then reports both versions.
      if (training !== undefined && theirs === protocolVersion) await checkTable(training, callerOf(context));
      return {
        protocolVersion,
        release: programVersion(),
        name,
        caller: callerOf(context).name,
        clockMs: Date.now(),
        data: new Uint8Array(answerBytes),
      };
    },
  });
  return (router) => void router.service(Diagnosis, handlers);
}
