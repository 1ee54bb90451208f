/**
 * The passive half of the lattice scheme. It receives a record of every row at every node, and never the members of a
 * node: a node is a plain histogram over integers modulo q, which blocks of rows compute (block.ts). Masks, smudging
 * noise and answer noise are added here. What depends on the bins alone is sent once per attempt, masked: the hints.
 * All of it follows from the seed of the job, so that a request which is repeated gets the same bytes.
 *
 * @reveals active: which candidate is which over all trees, where members are hidden; which candidates are drawn
 *   together
 */
import { TandemError } from "../../base/error.ts";
import { checkOwnNonce } from "../../crypto/lattice/common-key.ts";
import { HintSecrets } from "../../crypto/lattice/hint-secrets.ts";
import { jobNonce } from "../../crypto/lattice/job-seeds.ts";
import type { JobBounds } from "../../crypto/lattice/parameters/job-bounds.ts";
import type { BinChains, Lattice, LatticeKernel } from "../../crypto/lattice/kernel.ts";
import { wordBytes } from "../../crypto/lattice/parameters/sets.ts";
import { shareBits } from "../../crypto/lattice/parameters/shares.ts";
import { bitmapFrom } from "../../wire/bitmap.ts";
import {
  LatticeHintsSchema,
  LatticeSetUpSchema,
  LatticeSumsSchema,
} from "../../wire/generated/tandem/v1/lattice_pb.ts";
import { decodeMessage, encodeMessage } from "../../wire/scheme-message.ts";
import { chunkBytes } from "../../wire/version.ts";
import { AttemptCrew } from "../blocks/attempt-crew.ts";
import type { Crew } from "../blocks/crew.ts";
import { EmbeddedCrew } from "../blocks/embedded-crew.ts";
import type { HiddenTask } from "../candidates/node-task.ts";
import type { HiddenPassive, HiddenPassiveJob, NodeRequest, TakenNode } from "../hidden-scheme.ts";
import { noOperations, type SumsPiece } from "../scheme.ts";
import { LatticeBlock, latticeBlockTerms } from "./block.ts";
import { hintedChains } from "./hinted-chains.ts";
import { ReceivedNode } from "./received-node.ts";
import { RowBlocks } from "./row-blocks.ts";
import { latticeSchemeName } from "./scheme-name.ts";
import { hidingBounds, latticeTerms, noncesFrom, setNamed, jobShape } from "./set-up.ts";

interface SetUpState {
  readonly job: HiddenPassiveJob;
  readonly bounds: JobBounds;
  readonly lattice: Lattice;
  readonly chains: BinChains;
  /** Per candidate of the job its index among those with hints, or -1. */
  readonly hintOf: Int32Array;
  readonly hintCount: number;
  readonly secrets: HintSecrets;
  readonly rows: RowBlocks;
}

export interface LatticePassiveOptions {
  /** Holds the rows; left out: this process. */
  readonly crew?: Crew | undefined;
  /** Approximate bytes of an answer message: outputs times candidates may exceed one message. */
  readonly pieceBytes?: number;
}

export class LatticePassive implements HiddenPassive {
  readonly counts = noOperations();
  readonly membership = "hidden";
  readonly #kernel: LatticeKernel;
  readonly #threads: number;
  readonly #jobSeed: Uint8Array;
  readonly #crew: AttemptCrew;
  readonly #pieceBytes: number;
  #state: SetUpState | null = null;

  constructor(
    kernel: LatticeKernel,
    threads: number,
    jobSeed: Uint8Array,
    { crew, pieceBytes = chunkBytes }: LatticePassiveOptions = {},
  ) {
    this.#kernel = kernel;
    this.#threads = threads;
    this.#jobSeed = jobSeed;
    this.#crew = new AttemptCrew(crew ?? new EmbeddedCrew((data) => new LatticeBlock(kernel, data, threads)));
    this.#pieceBytes = pieceBytes;
  }

