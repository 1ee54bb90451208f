/**
 * The two halves of a scheme whose gradients are encrypted once per round: passive parties are sent the members of each
 * node, and sum the ciphertexts that they hold.
 */
import type { QuantisedGradients } from "../base/gradients/quantised-gradients.ts";
import type { GradientLayout } from "../codec/layout.ts";
import type { BinColumns } from "./blocks/block.ts";
import type { SentTask } from "./candidates/node-task.ts";
import type { SentNodes } from "./candidates/sent-nodes.ts";
import type { ActiveHalf, GradientChunk, GradientRecipe, PassiveHalf, PassiveTerms, SumsPiece } from "./scheme.ts";

/** The active party's half: it encrypts a round's gradients, and decrypts sums. */
export interface SentActive extends ActiveHalf {
  readonly membership: "sent";
  /** Once per attempt: the same message for all passive parties. */
  setUp(job: { readonly layout: GradientLayout }): Promise<Uint8Array>;
  /**
   * The round's gradients as chunks, each the same for every passive party.
   * @param sample the instances that the round learns from; null: all
   */
  gradients(
    layout: GradientLayout,
    gradients: QuantisedGradients,
    sample: Uint32Array | null,
  ): AsyncIterable<GradientChunk>;
  /** Gradients of another round will follow: what can be made ahead of them may be made while cores are idle. */
  expectRound?(layout: GradientLayout, instanceCount: number): void;
}

/** A passive party's half: it holds a round's ciphertexts, and sums them. */
export interface SentPassive extends PassiveHalf {
  readonly membership: "sent";
  /** Once per attempt. What it refuses changes nothing. @returns what must be the same in every attempt at the job */
  setUp(message: Uint8Array, job: SentPassiveJob): Promise<Uint8Array>;
  /** Once per round, before its chunks: the round's first tree, whose sample is known. */
  beginRound(tree: SentNodes): void;
  /** Another tree of the same gradients; left out: it makes no difference. */
  nextTree?(tree: SentNodes): void;
  /** @returns how many ciphertexts it holds */
  gradients(message: Uint8Array): Promise<number>;
  /** Once per round, after the last chunk. @throws TandemError PROTOCOL_STATE if some are missing */
  endOfGradients(): void | Promise<void>;
  /**
   * The sums of a node's candidates, with the task's noise; of those that are withheld a sum over no instance.
   * @param summed called, if ever, when the next node may be asked for: others can sum it while this one is finished
   */
  sums(task: SentTask, summed?: () => void): AsyncIterable<SumsPiece>;
  /** Once per round, when nothing more is asked of it; left out: nothing is held that could be freed. */
  endRound?(): void;
}

/** What a passive half knows of a job. */
export interface SentPassiveJob extends PassiveTerms {
  readonly candidateCount: number;
  /** Of all instances of the job. */
  readonly columns: BinColumns;
  /** Nodes that may be asked for in one tree, and trees of one round. */
  readonly nodesAskedMax: number;
  readonly treesPerRound: number;
  /** A sum may come back in a ciphertext of its own. */
  readonly allowsUnpacked: boolean;
}

/** What a round of a replay began with. */
export interface ReplayedRound {
  readonly layout: GradientLayout;
  readonly gradients: QuantisedGradients;
  readonly sample: Uint32Array | null;
}

/** Both halves of a scheme without its cipher, and what compares them with ciphertexts of the job itself. */
export interface SchemeReplay {
  readonly active: SentActive & { readonly round: ReplayedRound | null };
  passive(): SentPassive;
  /** Whether a set-up message is what the active party had to send. */
  isSetUp(message: Uint8Array, layout: GradientLayout): Promise<boolean>;
  /** The messages of a round's gradients, made again. */
  remade(
    layout: GradientLayout,
    gradients: QuantisedGradients,
    sample: Uint32Array | null,
    recipe: GradientRecipe,
  ): AsyncIterable<Uint8Array>;
  /** What a piece of an answer holds. @param counts as SentActive.sums takes them */
  opened(layout: GradientLayout, message: Uint8Array, counts: readonly number[]): Promise<Float64Array>;
  close(): void;
}
