/**
 * What the table of messages says of a call, besides its name and its messages (proto/). Everything here is a function
 * of the messages alone, so that both ends of a call use the same one and cannot disagree.
 */
import type { Message, MessageShape } from "@bufbuild/protobuf";
import type { PassiveParty } from "../wire/generated/tandem/v1/tandem_pb.ts";

export type Methods = (typeof PassiveParty)["method"];
export type CallName = keyof Methods;
export type RequestOf<Name extends CallName> = MessageShape<Methods[Name]["input"]>;
export type AnswerOf<Name extends CallName> = MessageShape<Methods[Name]["output"]>;

/** SHA-256 of bytes and of messages. A recorder is given it, so that the table itself runs in a browser too. */
export interface Digests {
  /** Of these, one after the other. */
  bytes(...pieces: readonly Uint8Array[]): Uint8Array;
  /** Of bytes that are sent to several parties: hashed once. */
  shared(bytes: Uint8Array): Uint8Array;
  /** Of a message as it is encoded, whatever fields it has. */
  message<M extends Message>(message: M): Uint8Array;
  encoded<M extends Message>(message: M): Uint8Array;
}

/** A kind of the entries of a tree: both parties sign a digest of each. */
export interface EntryFacts {
  /**
   * Its number in stored evidence. Entries are ordered by node, then by this number. A number is never given to another
   * kind later.
   */
  readonly tag: number;
  readonly sender: Learner;
  /** The whole attempt, and so each of its trees; one tree; one node. */
  readonly about: "attempt" | "tree" | "node";
  /** For people; of a node its number follows: "the sums of node 3". */
  readonly words: string;
  /** Encrypted anew each time: a request that is repeated gets other bytes, and any of them is accepted. */
  readonly isFresh?: true;
  /** Where its bytes are kept, or made again, for an auditor: its digest, from the digests of the pieces. */
  readonly ofPieces?: (digests: Digests, pieceDigests: readonly Uint8Array[]) => Uint8Array;
  /** How an auditor compares it with what it had to be; left out: by its digest. */
  readonly compared?: "set-up" | "gradients" | "sums";
}

/** An entry that a call has left. */
export interface Note<Kind extends string> {
  readonly kind: Kind;
  /** Null: of the whole attempt. */
  readonly tree: number | null;
  /** 0 of what is not about one node. */
  readonly node: number;
  readonly digest: Uint8Array;
  /** What the digest is of, where it is kept for an auditor. */
  readonly pieces?: readonly Uint8Array[];
}

/** Takes the messages of one call as they pass, at either end. */
export interface Recorder<Request, Answer, Kind extends string> {
  request?(message: Request): void;
  answer?(message: Answer): void;
  /** Asked for once the call has ended well, in the order in which an auditor looks at the entries. */
  notes(): readonly Note<Kind>[];
}

export interface RecorderTools {
  readonly digests: Digests;
  /** Whether pieces are kept for an auditor. */
  readonly keepsPieces: boolean;
}

/** What a message shows to the party that gets it. */
export interface Seen {
  /** Payload of the message, without the framing of the transport. */
  readonly bytes: number;
}

export type Learner = "active" | "passive";

/**
 * A kind of observations: what one party sees of the other in a message. Both ends make it with `see`, from the message
 * and what else they know of it.
 */
export interface ObservationFacts<Who extends Learner, Args extends readonly unknown[], What extends Seen> {
  readonly learner: Who;
  readonly see: (...args: Args) => What;
  /** What it adds to the ledger, by the names of its fields. */
  readonly counts?: Readonly<Record<string, (seen: What) => number>>;
}

/** Any of them. */
export interface AnyObservation {
  readonly learner: Learner;
  readonly see: (...args: never[]) => Seen;
  readonly counts?: Readonly<Record<string, (seen: never) => number>>;
}

/** A kind of observations, with its types. */
export function observation<Who extends Learner, Args extends readonly unknown[], What extends Seen>(
  facts: ObservationFacts<Who, Args, What>,
): ObservationFacts<Who, Args, What> {
  return facts;
}

/** A field of the ledger: how much of one entry of docs/leakage.md has passed. */
export interface LedgerFacts {
  readonly learner: Learner;
  /** As docs/leakage.md says it, word for word (a test compares). */
  readonly what: string;
  /** What is counted. */
  readonly unit: string;
  /** The same in every attempt: it is set, not added up. */
  readonly isOncePerJob?: true;
  readonly scale: LedgerScale;
}

/** What a count is compared with where people read it (record/ledger-facts.ts): "a of b" counts an a for every b. */
export type LedgerScale =
  | "candidates of nodes"
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
  /** What is seen in its messages. */
  readonly observes?: Observed;
  /** The fields of the ledger that it brings. */
  readonly ledger?: Readonly<Record<Field, LedgerFacts>>;
  /** What it leaves in the chain of digests. */
  readonly entries?: Readonly<Record<Kind, EntryFacts>>;
  readonly recorder?: (tools: RecorderTools) => Recorder<RequestOf<Name>, AnswerOf<Name>, NoInfer<Kind>>;
  /** Where a passive party takes only the first of several copies of a call: which calls are copies of each other. */
  readonly copyOf?: (firstRequest: RequestOf<Name>) => number;
}

/** An entry of the table, with its types. */
export function call<Name extends CallName>(): <
  Kind extends string = never,
  Observed extends Readonly<Record<string, AnyObservation>> = Readonly<Record<never, AnyObservation>>,
  Field extends string = never,
>(
  facts: CallFacts<Name, Kind, Observed, Field>,
) => CallFacts<Name, Kind, Observed, Field> {
  return (facts) => facts;
}

/** Of a number in a message. */
export const numberBytes = 4;

/** The digest of something that travels in any number of pieces. */
export function ofAllPieces(digests: Digests, pieceDigests: readonly Uint8Array[]): Uint8Array {
  return digests.bytes(...pieceDigests);
}

export const noBytes = new Uint8Array(0);
