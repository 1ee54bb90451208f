/**
 * The seam between the protocol and a cipher. The protocol asks a scheme for candidate sums, never for additions. What
 * the two halves of a scheme tell each other are bytes that nobody else reads: the fields `scheme` of proto/.
 *
 * Nothing outside a scheme knows its cipher: who is in a node, what is offered there and in which order is the
 * protocol's (candidates/), and a scheme is found by its name (registry.ts).
 */
import type { SpeedParameters } from "../base/parameters.ts";
import type { QuantisedGradients } from "../base/quantised-gradients.ts";
import type { LayoutTerms } from "../codec/agreed-layout.ts";
import type { GradientLayout } from "../codec/layout.ts";
import type { NodeTask } from "./candidates/node-task.ts";
import type { TreeNodes } from "./candidates/tree-nodes.ts";
import type { CostModel } from "./cost-model.ts";

/** What both sides of a job compare at the handshake: the scheme's own numbers, by name. */
export type SchemeParameters = Readonly<Record<string, number>>;

/** What a config says that only a scheme understands. */
export interface SchemeOptions {
  readonly keyBits: number;
  /** The key may be shorter than is secure. */
  readonly insecureKey: boolean;
  /** Default: as many as the machine has cores. */
  readonly threads?: number | undefined;
  readonly speed: SpeedParameters;
  /** Gradients' ciphertexts can be made again by whoever has the recipe; default: not. */
  readonly repeatable?: boolean | undefined;
}

/** What a passive party's policy asks of a scheme. */
export interface SchemeLimits {
  readonly keyBitsMin: number;
}

export interface Scheme {
  readonly name: string;
  /** What the handshake will say. @throws TandemError USAGE for options that it cannot work with */
  parameters(options: Pick<SchemeOptions, "keyBits" | "insecureKey">): SchemeParameters;
  /** What computes on this machine. */
  kernelName(): string;
  /** In a few words, for people: "a 2048-bit Paillier key". */
  describe(parameters: SchemeParameters): string;
  /** What everybody who looks at the job must be told of it; null: nothing. */
  warning(parameters: SchemeParameters): string | null;
  /** Why a passive party with these limits refuses, one phrase each; empty if it does not. */
  violations(parameters: SchemeParameters, limits: SchemeLimits): readonly string[];
  /** Bits that one plaintext can hold: what the layout of gradients is cut by, in one place too. */
  plaintextBitsMax(parameters: SchemeParameters): number;
  /** What one tree's gradients and answers are made of. */
  sizes(parameters: SchemeParameters, layout: GradientLayout, speed: SpeedParameters): SchemeSizes;
  /** The active party's secret, made anew. It may take seconds. */
  makeSecret(options: SchemeOptions): Promise<SchemeSecret>;
  /** The secret of a job that is taken up again. @throws TandemError for a text that is none */
  readSecret(text: string): Promise<SchemeSecret>;
  active(secret: SchemeSecret, options: Pick<SchemeOptions, "threads" | "speed" | "repeatable">): ActiveScheme;
  passive(options: Pick<SchemeOptions, "threads">): PassiveScheme;
  /** A job once more, for an auditor who has the secret; left out: its ciphertexts cannot be checked. */
  replay?(secret: SchemeSecret, options: Pick<SchemeOptions, "threads" | "speed">): SchemeReplay;
  /** Measures its operations on this machine. */
  costModel(options: Pick<SchemeOptions, "keyBits">): Promise<CostModel>;
}

/** Nonces of a round's gradients: a secret that they are drawn from, and which draws each chunk took. */
export interface GradientRecipe {
  readonly secret: Uint8Array;
  readonly chunks: readonly (readonly (readonly number[])[])[];
}

/** What a round of a replay began with. */
export interface ReplayedRound {
  readonly layout: GradientLayout;
  readonly gradients: QuantisedGradients;
  readonly sample: Uint32Array | null;
}