  /** @returns the whole message */
  async setUp(message: Uint8Array, job: HiddenPassiveJob): Promise<Uint8Array> {
    const { summed, terms, run, nodesMax, outputsPerTree: outputs } = job;
    const { set: name, nonce, nonces } = decodeMessage(LatticeSetUpSchema, message);
    const set = setNamed(name);
    const list = noncesFrom(nonces);
    checkOwnNonce(list, this.greeting());
    const { bins, offered } = summed;
    const rowCount = bins[0]?.length ?? job.instanceCount;
    const budget = { nodesMax, outputs, candidateCount: Math.max(1, offered.length) };
    const bounds = hidingBounds(set, latticeTerms(terms, rowCount), budget);
    const lattice = this.#kernel.lattice(jobShape(bounds, run, nonce, list), this.#threads);
    const { chains, hintOf } = hintedChains(summed);
    const secrets = new HintSecrets(lattice, bounds, this.#jobSeed);
    this.#state?.rows.close();
    const blocks = await this.#crew.open({
      scheme: latticeSchemeName,
      terms: latticeBlockTerms(lattice.shape),
      rowCount,
      columns: { bins, binCounts: chains.binCounts },
    });
    const rows = new RowBlocks(blocks, lattice, chains.binCounts);
    this.#state = { job, bounds, lattice, chains, hintOf, hintCount: offered.length, secrets, rows };
    return message;
  }

  greeting(): Uint8Array {
    return jobNonce(this.#jobSeed);
  }

  async *hints(): AsyncGenerator<Uint8Array> {
    const { job, lattice, chains, hintCount, secrets } = this.#setUpState();
    const words = await secrets.make(job.summed.bins, chains, hintCount);
    const size = wordBytes(lattice.shape.set) * lattice.shape.set.degree;
    const perMessage = Math.max(1, Math.floor(chunkBytes / size));
    for (let first = 0; first < Math.max(1, hintCount); first += perMessage)
      yield encodeMessage(LatticeHintsSchema, {
        firstCandidate: first,
        candidateCount: hintCount,
        words: words.subarray(first * size, Math.min(first + perMessage, hintCount) * size),
      });
  }

  async take(messages: AsyncIterable<Uint8Array>): Promise<TakenNode> {
    const { job, lattice, chains, secrets, rows } = this.#setUpState();
    const { set, rowCount } = lattice.shape;
    await rows.beginNode();
    const node = new ReceivedNode(secrets, rows, job.outputsPerTree);
    let bytes = 0;
    for await (const message of messages) bytes += await node.take(message);
    const ciphertexts = (bytes / set.recordBytes) * set.groups;
    this.counts.gradientCiphertexts += ciphertexts;
    this.counts.additions += rowCount * chains.binCounts.length * job.outputsPerTree;
    return { ciphertexts, sums: (task, request) => this.#sums(task, node, request) };
  }

  async *#sums(task: HiddenTask, node: ReceivedNode, request: NodeRequest): AsyncGenerator<SumsPiece> {
    const { job, lattice, hintCount } = this.#setUpState();
    const { set } = lattice.shape;
    if (task.counts.length === 0) return;
    const { tree, treeOfRound, digest } = request;
    const noiseOf = (output: number): Float64Array | null =>
      this.#noise(task, job.outputsPerTree === 1 ? treeOfRound : output);
    const words = await node.answer({ tree, node: task.node, digest }, noiseOf);
    const size = wordBytes(set) * set.groups;
    const perPiece = Math.max(1, Math.floor(this.#pieceBytes / (size * job.outputsPerTree)));
    for (let first = 0; first < task.counts.length; first += perPiece) {
      const last = Math.min(first + perPiece, task.counts.length);
      const answered = this.#answered(task, first, last);
      this.counts.candidateCiphertexts += answered.length * set.groups * job.outputsPerTree;
      const isAnswered = new Set(answered);
      yield {
        candidateCount: last - first,
        message: encodeMessage(LatticeSumsSchema, {
          words: Buffer.concat(words.map((all) => picked(all, answered, size))),
          answered:
            answered.length === hintCount ? new Uint8Array(0) : bitmapFrom(hintCount, (hint) => isAnswered.has(hint)),
        }),
      };
    }
  }

  get maskBits(): number {
    return shareBits(this.#setUpState().bounds);
  }

  /** Hint indices of the node's candidates that are not suppressed, ascending; where sums are masked, of all. */
  #answered({ inJob, suppressed, masks }: HiddenTask, first: number, last: number): Uint32Array {
    const { hintOf } = this.#setUpState();
    return Uint32Array.from(
      inJob.filter((_, i) => i >= first && i < last && (suppressed[i] === 0 || masks !== undefined)),
      (place) => hintOf[place],
    );
  }

  /** Per hint the noise or the masks added to g and h of an output; null: none. */
  #noise({ noise, masks, inJob, suppressed }: HiddenTask, output: number): Float64Array | null {
    const { hintOf, hintCount, bounds } = this.#setUpState();
    if (masks !== undefined) {
      const added = new Float64Array(2 * hintCount);
      const bits = this.maskBits;
      inJob.forEach((place, i) => {
        for (const slot of [0, 1]) added[2 * hintOf[place] + slot] = Number(masks.of(i, 2 * output + slot, bits));
      });
      return added;
    }
    if (noise === null) return null;
    const slotCount = noise.length / suppressed.length;
    const slot = 2 * output;
    const added = new Float64Array(2 * hintCount);
    inJob.forEach((place, i) => {
      const hint = hintOf[place];
      if (hint < 0 || suppressed[i] === 1) return;
      added[2 * hint] = noise[i * slotCount + slot];
      added[2 * hint + 1] = noise[i * slotCount + slot + 1] + bounds.slotOffset;
    });
    return added;
  }

  close(): void {
    this.#crew.end();
    this.#state?.secrets.dispose();
    this.#state?.rows.close();
  }

  #setUpState(): SetUpState {
    if (this.#state === null) throw new TandemError("PROTOCOL_STATE", "the scheme is not set up");
    return this.#state;
  }
}

/** Selects some of consecutive pieces of equal size. */
function picked(all: Uint8Array, places: Uint32Array, size: number): Uint8Array {
  if (places.length * size === all.length) return all;
  const chosen = new Uint8Array(places.length * size);
  places.forEach((place, i) => chosen.set(all.subarray(place * size, (place + 1) * size), i * size));
  return chosen;
}
