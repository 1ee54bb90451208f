/** The trees of an attempt at a passive party, one after the other, each with its nodes and the round's sample. */
import { assert } from "../../base/assert.ts";
import { TandemError } from "../../base/error.ts";
import { everyRow } from "../../base/rows/row-loops.ts";
import { toNoiseScale } from "../../base/noise/noise-scale.ts";
import { ColumnSampler } from "../../gbdt/boost/column-sampling.ts";
import { candidateCount } from "../../gbdt/split/candidate.ts";
import { minimumsOfJob } from "../../gbdt/split/job-minimums.ts";
import type { PartyNoise } from "../../gbdt/split/tree-noise.ts";
import type { RevealedSplits } from "../../gbdt/split/revealed-splits.ts";
import type { TreeJob, TreeNodes } from "../../scheme/candidates/tree-nodes.ts";
import { TreeSample } from "../../scheme/candidates/tree-sample.ts";
import { isSet } from "../../wire/bitmap.ts";
import { candidateCountMax } from "../../wire/version.ts";
import { layoutTerms } from "../job-parameters.ts";
import type { PassiveJob } from "./job.ts";

type NodesOf<Nodes> = (
  sampler: ColumnSampler,
  tree: number,
  round: number,
  sample: TreeSample,
  revealed: RevealedSplits | null,
) => Nodes;

export class PassiveTrees<Nodes extends TreeNodes> {
  readonly candidateCount: number;
  readonly #job: PassiveJob;
  readonly #nodesOf: NodesOf<Nodes>;
  readonly #agreedSampler: ColumnSampler;
  /** Of the current round. */
  #sampler: ColumnSampler;
  /** Of the first round with the current gradients. */
  #round = 0;
  #current: Nodes | null = null;

  /**
   * @param nodesOf makes the nodes of a new tree from its columns, its number and its round's, its sample, and what
   * splits have revealed
   */
  constructor(job: PassiveJob, nodesOf: NodesOf<Nodes>) {
    this.#job = job;
    this.#nodesOf = nodesOf;
    this.candidateCount = candidatesOf(job);
    this.#sampler = this.#agreedSampler = samplerOf(job);
  }

  /** The current tree. */
  get current(): Nodes {
    if (this.#current === null) throw new TandemError("PROTOCOL_STATE", "no tree has begun");
    return this.#current;
  }

  /**
   * The first tree of a round.
   * @param sampled bitmap of the instances that the round is trained on; empty: all
   * @param revealed by earlier splits; null: no limit
   * @param columnRate of the round; 0: as agreed
   * @param firstTree of the first round with the same gradients, whose order and noise it has
   */
  begin(tree: number, sampled: Uint8Array, revealed: RevealedSplits | null, columnRate = 0, firstTree = tree): Nodes {
    const { features, instanceCount, agreed } = this.#job;
    this.#sampler = columnRate === 0 ? this.#agreedSampler : samplerOf(this.#job, columnRate);
    this.#round = Math.floor(firstTree / agreed.treesPerRound);
    return this.#start(tree, new TreeSample(features, instanceCount, sampled), revealed);
  }

  /** Another tree of the same round. */
  next(tree: number, revealed: RevealedSplits | null): Nodes {
    const before = this.current;
    const nodes = this.#start(tree, before.sample, revealed);
    // Trees of a round share their root, unless columns or thresholds differ.
    nodes.isRootAsked = before.isRootAsked && revealed === null && this.#agreedSampler.takesAll;
    return nodes;
  }

  #start(tree: number, sample: TreeSample, revealed: RevealedSplits | null): Nodes {
    return (this.#current = this.#nodesOf(this.#sampler, tree, this.#round, sample, revealed));
  }
}

/** The instances that trees may be trained on. @param heldBack bitmap of the others; empty: none */
export function trainingRows({ instanceCount }: PassiveJob, heldBack: Uint8Array): Uint32Array {
  const instances = everyRow(instanceCount);
  return heldBack.length === 0 ? instances : instances.filter((instance) => !isSet(heldBack, instance));
}

/**
 * What all trees of a job have in common.
 * @param trainedCount number of instances that trees may be trained on
 * @param skippedBins per feature the bin that is left out of sums, or -1
 */
export function treeJobOf(job: PassiveJob, trainedCount: number, skippedBins: Int32Array): TreeJob {
  const { features, instanceCount, permutationSecret, agreed } = job;
  return {
    features,
    instances: everyRow(instanceCount),
    permutationSecret,
    skippedBins,
    isInTieOrder: agreed.defences.hidden_sums || agreed.vetting,
    sampler: samplerOf(job),
    maxDepth: agreed.maxDepth,
    maxLeaves: agreed.maxLeaves,
    minimums: minimumsOfJob(job.minimums, agreed.defences, trainedCount),
    noise: noiseOf(job),
  };
}

function samplerOf({ agreed, samplingSecret = "" }: PassiveJob, byTree = agreed.colsampleBytree): ColumnSampler {
  const rates = { byTree, byLevel: agreed.colsampleBylevel, byNode: agreed.colsampleBynode };
  return new ColumnSampler(rates, agreed.seed, samplingSecret);
}

/** @throws TandemError USAGE if there are too many */
function candidatesOf({ features }: PassiveJob): number {
  const count = features.reduce((sum, feature) => sum + candidateCount(feature), 0);
  if (count <= candidateCountMax) return count;
  throw new TandemError(
    "USAGE",
    `${count} split candidates are more than ${candidateCountMax}. Use a smaller max_bin or fewer features`,
  );
}

function noiseOf({ agreed, noiseSecret: secret }: PassiveJob): PartyNoise | null {
  const scale = toNoiseScale(layoutTerms(agreed));
  if (scale === null) return null;
  assert(secret !== undefined, "a job with noise has a secret for it");
  return { secret, scale, slotCount: 2 * agreed.outputs };
}
