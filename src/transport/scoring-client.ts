/** A ScoringPeer over any Connect transport. */
import { Code, ConnectError, createClient, type Transport } from "@connectrpc/connect";
import { TandemError } from "../base/error.ts";
import { Scoring } from "../wire/generated/tandem/v1/scoring_pb.ts";
import type { ScoringPeer } from "../wire/scoring-peer.ts";
import { protocolVersion } from "../wire/version.ts";
import { reached } from "./wire-error.ts";

/** @param onSilence called when a call ran out of time: a connection that leads nowhere looks like that */
export function scoringPeerOver(name: string, transport: Transport, onSilence: () => void = () => {}): ScoringPeer {
  const client = createClient(Scoring, transport);
  return {
    name,
    async score({ model, ids, unknownAsMissing }, { timeoutMs }) {
      try {
        return await reached(name, () =>
          client.score(
            { protocolVersion, model, ids: [...ids], unknownAsMissing },
            { timeoutMs: Math.max(1, Math.ceil(timeoutMs)) },
          ),
        );
      } catch (error) {
        if (!isSilence(error)) throw named(name, error);
        onSilence();
        throw new TandemError("PARTY_LOST", `party ${name} did not answer in time`, { cause: error });
      }
    },
  };
}

function isSilence(error: unknown): boolean {
  return (
    error instanceof TandemError && error.cause instanceof ConnectError && error.cause.code === Code.DeadlineExceeded
  );
}

/** An error that says which party it is about. */
function named(name: string, error: unknown): unknown {
  if (!(error instanceof TandemError) || error.message.includes(name)) return error;
  return new TandemError(error.code, `party ${name}: ${error.message}`, { cause: error });
}
