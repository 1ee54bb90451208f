/** The trees of an attempt at a passive party, one after the other: each has its nodes, and the round's sample. */
import { assert } from "../../base/assert.ts";
import { TandemError } from "../../base/error.ts";
import { noiseScaleOf } from "../../base/noise/noise-scale.ts";
import { ColumnSampler } from "../../gbdt/boost/column-sampling.ts";
import { candidateCount, candidateIndex } from "../../gbdt/split/candidate.ts";
import { everOffered } from "../../gbdt/split/ever-offered.ts";
import { minimumsOfJob } from "../../gbdt/split/job-minimums.ts";
import type { UsedThresholds } from "../../gbdt/split/used-thresholds.ts";
import type { PartyNoise } from "../../gbdt/split/tree-noise.ts";
import { treeSizeMax } from "../../gbdt/tree/grow.ts";
import { middleBins, mostFrequentBins } from "../../scheme/candidates/candidate-plan.ts";
import { TreeCandidates } from "../../scheme/candidates/candidate-set.ts";
import { type TreeJob, TreeNodes } from "../../scheme/candidates/tree-nodes.ts";
import { TreeSample } from "../../scheme/candidates/tree-sample.ts";
import type { SummedRows } from "../../scheme/scheme.ts";
import { isSet } from "../../wire/bitmap.ts";
import { candidateCountMax } from "../../wire/version.ts";
import { nodesPerTree, sendsTreeShape } from "../hidden-nodes.ts";
import { defencesOf } from "../job-parameters.ts";
import type { PassiveJob } from "./job.ts";

export class PassiveTrees {
  readonly candidateCount: number;
  /** Nodes of one tree that may be asked for: the root and one child of each pair. */
  readonly nodesAskedMax: number;
  /** Where members are hidden; null where they are told. */
  readonly summed: SummedRows | null;
  /** Fewer people than these are in no node that may be asked about; who cannot count them tells others. */
  readonly nodeMinimum: number;
  readonly #job: TreeJob;
  /** Which columns are drawn, by the rate of a round. */
  readonly #samplerOf: (byTree: number) => ColumnSampler;
  readonly #treesPerRound: number;
  readonly #agreedSampler: ColumnSampler;
  /** Of the round under way. */
  #sampler: ColumnSampler;
  #current: TreeNodes | null = null;

  /**
   * @param skipBin leave out each feature's most frequent bin at the root, which is the same in every tree
   * @param heldBack bitmap of the instances that no tree learns from; empty: none
   * @param serial of the try at the round under way, where members are hidden
   * @throws TandemError USAGE if there are too many candidates
   */
  constructor(job: PassiveJob, skipBin: boolean, heldBack: Uint8Array, serial: () => number) {
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
    const isHidden = job.scheme.hidden !== null;
    this.nodesAskedMax = isHidden ? nodesPerTree(agreed) : 1 + treeSizeMax(agreed).pairs;
    this.#treesPerRound = treesPerRound;
    const instances = Uint32Array.from({ length: instanceCount }, (_, i) => i);
    const rows = heldBack.length === 0 ? instances : instances.filter((instance) => !isSet(heldBack, instance));
    const skippedBins = isHidden
      ? middleBins(features, rows)
      : skipBin
        ? mostFrequentBins(features, instances)
        : new Int32Array(features.length).fill(-1);
    const rates = { byTree: agreed.colsampleBytree, byLevel: agreed.colsampleBylevel, byNode: agreed.colsampleBynode };
    this.#samplerOf = (byTree) => new ColumnSampler({ ...rates, byTree }, agreed.seed, samplingSecret);
    const sampler = (this.#sampler = this.#agreedSampler = this.#samplerOf(rates.byTree));
    const minimums = minimumsOfJob(job.minimums, defencesOf(agreed), rows.length);
    this.nodeMinimum = isHidden ? minimums.perNode : 0;
    const noise = noiseOf(job);
    const hidden = isHidden
      ? { sendsTreeShape: sendsTreeShape(agreed), offered: everOffered(minimums, features, rows), serial }
      : null;
    const common = { features, instances, permutationSecret, skippedBins, sampler, maxDepth, maxLeaves };
    this.#job = { ...common, minimums, noise, hidden };
    this.summed = isHidden ? summedRows(this.#job, rows) : null;
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
   * @param columnRate of the round; 0: as agreed
   */
  begin(tree: number, sampled: Uint8Array, used: UsedThresholds | null, columnRate = 0): TreeNodes {
    const { features, instances } = this.#job;
    this.#sampler = columnRate === 0 ? this.#agreedSampler : this.#samplerOf(columnRate);
    return this.#start(tree, new TreeSample(features, instances.length, sampled), used);
  }

  /** Another tree of the same round. */
  next(tree: number, used: UsedThresholds | null): TreeNodes {
    const before = this.current;
    const nodes = this.#start(tree, before.sample, used);
    // Trees of a round share their root, unless it is offered anew.
    nodes.isRootAsked = before.isRootAsked && used === null && this.#agreedSampler.takesAll;
    return nodes;
  }

  #start(tree: number, sample: TreeSample, used: UsedThresholds | null): TreeNodes {
    const job = { ...this.#job, sampler: this.#sampler };
    this.#current = new TreeNodes(job, tree, Math.floor(tree / this.#treesPerRound), sample, used);
    return this.#current;
  }
}

/** What a scheme sums where members are hidden. */
function summedRows(job: TreeJob, rows: Uint32Array): SummedRows {
  const { plan, byPosition } = new TreeCandidates(job, 0, 0).all;
  const offered = job.hidden?.offered ?? null;
  const isOffered = (rank: number): boolean => {
    const candidate = plan.candidates[rank];
    return offered?.[candidate.feature][candidateIndex(job.features[candidate.feature], candidate)] !== 0;
  };
  const isEverybody = rows.length === job.instances.length;
  const bins = job.features.map((feature) =>
    isEverybody ? feature.bins : Uint16Array.from(rows, (row) => feature.bins[row]),
  );
  return { bins, plan, offered: Uint32Array.from(byPosition.keys()).filter((place) => isOffered(byPosition[place])) };
}

function noiseOf({ agreed, noiseSecret: secret }: PassiveJob): PartyNoise | null {
  const scale = noiseScaleOf(agreed);
  if (scale === null) return null;
  assert(secret !== undefined, "a job with noise has a secret for it");
  return { secret, scale, slotCount: 2 * agreed.outputs };
}
