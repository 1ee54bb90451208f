/** The trees of an attempt at a passive party, one after the other: each has its nodes, and the round's sample. */
import { assert } from "../../base/assert.ts";
import { TandemError } from "../../base/error.ts";
import { noiseScaleOf } from "../../base/noise/noise-scale.ts";
import { ColumnSampler } from "../../gbdt/boost/column-sampling.ts";
import { candidateCount } from "../../gbdt/split/candidate.ts";
import { minimumsOfJob, peopleOf } from "../../gbdt/split/job-minimums.ts";
import type { UsedThresholds } from "../../gbdt/split/used-thresholds.ts";
import type { PartyNoise } from "../../gbdt/split/tree-noise.ts";
import { treeSizeMax } from "../../gbdt/tree/grow.ts";
import { mostFrequentBins } from "../../scheme/candidates/candidate-plan.ts";
import { type TreeJob, TreeNodes } from "../../scheme/candidates/tree-nodes.ts";
import { TreeSample } from "../../scheme/candidates/tree-sample.ts";
import { candidateCountMax } from "../../wire/version.ts";
import { defencesOf } from "../job-parameters.ts";
import type { PassiveJob } from "./job.ts";

export class PassiveTrees {
  readonly candidateCount: number;
  /** Nodes of one tree that may be asked for: the root and one child of each pair. */
  readonly nodesAskedMax: number;
  readonly #job: TreeJob;
  readonly #treesPerRound: number;
  #current: TreeNodes | null = null;

  /**
   * @param skipBin leave out each feature's most frequent bin at the root, which is the same in every tree
   * @param validationRowCount instances that no tree learns from
   * @throws TandemError USAGE if there are too many candidates
   */
  constructor(job: PassiveJob, skipBin: boolean, validationRowCount: number) {
    const { features, instanceCount, permutationSecret, agreed, samplingSecret = "" } = job;
    const { maxDepth, maxLeaves, treesPerRound } = agreed;
    this.candidateCount = features.reduce((sum, feature) => sum + candidateCount(feature), 0);
    if (this.candidateCount > candidateCountMax) {
      throw new TandemError(
        "USAGE",
        `${this.candidateCount} split candidates are more than ${candidateCountMax}. ` +
          "Use a smaller max_bin or fewer features",
      );
    }
    this.nodesAskedMax = 1 + treeSizeMax(agreed).pairs;
    this.#treesPerRound = treesPerRound;
    const instances = Uint32Array.from({ length: instanceCount }, (_, i) => i);
    const skippedBins = skipBin ? mostFrequentBins(features, instances) : new Int32Array(features.length).fill(-1);
    const rates = { byTree: agreed.colsampleBytree, byLevel: agreed.colsampleBylevel, byNode: agreed.colsampleBynode };
    const sampler = new ColumnSampler(rates, agreed.seed, samplingSecret);
    const minimums = minimumsOfJob(job.minimums, defencesOf(agreed), peopleOf(instanceCount, validationRowCount));
    const noise = noiseOf(job);
    this.#job = { features, instances, permutationSecret, skippedBins, sampler, maxDepth, maxLeaves, minimums, noise };
  }

  /** The tree under way. */
  get current(): TreeNodes {
    if (this.#current === null) throw new TandemError("PROTOCOL_STATE", "no tree has begun");
    return this.#current;
  }

  /**
   * The first tree of a round.
   * @param sampled bitmap of the instances that the round learns from; empty: all
   * @param used thresholds of splits before; null: they are not limited
   */
  begin(tree: number, sampled: Uint8Array, used: UsedThresholds | null): TreeNodes {
    const { features, instances } = this.#job;
    return this.#start(tree, new TreeSample(features, instances.length, sampled), used);
  }

  /** Another tree of the same round. */
  next(tree: number, used: UsedThresholds | null): TreeNodes {
    const before = this.current;
    const nodes = this.#start(tree, before.sample, used);
    // Trees of a round share their root, unless it is offered anew.
    nodes.isRootAsked = before.isRootAsked && used === null && this.#job.sampler?.takesAll !== false;
    return nodes;
  }

  #start(tree: number, sample: TreeSample, used: UsedThresholds | null): TreeNodes {
    this.#current = new TreeNodes(this.#job, tree, Math.floor(tree / this.#treesPerRound), sample, used);
    return this.#current;
  }
}

function noiseOf({ agreed, noiseSecret: secret }: PassiveJob): PartyNoise | null {
  const scale = noiseScaleOf(agreed);
  if (scale === null) return null;
  assert(secret !== undefined, "a job with noise has a secret for it");
  return { secret, scale, slotCount: 2 * agreed.outputs };
}
