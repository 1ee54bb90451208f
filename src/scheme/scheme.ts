/**
 * The interface between the protocol and a cipher. The protocol asks a scheme for candidate sums, never for additions.
 * The messages between the two halves of a scheme are opaque to everything else: the fields `scheme` of proto/.
 *
 * Nothing outside a scheme depends on its cipher: node membership, the offered candidates and their order belong to the
 * protocol (candidates/), and a scheme is looked up by name (registry.ts). The interface of the halves depends on the
 * training protocol that the cipher is made for: sent-scheme.ts, hidden-scheme.ts.
 */
import type { CodecParameters } from "../base/parameters/parameters.ts";
import type { LayoutTerms } from "../codec/agreed-layout.ts";
import type { GradientLayout } from "../codec/layout.ts";
import type { BlockData, BlockWork } from "./blocks/block.ts";
import type { Crew } from "./blocks/crew.ts";
import type { CostModel } from "./cost-model.ts";
import type { HiddenActive, HiddenPassive, HiddenReplay } from "./hidden-scheme.ts";
import type { Shortcuts } from "./shortcuts.ts";
import type { SchemeReplay, SentActive, SentPassive } from "./sent-scheme.ts";
import type { TaskCrew, TaskWork } from "./tasks/tasks.ts";

/** The scheme's own parameters by name, which all parties compare at the handshake. */
export type SchemeParameters = Readonly<Record<string, number>>;

/** The config options that only a scheme interprets. */
export interface SchemeOptions {
  readonly keyBits: number;
  /** The key may be shorter than is secure. */
  readonly insecureKey: boolean;
  /** Default: the number of cores. */
  readonly threads?: number | undefined;
}

/** The given options of a config or command line that a scheme may not support. */
export interface GivenOptions {
  /** The option that set a key length, if any. */
  readonly keyBitsGiven: "key_bits" | "insecure_key_bits" | null;
}

/** An option that a scheme does not support. */
export interface Conflict {
  /** Its path in a config: ["key_bits"]. */
  readonly field: readonly string[];
  /** What is wrong and what to do, as a phrase that follows the option's name. */
  readonly advice: string;
}

/** The facts that determine the resolution of a job's gradients. */
export interface GridFacts {
  /** Rows that are summed. */
  readonly rows: number;
  /** As in SchemeJob. */
  readonly nodesMax: number;
  readonly outputsPerTree: number;
  /** Of a gradient round: noise grows with their number. */
  readonly outputs: number;
  readonly answerNoise: number;
  readonly maxDepth: number;
  readonly maxLeaves: number;
}

/** The limits that a passive party's policy sets for a scheme. */
export interface SchemeLimits {
  readonly keyBitsMin: number;
}

/** What both kinds of schemes have in common: everything except their two halves. */
interface SchemeBase {
  readonly name: string;
  /** The parameters for the handshake. @throws TandemError USAGE for unsupported options */
  parameters(options: Pick<SchemeOptions, "keyBits" | "insecureKey">): SchemeParameters;
  /** The unsupported options of a job. */
  conflicts(given: GivenOptions): readonly Conflict[];
  /**
   * The codec of a job: as requested, with as many bits of resolution as this scheme supports for such a job.
   * @throws TandemError LAYOUT_OVERFLOW if no resolution is possible
   */
  codecFor(asked: CodecParameters, facts: GridFacts): CodecParameters;
  /** The kernel used on this machine. */
  kernelName(): string;
  /** A short description for users: "a 2048-bit Paillier key". */
  describe(parameters: SchemeParameters): string;
  /** A warning shown to every viewer of the job; null: none. */
  warning(parameters: SchemeParameters): string | null;
  /** Why a passive party with these limits rejects the parameters, one phrase each; empty if it accepts them. */
  violations(parameters: SchemeParameters, limits: SchemeLimits): readonly string[];
  /** Bits of one plaintext, which determine the layout of gradients, also in centralised training. */
  plaintextBitsMax(parameters: SchemeParameters): number;
  /** The ciphertexts of one tree's gradients and answers. */
  sizes(parameters: SchemeParameters, layout: GradientLayout): SchemeSizes;
  /** Memory that its passive half holds for the rows of a job, without their bins. Left out: a tree's ciphertexts. */
  heldBytes?(layout: GradientLayout, shape: HeldShape): number;
  /** Generates the active party's secret. May take seconds. */
  makeSecret(options: SchemeOptions): Promise<SchemeSecret>;
  /** Restores the secret of a resumed job. @throws TandemError KEY_FORMAT */
  readSecret(text: string): Promise<SchemeSecret>;
  /** The work on a block of a passive party's rows; left out: its passive half holds all rows itself. */
  block?(data: BlockData, options: Pick<SchemeOptions, "threads">): BlockWork;
  /** Stateless work of either half; left out: it has no tasks for workers. @throws TandemError for invalid terms */
  task?(terms: Uint8Array, options: Pick<SchemeOptions, "threads">): Promise<TaskWork>;
  /** Its sums can be hidden: passive parties mask them (scheme/candidates/node-masks.ts). Left out: they cannot. */
  readonly masksSums?: true;
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
  /** Replays a job for an auditor who has its secret and seed; left out: its ciphertexts cannot be checked. */
  replay?(secret: SchemeSecret, options: Pick<ActiveOptions, "threads" | "seed">): SchemeReplay;
}

