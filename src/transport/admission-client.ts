/** Asks a passive party over any Connect transport whether a job may begin. */
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { Transport } from "@connectrpc/connect";
import {
  type ActiveRequestSchema,
  Admission,
  type PassiveAdmission,
} from "../wire/generated/tandem/v1/admission_pb.ts";
import { protocolVersion } from "../wire/version.ts";
import { clientOver } from "./client.ts";
import type { PeerOptions } from "./peer-client.ts";

export type JobRequest = Omit<MessageInitShape<typeof ActiveRequestSchema>, "$typeName" | "protocolVersion">;

/** Yields where the job stands until it may begin. */
export type RequestJob = (request: JobRequest) => AsyncIterable<PassiveAdmission>;

export function requestOver(name: string, transport: Transport, options: PeerOptions = {}): RequestJob {
  const client = clientOver(Admission, name, transport, { opening: "request", ...options });
  return async function* (request) {
    for await (const answer of client.request({ ...request, protocolVersion }, {})) {
      // However long a job waits: a party that says so is not silent.
      options.watch?.taken();
      yield answer;
    }
  };
}
