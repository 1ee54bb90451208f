/** A ScoringPeer over any Connect transport. */
import { Code, ConnectError, createClient, type Transport } from "@connectrpc/connect";
import { TandemError } from "../base/error.ts";
import { Scoring } from "../protocol/generated/tandem/v1/scoring_pb.ts";
import type { ScoringPeer } from "../protocol/scoring-peer.ts";
import { protocolVersion } from "../protocol/version.ts";
import { reached } from "./wire-error.ts";

export function scoringPeerOver(name: string, transport: Transport): ScoringPeer {
  const client = createClient(Scoring, transport);
  return {
    name,
    async score({ model, ids, unknownAsMissing }, { timeoutMs }) {
      try {
        return await reached(name, () => client.score({ protocolVersion, model, ids: [...ids], unknownAsMissing }, { timeoutMs: Math.max(1, Math.ceil(timeoutMs)) }));
      } catch (error) {
        throw named(name, error);
      }
    },
  };
}

/** An error that says which party it is about, and a time-out that says so. */
function named(name: string, error: unknown): unknown {
  if (!(error instanceof TandemError)) return error;
  if (error.cause instanceof ConnectError && error.cause.code === Code.DeadlineExceeded) return new TandemError("PARTY_LOST", `party ${name} did not answer in time`, { cause: error });
  return error.message.includes(name) ? error : new TandemError(error.code, `party ${name}: ${error.message}`, { cause: error });
}
