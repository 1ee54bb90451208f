/** The active half in one attempt at a job: public rows, hints of the parties, and the nodes that are being asked. */
import { assert } from "../../base/assert.ts";
import { TandemError } from "../../base/error.ts";
import { rowLoops } from "../../base/rows/row-loops.ts";
import type { GradientLayout } from "../../codec/layout.ts";
import { rootId } from "../../gbdt/tree/grow.ts";
import { nonceList } from "../../crypto/lattice/common-key.ts";
import { EncryptedNode, roomBytes } from "../../crypto/lattice/encrypted-node.ts";
import { InnerProducts, type PartyHints } from "../../crypto/lattice/inner-products.ts";
import { jobNonce } from "../../crypto/lattice/job-seeds.ts";
import { type AnswerBudget, withHints } from "../../crypto/lattice/parameters/distance.ts";
import type { JobBounds } from "../../crypto/lattice/parameters/job-bounds.ts";
import { jobProof } from "../../crypto/lattice/parameters/job-proof.ts";
import type { Lattice, LatticeKernel } from "../../crypto/lattice/kernel.ts";
import { shareBits, ShareDecoder } from "../../crypto/lattice/parameters/shares.ts";
import { type LatticeSet, latticeSets } from "../../crypto/lattice/parameters/sets.ts";
import { bytesFieldHeader } from "../../wire/large-bytes.ts";
import { LatticeNodeSchema, LatticeSetUpSchema } from "../../wire/generated/tandem/v1/lattice_pb.ts";
import { encodeMessage } from "../../wire/scheme-message.ts";
import type { HiddenActiveJob, HiddenNode } from "../hidden-scheme.ts";
import type { AskedOfPeer, GradientChunk } from "../scheme.ts";
import { hidingBounds, type LatticeTerms, jobShape } from "./set-up.ts";
import { takeHints } from "./hint-table.ts";

/** Larger than other chunks: sealing and summing are fast, and each message costs both parties the same again. */
const nodeChunkBytes = 2 << 20;

/** A node that is being answered. */
interface AskedNode {
  readonly tree: number;
  readonly outputs: readonly number[];
  /** Per output of the tree. */
  readonly encrypted: readonly EncryptedNode[];
}

export class ActiveAttempt {
  readonly setUpMessage: Uint8Array;
  /** A human-readable proof that every sum is decrypted exactly, and what answers reveal besides sums. */
  readonly proof: readonly string[];
  readonly #lattice: Lattice;
  readonly #bounds: JobBounds;
  /** Per passive party, once received. */
  readonly #hints: (PartyHints | undefined)[];
  readonly #jobSeed: Uint8Array;
  readonly #isNoisy: boolean;
  /** Known with the hints of all parties. */
  #products: InnerProducts | null = null;
  /** Per instance its row, -1 where it is never summed; null: rows are instances. */
  readonly #rowOf: Int32Array | null;
  readonly #nodes = new Map<string, AskedNode>();