/** Both halves of a scheme without its cipher, and what compares them with ciphertexts of the job itself. */
export interface SchemeReplay {
  readonly active: ActiveScheme & { readonly round: ReplayedRound | null };
  passive(): PassiveScheme;
  /** Whether a set-up message is what the active party had to send. */
  isSetUp(message: Uint8Array, layout: GradientLayout): Promise<boolean>;
  /** The messages of a round's gradients, made again. */
  remade(
    layout: GradientLayout,
    gradients: QuantisedGradients,
    sample: Uint32Array | null,
    recipe: GradientRecipe,
  ): AsyncIterable<Uint8Array>;
  /** What a piece of an answer holds. @param counts as ActiveScheme.sums takes them */
  opened(layout: GradientLayout, message: Uint8Array, counts: readonly number[]): Promise<Float64Array>;
  close(): void;
}

/** A private key, or whatever else must outlive a crash of the active party. Only its scheme looks inside. */
export interface SchemeSecret {
  readonly scheme: string;
  /** For a file that nobody else can read. */
  serialise(): string;
}

export interface SchemeSizes {
  readonly ciphertextBytes: number;
  readonly ciphertextsPerInstance: number;
  /** Candidate sums that one returned ciphertext holds. */
  readonly sumsPerCiphertext: number;
  /** Bits that one ciphertext could hold. */
  readonly plaintextBitsMax: number;
}

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

/** A part of a tree's gradients. */
export interface GradientChunk {
  readonly message: Uint8Array;
  readonly ciphertexts: number;
}

export interface ActiveScheme {
  readonly name: string;
  readonly parameters: SchemeParameters;
  readonly counts: OperationCounts;
  /** Bits that one plaintext can hold. */
  readonly plaintextBitsMax: number;
  /** Once per attempt and passive party, the same for all. */
  setUp(layout: GradientLayout): Promise<Uint8Array>;
  /**
   * The tree's gradients as chunks, each the same for every passive party.
   * @param sample the instances that the tree learns from; null: all
   */
  gradients(
    layout: GradientLayout,
    gradients: QuantisedGradients,
    sample: Uint32Array | null,
  ): AsyncIterable<GradientChunk>;
  /** Gradients of another tree will follow: what can be made ahead of them may be made while cores are idle. */
  expectTree(layout: GradientLayout, instanceCount: number): void;
  /** How the last gradients can be made again; null or left out: they cannot. */
  readonly recipe?: GradientRecipe | null;
  /** What a node's request says besides who is in it; often nothing. */
  node(node: number): Uint8Array;
  /**
   * Slot sums of consecutive candidates, slot by slot (stride: number of slots).
   * @param counts how many are summed in each; with noise, where nobody tells, how many it can be at most
   */
  sums(layout: GradientLayout, message: Uint8Array, counts: readonly number[]): Promise<Float64Array>;
  /** Nothing more is wanted: what is being made ahead is for nobody. */
  close(): void;
}

/** Sums of consecutive candidates of a node, in the node's order. */
export interface SumsPiece {
  readonly candidateCount: number;
  readonly message: Uint8Array;
}

/** Messages come from the wire: a scheme checks them. */
export interface PassiveScheme {
  readonly counts: OperationCounts;
  /** Once per attempt. What it refuses changes nothing. */
  setUp(message: Uint8Array, job: PassiveSchemeJob): Promise<void>;
  /** Once per round, before its chunks: the round's first tree, whose sample is known. */
  beginRound(tree: TreeNodes): void;
  /** Another tree of the same gradients. */
  nextTree(tree: TreeNodes): void;
  /** @returns how many ciphertexts it holds */
  gradients(message: Uint8Array): Promise<number>;
  /** Once per round, after the last chunk. @throws TandemError PROTOCOL_STATE if some are missing */
  endOfGradients(): void;
  /** The sums of a node's candidates, with the task's noise; of those that are withheld a sum over nobody. */
  sums(task: NodeTask, message: Uint8Array): AsyncIterable<SumsPiece>;
  /** Once per round, when nothing more is asked of it. */
  endRound(): void;
  /** Nothing more is wanted: what is being made ahead is for nobody. */
  close(): void;
}

/** What a passive half knows of a job. */
export interface PassiveSchemeJob {
  readonly parameters: SchemeParameters;
  readonly instanceCount: number;
  readonly candidateCount: number;
  /** Nodes that may be asked for in one tree, and trees of one round. */
  readonly nodesAskedMax: number;
  readonly treesPerRound: number;
  /** What was agreed about plaintexts: a set-up may not ask for wider ones. */
  readonly terms: LayoutTerms;
  /** A sum may come back in a ciphertext of its own. */
  readonly allowsUnpacked: boolean;
}
