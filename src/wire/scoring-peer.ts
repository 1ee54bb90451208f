/** A passive party as the scoring party sees it: the service Scoring of proto/. */
import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  ActiveMaskOpenSchema,
  ActiveMaskStepSchema,
  PassiveMaskOpened,
  PassiveMaskStep,
} from "./generated/tandem/v1/masked_pb.ts";
import type {
  ActiveContributionsSchema,
  PassiveContributions,
  PassiveOutcomes,
  PassiveTags,
} from "./generated/tandem/v1/scoring_pb.ts";

export interface ScoringRequest {
  readonly model: string;
  readonly ids: readonly string[];
  readonly unknownAsMissing: boolean;
}

interface Patience {
  readonly timeoutMs: number;
}

export interface ScoringPeer {
  readonly name: string;
  /** @throws TandemError; PARTY_LOST means that a retry may help */
  score(request: ScoringRequest, options: Patience): Promise<PassiveOutcomes>;
  /** Masked scoring (masked.proto); throws the same. */
  maskOpen(request: MessageInitShape<typeof ActiveMaskOpenSchema>, options: Patience): Promise<PassiveMaskOpened>;
  maskStep(request: MessageInitShape<typeof ActiveMaskStepSchema>, options: Patience): Promise<PassiveMaskStep>;
  /** Explanations; throws the same. */
  tags(model: string, options: Patience): Promise<PassiveTags>;
  contributions(
    request: MessageInitShape<typeof ActiveContributionsSchema>,
    options: Patience,
  ): Promise<PassiveContributions>;
}
