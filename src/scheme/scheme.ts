/**
 * The seam between the protocol and a cipher. The protocol asks a scheme for candidate sums, never for additions; the
 * two halves of a scheme exchange four kinds of message (set-up, tree, node, answer), which are the `oneof scheme`
 * fields of proto/. Nothing outside a scheme assumes that gradients travel per tree, or that a passive party knows who
 * is in a node.
 */
import type { QuantisedGradients } from "../base/quantised-gradients.ts";
import type { GradientLayout } from "../codec/layout.ts";
import type { BinnedFeature } from "../gbdt/split/binning.ts";
import type { PlannedCandidate } from "./candidates/candidate-plan.ts";
import type { CategoryGroup } from "./candidates/category-group.ts";
import type { ColumnSampler } from "../gbdt/boost/column-sampling.ts";
import type { Minimums } from "../gbdt/split/offered-candidates.ts";
import type {
  ActiveGradients,
  ActiveNode,
  ActiveSetUp,
  CategorySet as CategorySetMessage,
  PassiveHistograms,
} from "../wire/generated/tandem/v1/tandem_pb.ts";

export type SchemeSetUp = ActiveSetUp["scheme"];
export type SchemeTree = ActiveGradients["scheme"];
export type SchemeNode = ActiveNode["scheme"];
export type SchemeAnswer = PassiveHistograms["scheme"];

/** What has been computed so far; every party counts its own work. */
export interface OperationCounts {
  encryptions: number;
  additions: number;
  decryptions: number;
  gradientCiphertexts: number;
  candidateCiphertexts: number;
}

export function noOperations(): OperationCounts {
  return { encryptions: 0, additions: 0, decryptions: 0, gradientCiphertexts: 0, candidateCiphertexts: 0 };
}

/** A node as the active party describes it to a scheme. */
export interface NodeDescription {
  readonly node: number;
  /** Null for the root. */
  readonly origin: { readonly parent: number; readonly sibling: number; readonly members: Uint8Array } | null;
}

export interface ActiveScheme {
  readonly name: string;
  readonly keyBits: number;
  readonly ciphertextBytes: number;
  readonly counts: OperationCounts;
  /** Bits that one plaintext can hold. */
  readonly plaintextBitsMax: number;
  setUp(layout: GradientLayout): SchemeSetUp;
  /**
   * The tree's gradients as chunks, each the same for every passive party.
   * @param sample the instances that the tree learns from; null: all
   */
  tree(layout: GradientLayout, gradients: QuantisedGradients, sample: Uint32Array | null): AsyncIterable<SchemeTree>;
  /** Gradients of another tree will follow: what can be made ahead of them may be made while cores are idle. */
  expectTree(layout: GradientLayout, instanceCount: number): void;
  node(description: NodeDescription): SchemeNode;
  /** Slot sums of consecutive candidates, slot by slot (stride: number of slots). */
  sums(layout: GradientLayout, answer: SchemeAnswer, counts: readonly number[]): Promise<Float64Array>;
  /** Nothing more is wanted: what is being made ahead is for nobody. */
  close(): void;
}

/** One piece of a node's answer: consecutive candidates in the tree's secret order. */
export interface NodeAnswer {
  readonly node: number;
  readonly firstCandidate: number;
  /** Of this node. */
  readonly candidateCount: number;
  readonly counts: Uint32Array;
  /** What monotone constraints ask of the summed sides (SideOrder). */
  readonly orders: Int8Array;
  /** Bitmap over these candidates; empty if none is withheld. */
  readonly withheld: Uint8Array;
  /** Of the node, in its first piece; empty in the others. */
  readonly groups: readonly CategoryGroup[];
  readonly scheme: SchemeAnswer;
}

export interface PassiveScheme {
  readonly name: string;
  readonly counts: OperationCounts;
  /** Once per job. Messages come from the wire: a scheme checks them. Returns the number of candidates. */
  setUp(message: SchemeSetUp, job: PassiveSchemeJob): number;
  /** Once per round, before its chunks arrive; `tree` is the round's first. */
  beginTree(tree: number): void;
  /** Another tree of the same gradients. */
  nextTree(tree: number): void;
  tree(message: SchemeTree): Promise<void>;
  /** Once per round, after the last chunk. */
  endOfGradients(): void;
  node(node: number, message: SchemeNode): AsyncIterable<NodeAnswer>;
  /** Once per round, when nothing more is asked of it. */
  endTree(): void;
  /** Nothing more is wanted: what is being made ahead is for nobody. */
  close(): void;
  /** The instances that this party may know to be in a node. */
  members(node: number): Uint32Array;
  /**
   * A node's candidate at a position of the secret order. @throws TandemError PROTOCOL_STATE if it does not exist or is
   * withheld
   */
  candidateAt(node: number, position: number): PlannedCandidate & { readonly rank: number };
  /**
   * A set of categories of one of a node's groups. @throws TandemError PROTOCOL_STATE if there is no such set, or
   * something of it is withheld
   */
  setAt(node: number, set: CategorySetMessage): PlannedCandidate & { readonly rank: number };
}

export interface PassiveSchemeJob {
  readonly features: readonly BinnedFeature[];
  readonly instanceCount: number;
  readonly keyBits: number;
  /** 0: no limit but maxLeaves. */
  readonly maxDepth: number;
  /** 0: no limit but maxDepth. */
  readonly maxLeaves: number;
  readonly treesPerRound: number;
  /** From which the order of candidates is derived. */
  readonly permutationSecret: Uint8Array;
  /** Which features may split a node; null: all. */
  readonly sampler: ColumnSampler | null;
  /** What must be offered at least, or is withheld. */
  readonly minimums: Minimums;
}
