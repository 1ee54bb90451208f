/**
 * Requests a job from every passive party, and waits until all of them let it begin. Where there are several, each is
 * first asked to approve the job, all at the same time: no place is reserved while a person decides. Places are taken
 * one after the other, in the order of their fingerprints, which is the same at all active parties: if two jobs took
 * places in different orders, each could wait for what the other holds.
 */
import type { MessageInitShape } from "@bufbuild/protobuf";
import { TandemError } from "../../base/error.ts";
import { type AgreedParameters, proposedParameters } from "../../protocol/job-parameters.ts";
import type { Emit } from "../../record/events.ts";
import type { JobRequest } from "../../transport/admission-client.ts";
import type { JobParametersSchema } from "../../wire/generated/tandem/v1/tandem_pb.ts";
import { peerText } from "../../wire/peer-text.ts";
import type { ActiveConfig } from "../config/config.ts";
import type { ConnectedPeer } from "./world.ts";

export interface RequestOptions {
  readonly config: Pick<ActiveConfig, "name" | "job" | "passives">;
  readonly emit: Emit;
  /** A party is there, and lets the job wait. */
  readonly onWaiting?: () => void;
  /** The job begins to wait for approval, or is refused. */
  readonly onRequested?: (isWaiting: boolean) => Promise<void> | undefined;
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
  try {
    if (peers.length > 1)
      await Promise.all(peers.map((peer) => requestFrom(peer, { ...request, approvalOnly: true }, options)));
    for (const peer of ordered) await requestFrom(peer, request, options);
  } catch (error) {
    if (error instanceof TandemError && error.code === "POLICY") await options.onRequested?.(false);
    throw error;
  }
}

async function requestFrom(
  peer: ConnectedPeer,
  request: JobRequest,
  { config, emit, onWaiting, onRequested }: RequestOptions,
): Promise<void> {
  const { name, job } = config;
  const about = { party: name, job: job.name, peer: peer.name };
  let before = { place: 0, waiting: 0, request: "" };
  for await (const now of peer.request(request)) {
    const { place } = now;
    const waiting = place === 0 ? 0 : now.waiting;
    const isNew = place !== before.place || waiting !== before.waiting;
    const awaited = peerText(now.request);
    if (awaited !== "" && awaited !== before.request) {
      await onRequested?.(true);
      emit({ type: "approval-awaited", ...about, request: awaited });
    }
    if (awaited === "" && before.request !== "") emit({ type: "approval-given", ...about, request: before.request });
    if (awaited === "" && isNew) emit({ type: "queued", ...about, place, waiting: now.waiting });
    before = { place, waiting, request: awaited };
    if (place === 0 && awaited === "") return;
    onWaiting?.();
  }
  throw new TandemError("PARTY_LOST", `party ${peer.name} is gone: it no longer says where the job stands`);
}

type RequestedConfig = Pick<ActiveConfig, "align" | "data" | "purpose">;

/**
 * @param rowCount this party's rows
 * @param work what the job trains, in the words of proto/
 * @param jobId of a job that has begun; empty: a new one
 */
export function jobRequest(
  config: RequestedConfig,
  agreed: AgreedParameters,
  rowCount: number,
  work: string,
  jobId: Uint8Array,
): JobRequest {
  const parameters: MessageInitShape<typeof JobParametersSchema> = proposedParameters(agreed);
  return { ...asked(config), parameters, rowCount, work, jobId, aligned: config.align };
}

/** For an alignment without a job. */
export function alignmentRequest(config: RequestedConfig, job: string, rowCount: number): JobRequest {
  return { ...asked(config), parameters: { job }, rowCount, alignmentOnly: true, aligned: true };
}

function asked({ data, purpose }: RequestedConfig): Pick<JobRequest, "purpose" | "normalisations" | "validationFile"> {
  const { normalise: normalisations, validation_path: validationPath } = data;
  return { purpose: purpose ?? "", normalisations: [...normalisations], validationFile: validationPath !== undefined };
}
