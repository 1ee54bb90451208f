/**
 * The part of a passive party's answers that depends on the training protocol: one implementation for members that are
 * sent (protocol/sent/passive.ts), one for members that are hidden (protocol/hidden/passive.ts). The role chooses one
 * by its scheme.
 */
import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  ActiveGradients,
  ActiveHiddenSplits,
  ActiveMaximum,
  ActiveMaximumKeys,
  ActiveNode,
  ActiveOutcomeKeys,
  ActiveSetUp,
  ActiveSplitDecisions,
  PassiveHintsSchema,
  PassiveMaximumKeysSchema,
  PassiveMaximumSchema,
  PassiveOutcomeKeysSchema,
  PassiveSplitSchema,
} from "../../wire/generated/tandem/v1/tandem_pb.ts";
import type { SumsAnswer } from "./histogram-answer.ts";

export interface PassiveMembership {
  /** The handshake message of the scheme's passive half; empty: none. */
  readonly greeting: Uint8Array;
  /** The calls that only one of the two protocols has. */
  readonly calls: ProtocolCalls;
  /** Answers link candidates across trees, so with column sampling they show which columns were drawn together. */
  readonly showsDrawnColumns: boolean;
  /**
   * Sets up the scheme, and the trees of the attempt.
   * @param jobId of the hello
   * @throws TandemError PROTOCOL_STATE; nothing is changed then
   */
  setUp(message: ActiveSetUp, jobId: Uint8Array): Promise<SetUpOutcome>;
  /**
   * The answer about a node.
   * @param rest the further messages of the call, where a node takes several
   * @param begun called when the node's tree has begun
   * @param computed called when the sums are computed and only storing is left, so that the next node can start
   */
  answer(
    request: ActiveNode,
    rest: AsyncIterator<ActiveNode>,
    begun: () => void,
    computed: () => void,
  ): Promise<readonly SumsAnswer[]>;
  /** Settles when no answer is being computed or stored. */
  idle(): Promise<unknown>;
  /** The tree is about to finish. @throws TandemError PROTOCOL_STATE unless it has begun, or may begin now */
  beforeFinish(tree: number): Promise<void>;
  /** Another tree of the same round begins. */
  nextTree(tree: number): void;
  /** A tree is stored. */
  treeEnded(isLastOfRound: boolean): void;
}

export interface SetUpOutcome {
  /** What must be the same in every attempt at the job. */
  readonly lasting: Uint8Array;
  /** Minimum number of instances of a requested node; 0: the party counts them itself. */
  readonly nodeMinimum: number;
  /** Called when the set-up is accepted. */
  accept(digest: string): void;
}

export interface ProtocolCalls {
  gradients?(chunks: AsyncIterable<ActiveGradients>): Promise<void>;
  hints?(): AsyncGenerator<MessageInitShape<typeof PassiveHintsSchema>>;
  splits?(request: ActiveSplitDecisions): AsyncGenerator<MessageInitShape<typeof PassiveSplitSchema>>;
  outcomeKeys?(keys: ActiveOutcomeKeys): Promise<MessageInitShape<typeof PassiveOutcomeKeysSchema>>;
  maximumKeys?(keys: ActiveMaximumKeys): Promise<MessageInitShape<typeof PassiveMaximumKeysSchema>>;
  maximum?(messages: AsyncIterable<ActiveMaximum>): AsyncGenerator<MessageInitShape<typeof PassiveMaximumSchema>>;
  hiddenSplits?(
    messages: AsyncIterable<ActiveHiddenSplits>,
  ): AsyncGenerator<MessageInitShape<typeof PassiveSplitSchema>>;
}
