/**
 * The seam between the protocol and a cipher. The protocol asks a scheme for candidate sums, never for additions. What
 * the two halves of a scheme tell each other are bytes that nobody else reads: the fields `scheme` of proto/.
 *
 * Nothing outside a scheme knows its cipher: who is in a node, what is offered there and in which order is the
 * protocol's (candidates/), and a scheme is found by its name (registry.ts).
 */
import type { Membership } from "../base/membership.ts";
import type { CodecParameters, SpeedParameters } from "../base/parameters/parameters.ts";
import type { QuantisedGradients } from "../base/gradients/quantised-gradients.ts";
import type { LayoutTerms } from "../codec/agreed-layout.ts";
import type { GradientLayout } from "../codec/layout.ts";
import type { BinColumns, BlockData, BlockWork } from "./blocks/block.ts";
import type { Crew } from "./blocks/crew.ts";
import type { CandidatePlan } from "./candidates/candidate-plan.ts";
import type { NodeTask } from "./candidates/node-task.ts";
import type { TreeNodes } from "./candidates/tree-nodes.ts";
import type { CostModel } from "./cost-model.ts";
import type { TaskCrew, TaskWork } from "./tasks/tasks.ts";

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

/** What a config or a command line says, as far as a scheme may be unable to work with it. */
export interface GivenOptions {
  /** The length of a key was written down, as key_bits or as insecure_key_bits. */
  readonly keyBitsGiven: "key_bits" | "insecure_key_bits" | null;
  readonly codec: CodecParameters;
  readonly speed: SpeedParameters;
}

/** An option that a scheme cannot work with. */
export interface Conflict {
  /** Where it stands in a config: ["codec", "layout"]. */
  readonly field: readonly string[];
  /** What to do about it, as a sentence goes on. */
  readonly advice: string;
}

/** What decides how finely a job's gradients can be rounded. */
export interface GridFacts {
  /** Rows that are summed. */
  readonly rows: number;
  /** As in SchemeJob. */
  readonly nodesMax: number;
  readonly outputsPerTree: number;
  readonly answerNoise: number;
  readonly maxDepth: number;
  readonly maxLeaves: number;
}

/** What a passive party's policy asks of a scheme. */
export interface SchemeLimits {
  readonly keyBitsMin: number;
}

