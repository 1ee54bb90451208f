/** A ScoringPeer over any Connect transport. */
import { Code, ConnectError, type Transport } from "@connectrpc/connect";
import { TandemError } from "../base/error.ts";
import { Scoring } from "../wire/generated/tandem/v1/scoring_pb.ts";
import type { ScoringPeer } from "../wire/scoring-peer.ts";
import { protocolVersion } from "../wire/version.ts";
import { translatedClient } from "./translated-client.ts";

/** @param onSilence called when a call ran out of time: a connection that leads nowhere looks like that */
export function scoringPeerOver(name: string, transport: Transport, onSilence: () => void = () => {}): ScoringPeer {
  const client = translatedClient(Scoring, name, transport, { opening: "score", isNaming: true });
  return {
    name,
    async score({ model, ids, unknownAsMissing }, { timeoutMs }) {
      try {
        return await client.score(
          { protocolVersion, model, ids: [...ids], unknownAsMissing },
          { timeoutMs: Math.max(1, Math.ceil(timeoutMs)) },
        );
      } catch (error) {
        if (!isSilence(error)) throw error;
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
