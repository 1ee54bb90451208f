/**
 * The seam between the protocol and a cipher. The protocol asks a scheme for candidate sums, never for additions. The
 * messages between the two halves of a scheme are opaque to everything else: the fields `scheme` of proto/.
 *
 * Nothing outside a scheme knows its cipher: who is in a node, what is offered there and in which order is the
 * protocol's (candidates/), and a scheme is found by its name (registry.ts). What the halves can do depends on the
 * training protocol that the cipher is made for: sent-scheme.ts, hidden-scheme.ts.
 */
import type { CodecParameters, SpeedParameters } from "../base/parameters/parameters.ts";
import type { LayoutTerms } from "../codec/agreed-layout.ts";
import type { GradientLayout } from "../codec/layout.ts";
import type { BlockData, BlockWork } from "./blocks/block.ts";
import type { Crew } from "./blocks/crew.ts";
import type { CostModel } from "./cost-model.ts";
import type { HiddenActive, HiddenPassive } from "./hidden-scheme.ts";
import type { SchemeReplay, SentActive, SentPassive } from "./sent-scheme.ts";
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
  /** Gradients' ciphertexts can be made again from their recipe; default: not. */
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

/** What both kinds of schemes have: all but their two halves. */
interface SchemeBase {
  readonly name: string;
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
  /** Shown to all who look at the job; null: nothing. */
  warning(parameters: SchemeParameters): string | null;
  /** Why a passive party with these limits refuses, one phrase each; empty if it does not. */
  violations(parameters: SchemeParameters, limits: SchemeLimits): readonly string[];
  /** Bits that one plaintext can hold: what the layout of gradients is cut by, in one place too. */
  plaintextBitsMax(parameters: SchemeParameters): number;
  /** What one tree's gradients and answers are made of. */
  sizes(parameters: SchemeParameters, layout: GradientLayout, speed: SpeedParameters): SchemeSizes;
  /** The active party's secret, made anew. It may take seconds. */
  makeSecret(options: SchemeOptions): Promise<SchemeSecret>;
  /** The secret of a job that is taken up again. @throws TandemError KEY_FORMAT */
  readSecret(text: string): Promise<SchemeSecret>;
  /** The work on a part of a passive party's rows; left out: its passive half keeps all rows itself. */
  block?(data: BlockData, options: Pick<SchemeOptions, "threads">): BlockWork;
  /** Work without state, of either half; left out: it has none for workers. @throws TandemError for other terms */
  task?(terms: Uint8Array, options: Pick<SchemeOptions, "threads">): Promise<TaskWork>;
  /** A job once more, for an auditor who has the secret; left out: its ciphertexts cannot be checked. */
  replay?(secret: SchemeSecret, options: Pick<SchemeOptions, "threads" | "speed">): SchemeReplay;
  /** Measures its operations on this machine. */
  costModel(options: Pick<SchemeOptions, "keyBits">): Promise<CostModel>;
}

/** A cipher, for one of the two training protocols (base/membership.ts). */
export type Scheme = SentScheme | HiddenScheme;

/** Gradients are encrypted once per round; members of nodes are sent. */
export interface SentScheme extends SchemeBase {
  readonly membership: "sent";
  active(secret: SchemeSecret, options: ActiveOptions): SentActive;
  passive(options: PassiveOptions): SentPassive;
}

/** Each node has gradients of its own; members of nodes are hidden, and no counts are sent. */
export interface HiddenScheme extends SchemeBase {
  readonly membership: "hidden";
  active(secret: SchemeSecret, options: ActiveOptions): HiddenActive;
  passive(options: PassiveOptions): HiddenPassive;
}

/** The active party's half of either kind. */
export type ActiveScheme = SentActive | HiddenActive;
/** A passive party's half of either kind. */
export type PassiveScheme = SentPassive | HiddenPassive;

/** What an active half is made with. */
export interface ActiveOptions extends Pick<SchemeOptions, "threads" | "speed" | "repeatable"> {
  /** Who does its tasks; left out: its own process. */
  readonly crew?: TaskCrew | undefined;
}

/** What a passive half is made with. */
export interface PassiveOptions extends Pick<SchemeOptions, "threads"> {
  /** Who holds the party's rows; left out: its own process. */
  readonly crew?: Crew | undefined;
}

/** A private key, or whatever else must outlive a crash of the active party. Only its scheme looks inside. */
export interface SchemeSecret {
  readonly scheme: string;
  /** For a file that only its owner can read. */
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

/** What the active half of every scheme has. */
export interface ActiveHalf {
  readonly name: string;
  readonly parameters: SchemeParameters;
  readonly counts: OperationCounts;
  /** Bits that one plaintext can hold. */
  readonly plaintextBitsMax: number;
  /** The proof, made at the set-up, that no sum is opened wrongly; left out: the layout's own proof is all. */
  readonly proof?: readonly string[];
  /**
   * Slot sums of consecutive candidates, slot by slot (stride: number of slots).
   * @param counts how many instances are summed in each; where counts are not sent, how many it can be at most
   */
  sums(
    layout: GradientLayout,
    message: Uint8Array,
    counts: readonly number[],
    asked: AskedOfPeer,
  ): Promise<Float64Array>;
  /** How the last gradients can be made again; null or left out: they cannot. */
  readonly recipe?: GradientRecipe | null;
  /** Stops work that is done ahead; left out: there is none. */
  close?(): void;
}

/** Nonces of a round's gradients: a secret that they are drawn from, and which draws each chunk took. */
export interface GradientRecipe {
  readonly secret: Uint8Array;
  readonly chunks: readonly (readonly (readonly number[])[])[];
}

/** Which node an answer is about, and which party gave it. */
export interface AskedOfPeer {
  /** Its place among the passive parties. */
  readonly peer: number;
  readonly tree: number;
  readonly node: number;
}

/** A part of encrypted gradients: of a round, or of a node. */
export interface GradientChunk {
  readonly message: Uint8Array;
  readonly ciphertexts: number;
  /** Whether another follows, where that is known before there is one: then it need not be waited for. */
  readonly more?: boolean;
}

/** What the passive half of every scheme has. Messages come from the wire: a scheme checks them. */
export interface PassiveHalf {
  readonly counts: OperationCounts;
  /** Stops work that is done ahead, and lets workers go; left out: there are none. */
  close?(): void;
}

/** Sums of consecutive candidates of a node, in the node's order. */
export interface SumsPiece {
  readonly candidateCount: number;
  readonly message: Uint8Array;
}

/** What the passive half of every scheme knows of a job. */
export interface PassiveTerms {
  readonly parameters: SchemeParameters;
  readonly instanceCount: number;
  /** What was agreed about plaintexts: a set-up may not ask for wider ones. */
  readonly terms: LayoutTerms;
}
