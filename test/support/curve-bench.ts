/** The two halves of the curve scheme, with gradients and nodes to work on: single messages can be seen and changed. */
import { create } from "@bufbuild/protobuf";
import { codecWith } from "../../src/base/parameters/parameters.ts";
import type { QuantisedGradients } from "../../src/base/gradients/quantised-gradients.ts";
import { toNoiseScale } from "../../src/base/noise/noise-scale.ts";
import { quantise } from "../../src/codec/batch-codec.ts";
import { gradientLayout } from "../../src/codec/gradient-layout.ts";
import type { GradientLayout } from "../../src/codec/layout.ts";
import { selectCurveKernel } from "../../src/crypto/curve/select-kernel.ts";
import { type BinnedFeature, binFeature, totalBinCount } from "../../src/gbdt/split/binning.ts";
import { candidateCount } from "../../src/gbdt/split/candidate.ts";
import { noMinimums } from "../../src/gbdt/split/offered-candidates.ts";
import type { Crew } from "../../src/scheme/blocks/crew.ts";
import { mostFrequentBins } from "../../src/scheme/candidates/candidate-plan.ts";
import { SentNodes } from "../../src/scheme/candidates/sent-nodes.ts";
import type { TreeJob } from "../../src/scheme/candidates/tree-nodes.ts";
import { TreeSample } from "../../src/scheme/candidates/tree-sample.ts";
import { CurveActive, curvePlaintextBits } from "../../src/scheme/curve/active.ts";
import { CurvePassive } from "../../src/scheme/curve/passive.ts";
import type { GradientChunk } from "../../src/scheme/scheme.ts";
import type { SentPassiveJob } from "../../src/scheme/sent-scheme.ts";
import { NodeMembersSchema } from "../../src/wire/generated/tandem/v1/tandem_pb.ts";
import { collect } from "./streams.ts";

export const instanceCount = 12;
export const activeSeed = new Uint8Array(32).fill(1);
export const passiveSeed = new Uint8Array(32).fill(2);

export interface CurveBench {
  readonly features: readonly BinnedFeature[];
  readonly layout: GradientLayout;
  readonly gradients: QuantisedGradients;
  readonly job: SentPassiveJob;
  readonly trees: TreeJob;
}

const terms = {
  codec: "batched",
  resolutionBits: 6,
  slotBits: 0,
  padding: 2,
  outputs: 1,
  answerNoise: 0,
  maxDepth: 3,
  maxLeaves: 0,
};

/** @param change is added to the first gradient */
export function curveBench(answerNoise = 0, change = 0): CurveBench {
  const g = Float64Array.from({ length: instanceCount }, (_, i) => ((i * 7) % 11) / 8 - 0.5);
  g[0] += change;
  const h = g.map((value) => (1 - value * value) / 4);
  const features = [
    binFeature(
      "plain",
      Float32Array.from({ length: instanceCount }, (_, i) => i % 4),
      8,
    ),
    binFeature(
      "holes",
      Float32Array.from({ length: instanceCount }, (_, i) => (i % 3 === 0 ? Number.NaN : i % 5)),
      8,
    ),
  ];
  const scale = toNoiseScale({ ...terms, answerNoise });
  const bounds = [
    { min: -1, max: 1 },
    { min: 0, max: 0.25 },
  ];
  const parameters = codecWith({ resolution_bits: terms.resolutionBits });
  const layout = gradientLayout(parameters, curvePlaintextBits, { values: [g, h], bounds }, scale);
  const instances = Uint32Array.from({ length: instanceCount }, (_, i) => i);
  return {
    features,
    layout,
    gradients: quantise(layout, [g, h]),
    trees: {
      features,
      instances,
      maxDepth: 3,
      maxLeaves: 0,
      permutationSecret: new Uint8Array(32).fill(5),
      skippedBins: mostFrequentBins(features, instances),
      sampler: null,
      minimums: noMinimums,
      noise: scale && { secret: new Uint8Array(32).fill(6), scale, slotCount: 2 },
    },
    job: {
      parameters: {},
      instanceCount,
      candidateCount: features.reduce((sum, feature) => sum + candidateCount(feature), 0),
      nodesAskedMax: 4,
      treesPerRound: 1,
      terms: { ...terms, answerNoise },
      allowsUnpacked: false,
      columns: { bins: features.map(({ bins }) => bins), binCounts: Uint32Array.from(features, totalBinCount) },
    },
  };
}

export const newActive = (): CurveActive => new CurveActive(selectCurveKernel(), 1, activeSeed);
export const newPassive = (crew?: Crew): CurvePassive => new CurvePassive(selectCurveKernel(), 1, passiveSeed, crew);

export function treeOf({ trees }: CurveBench, sampled: Uint8Array = new Uint8Array(0)): SentNodes {
  return new SentNodes(trees, 0, 0, new TreeSample(trees.features, instanceCount, sampled));
}

/** All messages of a round. */
export function roundOf(
  active: CurveActive,
  { layout, gradients }: CurveBench,
  serial = 0,
  sample: Uint32Array | null = null,
): Promise<GradientChunk[]> {
  return collect(active.gradients(layout, gradients, sample, serial));
}

/** Sends a round's messages. */
export async function take(passive: CurvePassive, nodes: SentNodes, chunks: readonly GradientChunk[]): Promise<void> {
  passive.beginRound(nodes);
  for (const { message, isOfBases = false } of chunks)
    await (isOfBases ? passive.bases(message) : passive.gradients(message));
  await passive.endOfGradients();
}

/** The one message of a node's answer, and its counts. */
export async function answerOf(
  passive: CurvePassive,
  nodes: SentNodes,
  node = 0,
): Promise<{ readonly message: Uint8Array; readonly counts: readonly number[] }> {
  const task = nodes.task(node);
  const [{ message }] = await collect(passive.sums(task));
  return { message, counts: [...task.counts] };
}

export function place(nodes: SentNodes, node: number, sibling: number, parent: number, members: Uint8Array): void {
  nodes.place(node, create(NodeMembersSchema, { parent, sibling, members }));
}
