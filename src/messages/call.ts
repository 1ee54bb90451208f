/**
 * What the table of messages defines for a call, besides its name and its messages (proto/). Everything here is a
 * function of the messages alone, so that both ends of a call compute the same.
 */
import type { Message, MessageShape } from "@bufbuild/protobuf";
import type { PassiveParty } from "../wire/generated/tandem/v1/tandem_pb.ts";

export type Methods = (typeof PassiveParty)["method"];
export type CallName = keyof Methods;
export type RequestOf<Name extends CallName> = MessageShape<Methods[Name]["input"]>;
export type AnswerOf<Name extends CallName> = MessageShape<Methods[Name]["output"]>;

/** SHA-256 of bytes and of messages. Passed to recorders, so that the table itself runs in browsers too. */
export interface Digests {
  /** Of the concatenation. */
  bytes(...pieces: readonly Uint8Array[]): Uint8Array;
  /** Of bytes that are sent to several parties: computed once. */
  shared(bytes: Uint8Array): Uint8Array;
  /** Of an encoded message. */
  message<M extends Message>(message: M): Uint8Array;
  encoded<M extends Message>(message: M): Uint8Array;
}

/** A kind of entry of a tree: both parties sign a digest of each entry. */
export interface EntryFacts {
  /**
   * Its number in stored evidence. Entries are ordered by node, then by this number. Numbers are never reused.
   */
  readonly tag: number;
  readonly sender: Learner;
  /** The whole attempt, with each of its trees; one tree; one node. */
  readonly about: "attempt" | "tree" | "node";
  /** Text for people; for a node its number follows: "the sums of node 3". */
  readonly words: string;
  /** Encrypted anew each time: a repeated request gets different bytes, and any of them is accepted. */
  readonly isFresh?: true;
  /** Where its bytes are stored, or recomputed, for an auditor: its digest, from the digests of the pieces. */
  readonly ofPieces?: (digests: Digests, pieceDigests: readonly Uint8Array[]) => Uint8Array;
  /** How an auditor compares it with the expected message; left out: by its digest. */
  readonly compared?: "set-up" | "gradients" | "sums";
}

/** An entry that a call has produced. */
export interface Note<Kind extends string> {
  readonly kind: Kind;
  /** Null: about the whole attempt. */
  readonly tree: number | null;
  /** 0 if it is not about one node. */
  readonly node: number;
  readonly digest: Uint8Array;
  /** The hashed bytes, where they are stored for an auditor. */
  readonly pieces?: readonly Uint8Array[];
}

/** Gradients that the active party signs, in the message that completes them. */
export interface ClosedGradients {
  readonly tree: number;
  /** Null: of all nodes of the gradient round that begins with the tree. */
  readonly node: number | null;
  readonly digest: Uint8Array;
}

/** An answer that the passive party signs, in the message that completes it. */
export interface ClosedAnswer<Kind extends string> {
  readonly tree: number;
  readonly node: number;
  /** The node's entries: its request and its answer. */
  readonly notes: readonly Note<Kind>[];
}

/** Receives the messages of one call, at either end. */
export interface Recorder<Request, Answer, Kind extends string> {
  request?(message: Request): void;
  /** After a request that completes gradients: what is signed with it. Null: nothing. */
  closed?(message: Request): ClosedGradients | null;
  answer?(message: Answer): void;
  /** After an answer that completes what is asked about a node: what is signed with it. Null: nothing. */
  answered?(message: Answer): ClosedAnswer<Kind> | null;
  /** Called once the call has succeeded; in the order in which an auditor checks the entries. */
  notes(): readonly Note<Kind>[];
}

export interface RecorderTools {
  readonly digests: Digests;
  /** Whether pieces are stored for an auditor. */
  readonly keepsPieces: boolean;
}

/** What a message reveals to its receiver. */
export interface Seen {
  /** Payload of the message, without the framing of the transport. */
  readonly bytes: number;
}

export type Learner = "active" | "passive";

/**
 * A kind of observation: what one party learns about the other from a message. Both ends create it with `see`, from the
 * message and their own context.
 */
export interface ObservationFacts<Who extends Learner, Args extends readonly unknown[], What extends Seen> {
  readonly learner: Who;
  readonly see: (...args: Args) => What;
  /** What it adds to the ledger, by name of the field. */
  readonly counts?: Readonly<Record<string, (seen: What) => number>>;
}

/** Any of them. */
export interface AnyObservation {
  readonly learner: Learner;
  readonly see: (...args: never[]) => Seen;
  readonly counts?: Readonly<Record<string, (seen: never) => number>>;
}

/** Infers the types of a kind of observation. */
export function observation<Who extends Learner, Args extends readonly unknown[], What extends Seen>(
  facts: ObservationFacts<Who, Args, What>,
): ObservationFacts<Who, Args, What> {
  return facts;
}

/** A field of the ledger: the count of one disclosure of docs/leakage.md. */
export interface LedgerFacts {
  readonly learner: Learner;
  /** Verbatim from docs/leakage.md (a test compares). */
  readonly what: string;
  /** What is counted. */
  readonly unit: string;
  /** The same in every attempt: it is set, not added. */
  readonly isOncePerJob?: true;
  readonly scale: LedgerScale;
}

/** What a count is compared with when shown (record/ledger-facts.ts): "a of b" counts an a for every b. */
export type LedgerScale =
  | "candidates of nodes"
  | "nodes"
  | "candidates of splits"
  | "candidates"
  | "features"
  | "splits"
  | "people of levels"
  | "people of outcomes"
  | "people of splits"
  | "predicted people of splits"
  | "predicted people"
  | "ciphertexts";

export interface CallFacts<
  Name extends CallName,
  Kind extends string,
  Observed extends Readonly<Record<string, AnyObservation>>,
  Field extends string,
> {
  /** What the call belongs to. Traffic of predictions is not counted as traffic of training. */
  readonly part: "attempt" | "tree" | "prediction";
  /** A vetting has it too; left out: a passive party refuses it there, since it could reveal sides of people. */
  readonly isOfVettings?: true;
  /** What its messages reveal. */
  readonly observes?: Observed;
  /** The fields of the ledger that it defines. */
  readonly ledger?: Readonly<Record<Field, LedgerFacts>>;
  /** Its entries in the chain of digests. */
  readonly entries?: Readonly<Record<Kind, EntryFacts>>;
  readonly recorder?: (tools: RecorderTools) => Recorder<RequestOf<Name>, AnswerOf<Name>, NoInfer<Kind>>;
}

/** Infers the types of an entry of the table. */
export function call<Name extends CallName>(): <
  Kind extends string = never,
  Observed extends Readonly<Record<string, AnyObservation>> = Readonly<Record<never, AnyObservation>>,
  Field extends string = never,
>(
  facts: CallFacts<Name, Kind, Observed, Field>,
) => CallFacts<Name, Kind, Observed, Field> {
  return (facts) => facts;
}

/** Size of a number in a message, for counting traffic. */
export const numberBytes = 4;

/** The digest of data that is sent in any number of pieces. */
export function ofAllPieces(digests: Digests, pieceDigests: readonly Uint8Array[]): Uint8Array {
  return digests.bytes(...pieceDigests);
}

export const noBytes = new Uint8Array(0);
