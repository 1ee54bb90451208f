/**
 * Requests a job from every passive party, and waits until all of them let it begin. They are asked one after the
 * other, in the order of their fingerprints, which is the same at all active parties: if two jobs took places in
 * different orders, each could wait for what the other holds.
 */
import type { MessageInitShape } from "@bufbuild/protobuf";
import { TandemError } from "../../base/error.ts";
import { type AgreedParameters, proposedParameters } from "../../protocol/job-parameters.ts";
import type { Emit } from "../../record/events.ts";
import type { JobRequest } from "../../transport/admission-client.ts";
import type { JobParametersSchema } from "../../wire/generated/tandem/v1/tandem_pb.ts";
import type { ActiveConfig } from "../config/config.ts";
import type { ConnectedPeer } from "./world.ts";

export interface RequestOptions {
  readonly config: Pick<ActiveConfig, "name" | "job" | "passives">;
  readonly emit: Emit;
  /** A party is there, and lets the job wait. */
  readonly onWaiting?: () => void;
}

/** @throws TandemError if a party refuses the job, or is lost */
export async function requestJob(
  peers: readonly ConnectedPeer[],
  request: JobRequest,
  options: RequestOptions,
): Promise<void> {
  const { passives } = options.config;
  const pinOf = ({ name }: ConnectedPeer): string => passives.find((each) => each.name === name)?.fingerprint[0] ?? "";
  const ordered = peers.toSorted((a, b) => (pinOf(a) < pinOf(b) ? -1 : 1));
  for (const peer of ordered) await requestFrom(peer, request, options);
}

async function requestFrom(
  peer: ConnectedPeer,
  request: JobRequest,
  { config, emit, onWaiting }: RequestOptions,
): Promise<void> {
  const { name, job } = config;
  let said = "0/0";
  for await (const { place, waiting } of peer.request(request)) {
    const saying = `${place}/${place === 0 ? 0 : waiting}`;
    if (saying !== said) emit({ type: "queued", party: name, job: job.name, peer: peer.name, place, waiting });
    said = saying;
    if (place === 0) return;
    onWaiting?.();
  }
  throw new TandemError("PARTY_LOST", `party ${peer.name} is gone: it no longer says where the job stands`);
}

/** @param rowCount this party's rows */
export function jobRequest(agreed: AgreedParameters, rowCount: number): JobRequest {
  const parameters: MessageInitShape<typeof JobParametersSchema> = proposedParameters(agreed);
  return { parameters, rowCount };
}

/** For an alignment without a job. */
export function alignmentRequest(job: string, rowCount: number): JobRequest {
  return { parameters: { job }, rowCount, alignmentOnly: true };
}
