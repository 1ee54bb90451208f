/**
 * The cost of a job with the lattice scheme on this machine: the formulas of docs/lattice.md, with the cost of each
 * operation measured in a fraction of a second. Every node is encrypted for all rows, so the cost does not depend on
 * the members of nodes.
 */
import { largestResolution } from "../../crypto/lattice/parameters/choose-set.ts";
import { candidateCountMax, checkBudget } from "../../crypto/lattice/parameters/distance.ts";
import type { LatticeKernel } from "../../crypto/lattice/kernel.ts";
import { laneCount, type LatticeSet, latticeSets } from "../../crypto/lattice/parameters/sets.ts";
import {
  activeMemoryBytes,
  hintBytes,
  nodeBytesDown,
  nodeBytesUp,
  passiveMemoryBytes,
} from "../../crypto/lattice/parameters/sizes.ts";
import type { BlockCosts, CostModel, JobShape, PassiveShape, Prediction } from "../cost-model.ts";
import { calibrate, type LatticeCosts, inSet } from "./calibration.ts";

/** Copying, HTTP/2 and TLS, at either party. */
const transportSecondsPerByte = 1.4e-9;
/** JavaScript, per row and tree: gradients and margins at the active party, outcomes at the passive one. */
const handlingSeconds = { active: 2e-6, passive: 1e-6 };

/** Bytes of a sum in a lane. */
const residueBytes = 8;
/** At a worker: as received, and in the kernel's layout. */
const bytesPerBin = 3;

export async function latticeCosts(kernel: LatticeKernel): Promise<CostModel> {
  const costs = await calibrate(kernel);
  return { predict: (job) => predict(job, setOf(job), costs) };
}

/** The root and one child of each pair. */
function nodesPerTree({ depth }: JobShape): number {
  return 2 ** (depth - 1);
}

/** The set that a job of this shape uses: A if it hides the requested answers, at the resolution that the job has. */
function setOf(job: JobShape): LatticeSet {
  const wanted = Math.log2(job.layout.slots[0].noise?.largest ?? 2 ** 24);
  const candidateCount = Math.max(1, ...job.passives.map(({ candidates }) => candidates));
  checkBudget(latticeSets.B, { nodesMax: 1, outputs: 1, candidateCount }); // rejects tables that are too wide
  const candidatesMax = Math.max(1, ...job.passives.map((passive) => passive.candidatesMax));
  const budget = {
    nodesMax: job.nodesMax * job.outputsPerRound,
    outputs: 1,
    candidateCount: Math.min(candidatesMax, candidateCountMax),
  };
  const rows = { rowCount: job.rows, noiseMax: job.layout.noise?.max ?? 0 };
  return (largestResolution(latticeSets.A, rows, budget) ?? 0) >= wanted ? latticeSets.A : latticeSets.B;
}

function predict(job: JobShape, set: LatticeSet, measured: LatticeCosts): Prediction {
  const costs = inSet(measured, set);
  const { rows, passives } = job;
  // A node with several outputs has records for each.
  const nodes = job.trees * nodesPerTree(job) * job.outputsPerRound;
  const up = nodeBytesUp(set, rows);
  const down = ({ candidates }: PassiveShape): number => nodeBytesDown(set, candidates);
  // Assumes that half of all splits belong to a passive party, which then sends outcomes for all rows.
  const outcomes = (job.trees * nodesPerTree(job) * rows) / 8;
  const hints = passives.map(({ candidates }) => hintBytes(set, candidates));
  const all = passives.reduce((sum, { candidates }) => sum + candidates, 0);
  const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
  const received = nodes * sum(passives.map(down)) + sum(hints) + outcomes;
  const sent = nodes * up * passives.length;
  const blocks = Math.ceil(rows / set.degree);
  return {
    activeCpuSeconds:
      nodes * ((rows + set.degree) * costs.seal + all * costs.dots) +
      (sent + received) * transportSecondsPerByte +
      job.trees * rows * handlingSeconds.active,
    passiveCpuSeconds: passives.map(
      (passive, i) =>
        passive.candidates * (blocks * costs.block + costs.emit) +
        nodes * (rows * passive.features * costs.histogram + passive.candidates * (costs.mask + costs.answer)) +
        (nodes * (up + down(passive)) + hints[i]) * transportSecondsPerByte +
        job.trees * rows * handlingSeconds.passive,
    ),
    bytes: { activeToPassive: sent, passiveToActive: received },
    blocks: passives.map(({ features, bins }) => blockCosts(set, costs, { rows, nodes, features, bins })),
    memoryBytes: {
      active: activeMemoryBytes(set, rows, all),
      passives: passives.map(({ features, candidates }) => passiveMemoryBytes(set, rows, features, candidates)),
    },
  };
}

interface BlockShape {
  readonly rows: number;
  /** Over all trees. */
  readonly nodes: number;
  readonly features: number;
  readonly bins: number;
}

/** Every node sends new records of all rows. */
function blockCosts(set: LatticeSet, costs: LatticeCosts, { rows, nodes, features, bins }: BlockShape): BlockCosts {
  const answerBytesOnce = bins * laneCount(set) * residueBytes;
  return {
    cpuSeconds: nodes * rows * features * costs.histogram,
    bytesPerRow: bytesPerBin * features,
    toldBytesPerRow: nodes * set.recordBytes,
    answerBytes: nodes * answerBytesOnce,
    answerBytesOnce,
  };
}
