/** A ScoringPeer over any Connect transport. */
import { type CallOptions, Code, ConnectError, type Transport } from "@connectrpc/connect";
import { TandemError } from "../base/error.ts";
import { Scoring } from "../wire/generated/tandem/v1/scoring_pb.ts";
import type { ScoringPeer } from "../wire/scoring-peer.ts";
import { protocolVersion } from "../wire/version.ts";
import { clientOver } from "./client.ts";
import type { PeerOptions } from "./peer-client.ts";

/** @param onSilence called when a call timed out: the connection may be dead */
export function scoringPeerOver(
  name: string,
  transport: Transport,
  options: Pick<PeerOptions, "at" | "refusal"> = {},
  onSilence: () => void = () => {},
): ScoringPeer {
  const client = clientOver(Scoring, name, transport, {
    ...options,
    opening: ["score", "maskOpen", "tags"],
    isNaming: true,
  });
  const within = async <T>(timeoutMs: number, call: (options: CallOptions) => Promise<T>): Promise<T> => {
    try {
      return await call({ timeoutMs: Math.max(1, Math.ceil(timeoutMs)) });
    } catch (error) {
      if (!isSilence(error)) throw error;
      onSilence();
      throw new TandemError("PARTY_LOST", `party ${name} did not answer in time`, { cause: error });
    }
  };
  return {
    name,
    score: ({ model, ids, unknownAsMissing }, { timeoutMs }) =>
      within(timeoutMs, (options) =>
        client.score({ protocolVersion, model, ids: [...ids], unknownAsMissing }, options),
      ),
    maskOpen: (request, { timeoutMs }) => within(timeoutMs, (options) => client.maskOpen(request, options)),
    maskStep: (request, { timeoutMs }) => within(timeoutMs, (options) => client.maskStep(request, options)),
    tags: (model, { timeoutMs }) => within(timeoutMs, (options) => client.tags({ protocolVersion, model }, options)),
    contributions: (request, { timeoutMs }) =>
      within(timeoutMs, (options) => client.contributions({ ...request, protocolVersion }, options)),
  };
}

function isSilence(error: unknown): boolean {
  return (
    error instanceof TandemError && error.cause instanceof ConnectError && error.cause.code === Code.DeadlineExceeded
  );
}
