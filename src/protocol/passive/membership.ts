/**
 * What of a passive party's answers depends on the training protocol: one implementation for members that are sent
 * (protocol/sent/passive.ts), one for members that are hidden (protocol/hidden/passive.ts). The role chooses one by its
 * scheme and takes messages in their order.
 */
import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  ActiveGradients,
  ActiveHiddenSplits,
  ActiveNode,
  ActiveOutcomeKeys,
  ActiveSetUp,
  ActiveSplitDecisions,
  PassiveHintsSchema,
  PassiveOutcomeKeysSchema,
  PassiveSplitSchema,
} from "../../wire/generated/tandem/v1/tandem_pb.ts";
import type { SumsAnswer } from "./histogram-answer.ts";

export interface PassiveMembership {
  /** What the scheme's passive half contributes at the handshake; empty: nothing. */
  readonly greeting: Uint8Array;
  /** The calls that not every job has. */
  readonly calls: ProtocolCalls;
  /** Answers link candidates over trees: where columns are sampled, they show which were drawn together. */
  readonly showsDrawnColumns: boolean;
  /**
   * Sets up the scheme, and the trees of the attempt.
   * @param jobId of the hello
   * @throws TandemError PROTOCOL_STATE; nothing is changed then
   */
  setUp(message: ActiveSetUp, jobId: Uint8Array): Promise<SetUpOutcome>;
  /**
   * The answer about a node.
   * @param rest what follows the request in its call, where a node takes several messages
   * @param begun called when the tree of the node is under way
   * @param computed called when only storing is left, or what a scheme does beside the sums of the next node
   */
  answer(
    request: ActiveNode,
    rest: AsyncIterator<ActiveNode>,
    begun: () => void,
    computed: () => void,
  ): Promise<readonly SumsAnswer[]>;
  /** Settles when no answer is being computed or stored any more. */
  idle(): Promise<unknown>;
  /** The tree is about to be finished. @throws TandemError PROTOCOL_STATE unless it is under way, or may begin now */
  beforeFinish(tree: number): Promise<void>;
  /** Another tree of the same round begins. */
  nextTree(tree: number): void;
  /** A tree is stored. */
  treeEnded(isLastOfRound: boolean): void;
}

export interface SetUpOutcome {
  /** What must be the same in every attempt at the job. */
  readonly lasting: Uint8Array;
  /** Fewer instances than these may be in no node that is asked about; 0: the party counts them itself. */
  readonly nodeMinimum: number;
  /** The set-up is accepted: what it has made is used from here on. */
  accept(digest: string): void;
}

export interface ProtocolCalls {
  gradients?(chunks: AsyncIterable<ActiveGradients>): Promise<void>;
  hints?(): AsyncGenerator<MessageInitShape<typeof PassiveHintsSchema>>;
  splits?(request: ActiveSplitDecisions): AsyncGenerator<MessageInitShape<typeof PassiveSplitSchema>>;
  outcomeKeys?(keys: ActiveOutcomeKeys): Promise<MessageInitShape<typeof PassiveOutcomeKeysSchema>>;
  hiddenSplits?(
    messages: AsyncIterable<ActiveHiddenSplits>,
  ): AsyncGenerator<MessageInitShape<typeof PassiveSplitSchema>>;
}