/** A cipher: how it is configured, its two halves, and its costs. */
export interface Scheme {
  readonly name: string;
  /** Where members are hidden no counts are sent either, so gradients are rounded to signed integers. */
  readonly membership: Membership;
  /** What the handshake will say. @throws TandemError USAGE for options that it cannot work with */
  parameters(options: Pick<SchemeOptions, "keyBits" | "insecureKey">): SchemeParameters;
  /** Which of a job's options it cannot work with. */
  conflicts(given: GivenOptions): readonly Conflict[];
  /**
   * The codec of a job: what is asked, with as many bits of resolution as this scheme has for such a job.
   * @throws TandemError LAYOUT_OVERFLOW where there is no such job
   */
  codecFor(asked: CodecParameters, facts: GridFacts): CodecParameters;
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
  /** @param options crew: who does its tasks; left out: its own process */
  active(
    secret: SchemeSecret,
    options: Pick<SchemeOptions, "threads" | "speed" | "repeatable"> & { readonly crew?: TaskCrew | undefined },
  ): ActiveScheme;
  /** @param options crew: who holds the party's rows; left out: its own process */
  passive(options: Pick<SchemeOptions, "threads"> & { readonly crew?: Crew | undefined }): PassiveScheme;
  /** The work on a part of a passive party's rows; left out: its passive half keeps all rows itself. */
  block?(data: BlockData, options: Pick<SchemeOptions, "threads">): BlockWork;
  /** Work without state, of either half; left out: it has none for workers. @throws TandemError for other terms */
  task?(terms: Uint8Array, options: Pick<SchemeOptions, "threads">): Promise<TaskWork>;
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

/** Bytes and counts of a job's ciphertexts. */
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

/** Counters at zero. */
export function noOperations(): OperationCounts {
  return { encryptions: 0, additions: 0, decryptions: 0, gradientCiphertexts: 0, candidateCiphertexts: 0 };
}

/** A part of a tree's gradients. */
export interface GradientChunk {
  readonly message: Uint8Array;
  readonly ciphertexts: number;
  /** Whether another follows, where that is known before there is one: then it need not be waited for. */
  readonly more?: boolean;
}

/** The active party's half: it encrypts gradients and decrypts sums. */
export interface ActiveScheme {
  readonly name: string;
  readonly parameters: SchemeParameters;
  readonly counts: OperationCounts;
  /** Bits that one plaintext can hold. */
  readonly plaintextBitsMax: number;
  /** Where nodes have gradients of their own; null: a round's gradients are sent once. */
  readonly hidden: ActiveHidden | null;
  /** Once per attempt: the same message for all passive parties. */
  setUp(job: ActiveSchemeJob): Promise<Uint8Array>;
  /** That no sum is opened wrongly, proven at the set-up, in words; left out: the layout's own proof is all. */
  readonly proof?: readonly string[];
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
   * @param counts how many are summed in each; where nobody tells, how many it can be at most
   */
  sums(
    layout: GradientLayout,
    message: Uint8Array,
    counts: readonly number[],
    asked: AskedOfPeer,
  ): Promise<Float64Array>;
  /** Nothing more is wanted: what is being made ahead is for nobody. */
  close(): void;
}

/** Whom was asked about which node. */
export interface AskedOfPeer {
  /** Its place among the passive parties. */
  readonly peer: number;
  readonly tree: number;
  readonly node: number;
}

/** What an active half knows of an attempt. */
export interface ActiveSchemeJob extends SchemeJob {
  readonly layout: GradientLayout;
  /** What the passive halves have said at the handshake, in their order. */
  readonly greetings: readonly Uint8Array[];
  /** The instances that are summed in any tree, ascending; null: all. */
  readonly rows: Uint32Array | null;
  /** Candidates that a passive party can have at the most, by its features and what was agreed. */
  readonly candidatesMax: number;
}

/** What both halves know of an attempt. */
export interface SchemeJob {
  readonly instanceCount: number;
  /** 16 bytes that name the job. */
  readonly run: Uint8Array;
  /** Nodes that may be asked for in one tree. */
  readonly nodesPerTree: number;
  /** Nodes that may be asked for in all attempts at the job together. */
  readonly nodesMax: number;
  /** Pairs of g and h of a tree. */
  readonly outputsPerTree: number;
}

/** A node of which nobody else learns who is in it. */
export interface HiddenNode {
  readonly tree: number;
  readonly node: number;
  /** Those that the tree learns. */
  readonly outputs: readonly number[];
  /** The instances that are summed. */
  readonly sampled: Uint32Array;
  readonly gradients: QuantisedGradients;
}

/** What an active half does besides, where members of nodes are hidden. */
export interface ActiveHidden {
  /** What a passive party's answers are opened with. @param candidateCount those that it has said to have */
  hints(peer: number, candidateCount: number, pieces: AsyncIterable<Uint8Array>): Promise<void>;
  /** A node's gradients as chunks, each the same for every passive party. Every call encrypts anew, once. */
  seal(node: HiddenNode): AsyncIterable<GradientChunk>;
  /** No node of this tree is opened any more. */
  endTree(tree: number): void;
}

/** Sums of consecutive candidates of a node, in the node's order. */
export interface SumsPiece {
  readonly candidateCount: number;
  readonly message: Uint8Array;
}

/** Messages come from the wire: a scheme checks them. */
export interface PassiveScheme {
  readonly counts: OperationCounts;
  /** Where nodes have gradients of their own; null: a round's gradients are sent once. */
  readonly hidden: PassiveHidden | null;
  /** Once per attempt. What it refuses changes nothing. @returns what must be the same in every attempt at the job */
  setUp(message: Uint8Array, job: PassiveSchemeJob): Promise<Uint8Array>;
  /** Once per round, before its chunks: the round's first tree, whose sample is known. */
  beginRound(tree: TreeNodes): void;
  /** Another tree of the same gradients. */
  nextTree(tree: TreeNodes): void;
  /** @returns how many ciphertexts it holds */
  gradients(message: Uint8Array): Promise<number>;
  /** Once per round, after the last chunk. @throws TandemError PROTOCOL_STATE if some are missing; what was refused */
  endOfGradients(): void | Promise<void>;
  /**
   * The sums of a node's candidates, with the task's noise; of those that are withheld a sum over nobody. Not asked for
   * where nodes have gradients of their own.
   * @param summed called, if ever, when the next node may be asked for: others can sum it while this one is finished
   */
  sums(task: NodeTask, summed?: () => void): AsyncIterable<SumsPiece>;
  /** Once per round, when nothing more is asked of it. */
  endRound(): void;
  /** Nothing more is wanted: what is being made ahead is for nobody. */
  close(): void;
}

/** What a passive half does besides, where members of nodes are hidden. */
export interface PassiveHidden {
  /** For the handshake; drawn once per attempt. */
  greeting(): Uint8Array;
  /** Once per attempt, after the set-up. @throws TandemError PROTOCOL_STATE the second time */
  hints(): AsyncIterable<Uint8Array>;
  /** Takes a node's own gradients, all of them: which node it is may turn out later. */
  take(messages: AsyncIterable<Uint8Array>): Promise<TakenNode>;
}

/** A node whose gradients are there. */
export interface TakenNode {
  readonly ciphertexts: number;
  /** As PassiveScheme.sums; once. */
  sums(task: NodeTask): AsyncIterable<SumsPiece>;
}

/** What is summed where members are hidden: the same rows and candidates in every tree. */
export interface SummedRows {
  /** Per feature the bin of each row. */
  readonly bins: readonly Uint16Array[];
  /** All candidates, in the order of the job. */
  readonly plan: CandidatePlan;
  /** Places of those that are ever answered, ascending. */
  readonly offered: Uint32Array;
}

/** What a passive half knows of a job. */
export interface PassiveSchemeJob extends SchemeJob {
  readonly parameters: SchemeParameters;
  readonly candidateCount: number;
  /** Of all instances of the job. */
  readonly columns: BinColumns;
  /** Null where members are told. */
  readonly summed: SummedRows | null;
  /** Nodes that may be asked for in one tree, and trees of one round. */
  readonly nodesAskedMax: number;
  readonly treesPerRound: number;
  /** What was agreed about plaintexts: a set-up may not ask for wider ones. */
  readonly terms: LayoutTerms;
  /** A sum may come back in a ciphertext of its own. */
  readonly allowsUnpacked: boolean;
}
