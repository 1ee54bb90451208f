/** The two halves of the Paillier scheme, with gradients and nodes to work on. */
import { create } from "@bufbuild/protobuf";
import { collect } from "./streams.ts";
import { codecWith } from "../../src/base/parameters/parameters.ts";
import type { QuantisedGradients } from "../../src/base/gradients/quantised-gradients.ts";
import { toNoiseScale } from "../../src/base/noise/noise-scale.ts";
import { SeededRandom } from "../../src/base/random.ts";
import { quantise } from "../../src/codec/batch-codec.ts";
import type { GradientLayout } from "../../src/codec/layout.ts";
import { modulusProof, type PrivateKey } from "../../src/crypto/paillier/index.ts";
import { portableKernel } from "../../src/crypto/paillier/portable-kernel.ts";
import { type BinnedFeature, binFeature, totalBinCount } from "../../src/gbdt/split/binning.ts";
import { candidateCount } from "../../src/gbdt/split/candidate.ts";
import { noMinimums } from "../../src/gbdt/split/offered-candidates.ts";
import { decodeMessage } from "../../src/wire/scheme-message.ts";
import { PaillierSumsSchema } from "../../src/wire/generated/tandem/v1/paillier_pb.ts";
import { NodeMembersSchema } from "../../src/wire/generated/tandem/v1/tandem_pb.ts";
import { mostFrequentBins } from "../../src/scheme/candidates/candidate-plan.ts";
import type { TreeJob } from "../../src/scheme/candidates/tree-nodes.ts";
import { SentNodes } from "../../src/scheme/candidates/sent-nodes.ts";
import { TreeSample } from "../../src/scheme/candidates/tree-sample.ts";
import { gradientLayout } from "../../src/codec/gradient-layout.ts";
import { PaillierActive } from "../../src/scheme/paillier/active.ts";
import { PaillierPassive } from "../../src/scheme/paillier/passive.ts";
import type { SentPassiveJob } from "../../src/scheme/sent-scheme.ts";

export const instanceCount = 40;
export const keyBits = 256;
export const random = new SeededRandom("paillier scheme");

export function someFeatures(): BinnedFeature[] {
  const column = (missingFraction: number): Float32Array =>
    Float32Array.from({ length: instanceCount }, () =>
      random.uniform() < missingFraction ? Number.NaN : random.below(6),
    );
  return [
    binFeature("plain", column(0), 8),
    binFeature("holes", column(0.3), 8),
    binFeature("constant", new Float32Array(instanceCount), 8),
    binFeature("empty", new Float32Array(instanceCount).fill(Number.NaN), 8),
  ];
}

/** The proof that belongs to a key. */
export function rootsOf(key: PrivateKey): Promise<Uint8Array[]> {
  const options = { threads: 1 };
  const evaluator = portableKernel.publicEvaluator(key.publicKey, options);
  return modulusProof(portableKernel.privateEvaluator(key, options), evaluator);
}

export interface Bench {
  readonly active: PaillierActive;
  readonly passive: PaillierPassive;
  readonly features: readonly BinnedFeature[];
  readonly layout: GradientLayout;
  readonly gradients: QuantisedGradients;
  readonly job: SentPassiveJob;
  readonly trees: TreeJob;
}

export function bench(
  privateKey: PrivateKey,
  codec: "batched" | "unbatched" = "batched",
  features = someFeatures(),
  answerNoise = 0,
): Bench {
  const active = new PaillierActive(portableKernel, privateKey, 1);
  const g = Float64Array.from({ length: instanceCount }, () => random.uniform() * 2 - 1);
  const h = g.map((value) => (1 - value * value) / 4);
  const terms = {
    codec,
    resolutionBits: 24,
    slotBits: 0,
    padding: 2,
    outputs: 1,
    answerNoise,
    maxDepth: 3,
    maxLeaves: 0,
  };
  const scale = toNoiseScale(terms);
  const bounds = [
    { min: -1, max: 1 },
    { min: 0, max: 0.25 },
  ];
  const parameters = codecWith({ codec });
  const layout = gradientLayout(parameters, active.plaintextBitsMax, { values: [g, h], bounds }, scale);
  const instances = Uint32Array.from({ length: instanceCount }, (_, i) => i);
  const trees = {
    features,
    instances,
    maxDepth: 3,
    maxLeaves: 0,
    permutationSecret: new Uint8Array(32).fill(5),
    skippedBins: mostFrequentBins(features, instances),
    sampler: null,
    minimums: noMinimums,
    noise: scale && { secret: new Uint8Array(32).fill(6), scale, slotCount: 2 },
  };
  const job = {
    parameters: { keyBits: privateKey.publicKey.bits },
    instanceCount,
    candidateCount: features.reduce((sum, feature) => sum + candidateCount(feature), 0),
    nodesAskedMax: 4,
    treesPerRound: 1,
    terms,
    allowsUnpacked: false,
    run: new Uint8Array(32),
    nodesPerTree: 1,
    nodesMax: 0,
    outputsPerTree: 1,
    columns: { bins: features.map(({ bins }) => bins), binCounts: Uint32Array.from(features, totalBinCount) },
    summed: null,
  };
  return {
    active,
    passive: new PaillierPassive(portableKernel, 1),
    features,
    layout,
    gradients: quantise(layout, [g, h]),
    job,
    trees,
  };
}

export function treeOf({ trees }: Bench, tree = 0, sampled: Uint8Array = new Uint8Array(0)): SentNodes {
  return new SentNodes(trees, tree, tree, new TreeSample(trees.features, instanceCount, sampled));
}

export async function loaded(made: Bench, tree = 0): Promise<Bench & { readonly nodes: SentNodes }> {
  const { active, passive, layout, gradients, job } = made;
  const nodes = treeOf(made, tree);
  await passive.setUp(await active.setUp({ layout }), job);
  passive.beginRound(nodes);
  for await (const { message } of active.gradients(layout, gradients, null, tree)) await passive.gradients(message);
  await passive.endOfGradients();
  return { ...made, nodes };
}

/** A node's sums in pieces, with the counts of each. */
export async function answerOf(
  { passive, nodes }: { readonly passive: PaillierPassive; readonly nodes: SentNodes },
  node = 0,
): Promise<{ readonly counts: number[]; readonly message: Uint8Array }[]> {
  const task = nodes.task(node);
  let first = 0;
  const pieces = [];
  for (const { candidateCount: count, message } of await collect(passive.sums(task))) {
    pieces.push({ counts: [...task.counts.subarray(first, first + count)], message });
    first += count;
  }
  return pieces;
}

export function place(nodes: SentNodes, node: number, sibling: number, parent: number, members: Uint8Array): void {
  nodes.place(node, create(NodeMembersSchema, { parent, sibling, members }));
}

export function sumsOf(message: Uint8Array): Uint8Array {
  return decodeMessage(PaillierSumsSchema, message).ciphertexts;
}
