/**
 * The chain of digests between an active and a passive party, in one attempt at a job. The link of a tree covers the
 * digests of its messages and the link of the tree before; the first covers the commitments of both. A round that is
 * redone continues from the link of the last round that both have: what it replaces was never finished.
 */
import { createHash } from "node:crypto";
import { TandemError } from "../../base/error.ts";
import type { ClosedGradients, Note } from "../../messages/call.ts";
import type { EntryKind } from "../../messages/table.ts";
import { type Entry, isSame, TreeEntries } from "./entries.ts";

/** What both parties know before the first tree. */
export interface ChainBeginning {
  readonly jobId: Uint8Array;
  readonly active: Uint8Array;
  readonly passive: Uint8Array;
}

export function firstLink({ jobId, active, passive }: ChainBeginning): Uint8Array {
  const hash = createHash("sha256").update("tandem-chain/1\n");
  for (const part of [jobId, active, passive]) hash.update(prefixed(part));
  return Uint8Array.from(hash.digest());
}

export function nextLink(previous: Uint8Array, tree: number, entries: Uint8Array): Uint8Array {
  const hash = createHash("sha256").update(`tandem-link/1\n${tree}\n`).update(previous).update(entries);
  return Uint8Array.from(hash.digest());
}

/** The text that a party signs at the end of a tree. */
export function signedText(role: "active" | "passive", job: string, tree: number, link: Uint8Array): Buffer {
  return Buffer.from(`tandem-chain/1\n${role}\n${job}\n${tree}\n${Buffer.from(link).toString("hex")}`, "utf8");
}

/**
 * The text that the active party signs with gradients, before any of them is answered.
 * @param link of a round's gradients the link before the tree; of a node's the link of the tree so far, which covers
 * all answers that the request depends on
 */
export function gradientsText(job: string, link: Uint8Array, { tree, node, digest }: ClosedGradients): Buffer {
  const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");
  const place = `${tree}\n${node ?? "round"}`;
  return Buffer.from(`tandem-gradients/1\nactive\n${job}\n${hex(link)}\n${place}\n${hex(digest)}`, "utf8");
}

/**
 * The text that a passive party signs with its answer about a node that has its own gradients.
 * @param link of the tree so far, with the entries that the request was signed with
 * @param entries of the node: its request and its answer
 */
export function answerText(job: string, link: Uint8Array, tree: number, node: number, entries: Uint8Array): Buffer {
  const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");
  return Buffer.from(`tandem-answer/1\npassive\n${job}\n${hex(link)}\n${tree}\n${node}\n${hex(entries)}`, "utf8");
}

/** Length prefix: makes the concatenation unambiguous. */
function prefixed(bytes: Uint8Array): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32LE(bytes.length);
  return Buffer.concat([length, bytes]);
}

/** A tree about whose messages both parties agree. */
export interface ClosedTree {
  readonly tree: number;
  readonly link: Uint8Array;
  readonly entries: Uint8Array;
}

export class PairChain {
  #tree: number;
  #previous: Uint8Array;
  #entries = new TreeEntries();
  /** Entries that are the same for all trees of an attempt. */
  readonly #attempt: Entry[] = [];

  /** @param tree the next one @param previous the link before it */
  constructor(tree: number, previous: Uint8Array) {
    this.#tree = tree;
    this.#previous = previous;
  }

  /** The tree under way. */
  get tree(): number {
    return this.#tree;
  }

  /** The link before it. */
  get previous(): Uint8Array {
    return this.#previous;
  }

  /**
   * A message of a tree other than the current one is late and ignored.
   * @throws TandemError PROTOCOL_STATE for a message that differs from the recorded one
   */
  note({ kind, tree, node, digest }: Note<EntryKind>): void {
    if (tree === null) this.#attempt.push({ kind, node, digest });
    if (tree === null || tree === this.#tree) this.#entries.note(kind, node, digest);
  }

  /** Whether the current tree has an entry. */
  has(kind: EntryKind, node: number): boolean {
    return this.#entries.has(kind, node);
  }

  /** This party's entries of the current tree. */
  closing(): ClosedTree {
    const entries = this.#entries.encoded();
    return { tree: this.#tree, entries, link: nextLink(this.#previous, this.#tree, entries) };
  }

  /** Checks the other party's entries. @throws TandemError PROTOCOL_STATE naming the tree if they differ */
  agree({ tree, entries, link }: ClosedTree): ClosedTree {
    this.check(tree, entries);
    if (!isSame(link, nextLink(this.#previous, tree, entries)))
      throw new TandemError("PROTOCOL_STATE", `tree ${tree}: the digest is not that of the same messages`);
    return { tree, entries, link };
  }

  /** Checks the other party's entries so far. @throws TandemError PROTOCOL_STATE naming the tree if they differ */
  check(tree: number, entries: Uint8Array): void {
    try {
      if (tree !== this.#tree) throw new TandemError("PROTOCOL_STATE", `tree ${this.#tree} is under way`);
      this.#entries.check(entries);
    } catch (error) {
      if (!(error instanceof TandemError)) throw error;
      throw new TandemError("PROTOCOL_STATE", `tree ${tree}: ${error.message}`, { cause: error });
    }
  }

  /** The tree is stored. */
  advance({ tree, link }: ClosedTree): void {
    this.#tree = tree + 1;
    this.#previous = link;
    this.#entries = new TreeEntries();
    for (const { kind, node, digest } of this.#attempt) this.#entries.note(kind, node, digest);
  }
}
