/**
 * The sums of one tree at a passive party, from existing ciphertexts: the work of blocks, in this process or at
 * workers. The party's own code asks (scheme/blocks/sent-blocks.ts), as in a job: a round begins, gradients
 * arrive in chunks, all blocks confirm them, and then the root, one of its children and two nodes below are requested
 * one by one.
 *
 * Not included: encryption, which is the active party's work, and packing and fresh randomness, which the passive
 * party's own process always does.
 */
import { create } from "@bufbuild/protobuf";
import { createHash } from "node:crypto";
import { SeededRandom } from "../../src/base/random.ts";
import { generateKey, type Kernel, plaintextsFromBigints, selectKernel } from "../../src/crypto/paillier/index.ts";
import type { PublicEvaluator } from "../../src/crypto/paillier/kernel.ts";
import { binFeature, type BinnedFeature, totalBinCount } from "../../src/gbdt/split/binning.ts";
import { noMinimums } from "../../src/gbdt/split/offered-candidates.ts";
import type { Crew } from "../../src/scheme/blocks/crew.ts";
import { EmbeddedCrew } from "../../src/scheme/blocks/embedded-crew.ts";
import { mostFrequentBins } from "../../src/scheme/candidates/candidate-plan.ts";
import type { SentTask } from "../../src/scheme/candidates/node-task.ts";
import { SentNodes } from "../../src/scheme/candidates/sent-nodes.ts";
import { TreeSample } from "../../src/scheme/candidates/tree-sample.ts";
import { PaillierBlock, paillierCells } from "../../src/scheme/paillier/block.ts";
import { SentBlocks } from "../../src/scheme/blocks/sent-blocks.ts";
import type { ResidentVector } from "../../src/crypto/paillier/vectors.ts";
import { paillierSchemeName } from "../../src/scheme/paillier/scheme-name.ts";
import { bitmapFrom } from "../../src/wire/bitmap.ts";
import { bigEndianBytes } from "../../src/wire/big-endian.ts";
import { PaillierBlockTermsSchema } from "../../src/wire/generated/tandem/v1/blocks_pb.ts";
import { NodeMembersSchema } from "../../src/wire/generated/tandem/v1/tandem_pb.ts";
import { encodeMessage } from "../../src/wire/scheme-message.ts";

const keyBits = 2048;
const featureCount = 20;
const binCount = 32;
/** About what one message of gradients holds. */
const chunkInstances = 1024;
/** Of a node's people those in the smaller child. */
const smallerShare = 0.4;

export interface ReadyJob {
  readonly kernel: Kernel;
  readonly rows: number;
  readonly features: readonly BinnedFeature[];
  readonly ciphertexts: Uint8Array;
  readonly ciphertextBytes: number;
  /** What blocks must know, including the public key. */
  readonly terms: Uint8Array;
  readonly evaluator: (threads: number) => PublicEvaluator;
}

/** Synthetic, and encrypted once: the values do not affect the time of a sum. */
export async function readyJob(rows: number, seed: number): Promise<ReadyJob> {
  const random = new SeededRandom(`bench-workers-${seed}`);
  const kernel = selectKernel();
  const key = await generateKey({ bits: keyBits });
  const { publicKey } = key;
  const plaintexts = Array.from({ length: rows }, () => BigInt(random.uint32()));
  const owner = kernel.privateEvaluator(key, { threads: 2 });
  const sealed = await owner.encrypt(plaintextsFromBigints(publicKey, plaintexts));
  const features = Array.from({ length: featureCount }, (_, i) =>
    binFeature(
      `f${i}`,
      Float32Array.from({ length: rows }, () => random.normal()),
      binCount,
    ),
  );
  return {
    kernel,
    rows,
    features,
    ciphertexts: sealed.bytes,
    ciphertextBytes: publicKey.ciphertextBytes,
    terms: encodeMessage(PaillierBlockTermsSchema, {
      modulus: bigEndianBytes(publicKey.n),
      keyBits,
      ciphertextsPerInstance: 1,
      jointBins: true,
    }),
    evaluator: (threads) => kernel.publicEvaluator(publicKey, { threads }),
  };
}

/** One way to compute the sums of a job's blocks. */
export class SummedTrees {
  readonly #job: ReadyJob;
  readonly #evaluator: PublicEvaluator;
  readonly #gradients: SentBlocks<ResidentVector>;
  readonly #nodes: SentNodes;
  readonly #tasks: readonly SentTask[];

  private constructor(job: ReadyJob, evaluator: PublicEvaluator, gradients: SentBlocks<ResidentVector>) {
    this.#job = job;
    this.#evaluator = evaluator;
    this.#gradients = gradients;
    this.#nodes = grownTree(job);
    this.#tasks = askedNodes.map((node) => this.#nodes.task(node));
  }

  /** @param threads of the party's own process */
  static async open(job: ReadyJob, threads: number, crew?: Crew): Promise<SummedTrees> {
    const embedded = new EmbeddedCrew((data) => new PaillierBlock(job.kernel, data, threads));
    const blocks = await (crew ?? embedded).open({
      scheme: paillierSchemeName,
      terms: job.terms,
      rowCount: job.rows,
      columns: {
        bins: job.features.map(({ bins }) => bins),
        binCounts: Uint32Array.from(job.features, totalBinCount),
      },
    });
    const evaluator = job.evaluator(threads);
    return new SummedTrees(
      job,
      evaluator,
      new SentBlocks(blocks, evaluator.key.ciphertextBytes, paillierCells(evaluator)),
    );
  }

  /** @returns a digest of all sums: independent of which worker computes them */
  async tree(): Promise<string> {
    await this.load();
    const digest = createHash("sha256");
    for (const task of this.#tasks) {
      const cells = await this.#gradients.sums(task);
      digest.update((await this.#evaluator.unload(cells)).bytes);
      this.#evaluator.free(cells);
    }
    return digest.digest("hex");
  }

  /** Sends a round's gradients, and waits until all blocks have them. */
  async load(): Promise<void> {
    const { rows, ciphertexts, ciphertextBytes } = this.#job;
    this.#gradients.beginRound(this.#nodes);
    for (let first = 0; first < rows; first += chunkInstances) {
      const end = Math.min(rows, first + chunkInstances);
      await this.#gradients.load(first, ciphertexts.subarray(first * ciphertextBytes, end * ciphertextBytes));
    }
    await this.#gradients.loaded();
  }

  /** The answers of all blocks about the root. */
  async root(): Promise<void> {
    this.#evaluator.free(await this.#gradients.sums(this.#tasks[0]));
  }

  close(): void {
    this.#gradients.close();
  }
}

/** The root, its smaller child, and the smaller child of each of its children. */
const askedNodes = [0, 1, 3, 5];

function grownTree({ features, rows }: ReadyJob): SentNodes {
  const instances = Uint32Array.from({ length: rows }, (_, i) => i);
  const job = {
    features,
    instances,
    maxDepth: 3,
    maxLeaves: 0,
    permutationSecret: new Uint8Array(32),
    skippedBins: mostFrequentBins(features, instances),
    sampler: null,
    minimums: noMinimums,
  };
  const nodes = new SentNodes(job, 0, 0, new TreeSample(features, rows, new Uint8Array(0)));
  for (const [node, sibling, parent] of [
    [1, 2, 0],
    [3, 4, 1],
    [5, 6, 2],
  ] as const) {
    const isInside = new SeededRandom(`bench-workers-node-${node}`);
    const members = bitmapFrom(nodes.members(parent).length, () => isInside.uniform() < smallerShare);
    nodes.place(node, create(NodeMembersSchema, { parent, sibling, members }));
  }
  return nodes;
}
