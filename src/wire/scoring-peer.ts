/** A passive party as whoever scores sees it: the service Scoring of proto/, as one method. */
import type { PassiveOutcomes } from "./generated/tandem/v1/scoring_pb.ts";

export interface ScoringRequest {
  readonly model: string;
  readonly ids: readonly string[];
  readonly unknownAsMissing: boolean;
}

export interface ScoringPeer {
  readonly name: string;
  /** @throws TandemError; PARTY_LOST means that asking again may help */
  score(request: ScoringRequest, options: { readonly timeoutMs: number }): Promise<PassiveOutcomes>;
}