/** Each node has gradients of its own; members of nodes are hidden, and no counts are sent. */
export interface HiddenScheme extends SchemeBase {
  readonly membership: "hidden";
  active(secret: SchemeSecret, options: ActiveOptions): HiddenActive;
  passive(options: PassiveOptions): HiddenPassive;
  /** Replays a job for an auditor who has its secret and seed. */
  replay(secret: SchemeSecret, options: Pick<ActiveOptions, "threads" | "seed">): HiddenReplay;
}

/** The active party's half of either kind. */
export type ActiveScheme = SentActive | HiddenActive;
/** A passive party's half of either kind. */
export type PassiveScheme = SentPassive | HiddenPassive;

/** The options of an active half. */
export interface ActiveOptions extends Pick<SchemeOptions, "threads"> {
  /**
   * 32 random bytes of the job, the same in every attempt: whatever the half encrypts is drawn from them, so that a
   * repeated round has the same bytes. Left out: drawn here.
   */
  readonly seed?: Uint8Array | undefined;
  /** Left out: all. */
  readonly shortcuts?: Shortcuts | undefined;
  /** Runs its tasks; left out: its own process. */
  readonly crew?: TaskCrew | undefined;
}

/** The options of a passive half. */
export interface PassiveOptions extends Pick<SchemeOptions, "threads"> {
  /** 32 random bytes of this party and job, the same in every attempt. Left out: drawn here. */
  readonly seed?: Uint8Array | undefined;
  /** Holds the party's rows; left out: its own process. */
  readonly crew?: Crew | undefined;
}

/** A private key, or other state that must survive a crash of the active party. Opaque outside its scheme. */
export interface SchemeSecret {
  readonly scheme: string;
  /** Serialised for a file that only its owner can read. */
  serialise(): string;
}

/** The size of a job at a passive party. */
export interface HeldShape {
  readonly rows: number;
  readonly features: number;
  /** At most. */
  readonly candidates: number;
}

/** Bytes and counts of a job's ciphertexts. */
export interface SchemeSizes {
  readonly ciphertextBytes: number;
  readonly ciphertextsPerInstance: number;
  /** Candidate sums per returned ciphertext. */
  readonly sumsPerCiphertext: number;
  /** Capacity of one ciphertext in bits. */
  readonly plaintextBitsMax: number;
}

/** Operations so far; every party counts its own work. */
export interface OperationCounts {
  encryptions: number;
  additions: number;
  decryptions: number;
  gradientCiphertexts: number;
  candidateCiphertexts: number;
}

/** The counters of a party that has computed nothing. */
export function noOperations(): OperationCounts {
  return { encryptions: 0, additions: 0, decryptions: 0, gradientCiphertexts: 0, candidateCiphertexts: 0 };
}

/** What the active halves of all schemes have in common. */
export interface ActiveHalf {
  readonly name: string;
  readonly parameters: SchemeParameters;
  readonly counts: OperationCounts;
  /** Bits of one plaintext. */
  readonly plaintextBitsMax: number;
  /** The proof, computed at set-up, that every sum is decrypted correctly; left out: the layout's proof suffices. */
  readonly proof?: readonly string[];
  /**
   * Slot sums of consecutive candidates, slot by slot (stride: number of slots).
   * @param counts instances summed in each; where counts are not sent, the maximum possible
   */
  sums(
    layout: GradientLayout,
    message: Uint8Array,
    counts: readonly number[],
    asked: AskedOfPeer,
  ): Promise<Float64Array>;
  /** Bits of the masks, known after the set-up; left out: the scheme cannot mask sums. */
  readonly maskBits?: number;
  /**
   * Where sums are hidden, this party's shares instead: per slot those of consecutive candidates
   * (candidates/node-masks.ts). Left out: the scheme cannot mask sums.
   */
  shares?(layout: GradientLayout, message: Uint8Array, count: number, asked: AskedOfPeer): Promise<Uint32Array[]>;
  /** Stops precomputation; left out: there is none. */
  close?(): void;
}

/** The node and the party of an answer. */
export interface AskedOfPeer {
  /** Index among the passive parties. */
  readonly peer: number;
  readonly tree: number;
  readonly node: number;
}

/** A chunk of the encrypted gradients of a round or a node. */
export interface GradientChunk {
  readonly message: Uint8Array;
  readonly ciphertexts: number;
  /**
   * It has what the gradients of all rounds refer to, and is no part of this round: the set-up has the digest of all
   * such chunks. Left out: false.
   */
  readonly isOfBases?: boolean;
  /** Whether another chunk follows, if known in advance: then the receiver need not wait for it. */
  readonly more?: boolean;
}

/** What the passive halves of all schemes have in common. Messages come from the wire: a scheme validates them. */
export interface PassiveHalf {
  readonly counts: OperationCounts;
  /** Bits of the masks, known after the set-up; left out: the scheme cannot mask sums. */
  readonly maskBits?: number;
  /** Stops precomputation and releases workers; left out: there are none. */
  close?(): void;
}

/** Sums of consecutive candidates of a node, in the node's order. */
export interface SumsPiece {
  readonly candidateCount: number;
  readonly message: Uint8Array;
}

/** The terms of a job for the passive half of every scheme. */
export interface PassiveTerms {
  readonly parameters: SchemeParameters;
  readonly instanceCount: number;
  /** The agreed layout of plaintexts: a set-up may not ask for wider ones. */
  readonly terms: LayoutTerms;
}