  constructor(kernel: LatticeKernel, threads: number, jobSeed: Uint8Array, job: HiddenActiveJob) {
    const budget = budgetOf(job);
    this.#bounds = boundsFor(job, budget);
    this.proof = jobProof(this.#bounds, budget);
    // The same in every attempt, as the passive parties' nonces are: so the public rows are those of the job.
    const nonce = jobNonce(jobSeed);
    const nonces = nonceList(job.greetings, (i) => jobNonce(jobSeed, 1 + i));
    this.#lattice = kernel.lattice(jobShape(this.#bounds, job.run, nonce, nonces), threads);
    this.#hints = job.greetings.map(() => undefined);
    this.#jobSeed = jobSeed;
    this.#isNoisy = job.layout.noise !== null;
    this.#rowOf = rowsOf(job);
    this.setUpMessage = encodeMessage(LatticeSetUpSchema, {
      set: this.#bounds.set.name,
      nonce,
      nonces: Buffer.concat(nonces),
    });
  }

  /** Bits of masks; 0: there are none. */
  get maskBits(): number {
    return shareBits(this.#bounds);
  }

  /** Turns what is decrypted into shares. */
  get shareDecoder(): ShareDecoder {
    return new ShareDecoder(this.#bounds);
  }

  hintCount(peer: number): number {
    return this.#hints[peer]?.candidateCount ?? 0;
  }

  /** @throws TandemError PROTOCOL_STATE for inconsistent pieces */
  async hints(peer: number, candidateCount: number, pieces: AsyncIterable<Uint8Array>): Promise<void> {
    assert(this.#hints[peer] === undefined && this.#products === null, "hints are received once per attempt");
    this.#hints[peer] = await takeHints(this.#lattice, candidateCount, pieces);
    if (this.#hints.every((hints) => hints !== undefined))
      this.#products = new InnerProducts(this.#lattice, this.#hints as PartyHints[]);
  }

  async *seal({ tree, node, outputs, sampled, gradients }: HiddenNode): AsyncGenerator<GradientChunk> {
    const key = keyOf(tree, node);
    assert(!this.#nodes.has(key), "a node is requested once per attempt");
    const { set } = this.#lattice.shape;
    const encrypted: EncryptedNode[] = [];
    this.#nodes.set(key, { tree, outputs, encrypted });
    for (let i = 0; i < outputs.length; i++) {
      if (this.#products === null)
        throw new TandemError("PROTOCOL_STATE", "a node was requested before all hints were received");
      const columns = this.#columns(gradients.columns, 2 * outputs[i], sampled);
      // With noise equal roots are the same bytes, so that passive parties give them the same noise.
      const place = { tree: this.#isNoisy && node === rootId ? 0 : tree, node, output: i };
      const one = new EncryptedNode(this.#lattice, this.#products, this.#jobSeed, place, columns);
      encrypted.push(one);
      for await (const { firstRecord, isLast, records } of one.chunks(nodeChunkBytes)) {
        const message = nodeMessage(i, firstRecord, records);
        const more = !isLast || i + 1 < outputs.length;
        yield { message, ciphertexts: (records.length / set.recordBytes) * set.groups, more };
      }
    }
  }

  /** Per output of the tree the sums of g and h of the answered candidates. */
  async open(
    { peer, tree, node }: AskedOfPeer,
    words: Uint8Array,
    places: Uint32Array | null,
  ): Promise<readonly { readonly output: number; readonly pairs: Float64Array }[]> {
    const asked = this.#nodes.get(keyOf(tree, node));
    if (asked === undefined)
      throw new TandemError("PROTOCOL_STATE", "an answer for a node whose gradients were not sent");
    const { set } = this.#lattice.shape;
    const count = places?.length ?? this.hintCount(peer);
    const size = (set.wordBits / 8) * set.groups * count;
    if (words.length !== size * asked.outputs.length)
      throw new TandemError("PROTOCOL_STATE", "the length of an answer does not match its candidates");
    return Promise.all(
      asked.encrypted.map(async (encrypted, i) => {
        const pairs = await encrypted.open(peer, words.subarray(i * size, (i + 1) * size), places);
        if (this.#bounds.slotOffset > 0)
          for (let at = 1; at < pairs.length; at += 2) pairs[at] -= this.#bounds.slotOffset;
        return { output: asked.outputs[i], pairs };
      }),
    );
  }

  endTree(tree: number): void {
    for (const [key, asked] of this.#nodes) {
      if (asked.tree !== tree) continue;
      for (const encrypted of asked.encrypted) encrypted.dispose();
      this.#nodes.delete(key);
    }
  }

  close(): void {
    for (const { tree } of this.#nodes.values()) this.endTree(tree);
    this.#products?.close();
  }

  /** g and h by row, zero for instances that are not summed at the node. @param slot of g; that of h follows */
  #columns(values: readonly Float64Array[], slot: number, sampled: Uint32Array): [g: Int32Array, h: Int32Array] {
    const rowOf = this.#rowOf;
    const [g, h] = [values[slot], values[slot + 1]];
    const { rowCount } = this.#lattice.shape;
    const [gOfRow, hOfRow] = [new Int32Array(rowCount), new Int32Array(rowCount)];
    const loops = rowLoops();
    loops.place(g, sampled, rowOf, gOfRow);
    loops.place(h, sampled, rowOf, hOfRow);
    return [gOfRow, hOfRow];
  }
}

/** Serialises a LatticeNode without copying its records. */
function nodeMessage(output: number, firstRecord: number, records: Uint8Array<ArrayBuffer>): Uint8Array {
  const before = encodeMessage(LatticeNodeSchema, { output, firstRecord });
  const header = bytesFieldHeader(LatticeNodeSchema.field.records.number, records.length);
  const start = roomBytes - before.length - header.length;
  const message = new Uint8Array(records.buffer, start);
  message.set(before);
  message.set(header, before.length);
  return message;
}

function budgetOf({ nodesMax, outputsPerTree: outputs, candidatesMax }: HiddenActiveJob): AnswerBudget {
  return { nodesMax, outputs, candidateCount: candidatesMax };
}

/** Set A if it hides the requested answers, otherwise B, whose hints are four times as large. */
function boundsFor({ layout, rows, instanceCount, masksSums }: HiddenActiveJob, budget: AnswerBudget): JobBounds {
  const terms = termsOf(layout, rows?.length ?? instanceCount, masksSums);
  const boundsIn = (set: LatticeSet): JobBounds => hidingBounds(set, terms, withHints(set, budget));
  try {
    return boundsIn(latticeSets.A);
  } catch (error) {
    if (!(error instanceof TandemError) || masksSums) throw error;
    return boundsIn(latticeSets.B);
  }
}

function termsOf(
  { slots, noise, limbs, hidesCounts }: GradientLayout,
  rowCount: number,
  masksSums: boolean,
): LatticeTerms {
  const unit = slots[0].noise?.largest;
  if (limbs !== 1 || !hidesCounts || unit === undefined)
    throw new TandemError("USAGE", "the lattice scheme sums integers below 2^50. Use a lower --resolution-bits");
  return { rowCount, resolutionBits: Math.log2(unit), noiseMax: noise?.max ?? 0, masksSums };
}

function rowsOf({ rows, instanceCount }: HiddenActiveJob): Int32Array | null {
  if (rows === null || rows.length === instanceCount) return null;
  const rowOf = new Int32Array(instanceCount).fill(-1);
  rows.forEach((instance, row) => (rowOf[instance] = row));
  return rowOf;
}

function keyOf(tree: number, node: number): string {
  return `${tree}/${node}`;
}
