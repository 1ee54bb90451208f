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
  readonly sender: "active" | "passive";
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

export interface CallFacts<Name extends CallName, Kind extends string> {
  /** What the call belongs to. Traffic of predictions is not counted as traffic of training. */
  readonly part: "attempt" | "tree" | "prediction";
  /** What it leaves in the chain of digests. */
  readonly entries?: Readonly<Record<Kind, EntryFacts>>;
  readonly recorder?: (tools: RecorderTools) => Recorder<RequestOf<Name>, AnswerOf<Name>, NoInfer<Kind>>;
  /** Where a passive party takes only the first of several copies of a call: which calls are copies of each other. */
  readonly copyOf?: (firstRequest: RequestOf<Name>) => number;
}

/** An entry of the table, with its types. */
export function call<Name extends CallName>(): <Kind extends string = never>(
  facts: CallFacts<Name, Kind>,
) => CallFacts<Name, Kind> {
  return (facts) => facts;
}

/** The digest of something that travels in any number of pieces. */
export function ofAllPieces(digests: Digests, pieceDigests: readonly Uint8Array[]): Uint8Array {
  return digests.bytes(...pieceDigests);
}

export const noBytes = new Uint8Array(0);
