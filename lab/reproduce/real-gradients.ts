/** Gradients of a real training: of the first, a middle and the last tree of a centralised job. */
import type { PartyTable } from "../../src/data/dataset.ts";
import { trainCentralised } from "../../src/gbdt/boost/train.ts";
import { binningOf, binTable } from "../../src/party/tables/party-data.ts";
import { rowsOfTable } from "../../src/party/tables/table-rows.ts";
import { plaintextBitsMax } from "../../src/codec/packing.ts";
import type { BinnedFeature } from "../../src/gbdt/split/binning.ts";
import { quantiserFor } from "../../src/codec/gradient-layout.ts";
import { type TrialSpec, trialCodec, trialJob, trialTraining } from "../trials/trial.ts";

export interface GradientSnapshot {
  readonly tree: number;
  readonly g: Float64Array;
  readonly h: Float64Array;
}

export interface RealGradients {
  readonly snapshots: readonly GradientSnapshot[];
  readonly instanceCount: number;
  /** Every party's, for sums as histograms take them. */
  readonly features: readonly BinnedFeature[];
}

export async function realGradients(spec: TrialSpec, train: readonly PartyTable[]): Promise<RealGradients> {
  const wanted = new Set([0, Math.floor(spec.trees / 2), spec.trees - 1]);
  const snapshots: GradientSnapshot[] = [];
  const training = trialTraining(spec);
  const quantise = quantiserFor(trialCodec(spec), plaintextBitsMax(spec.keyBits));
  const parties = train.map((table) => binTable(table, binningOf(trialJob(spec))));
  let round = 0; // of one tree each
  await trainCentralised({
    parties,
    rows: rowsOfTable(train[0]),
    parameters: training,
    quantise: (gradients) => {
      const [g, h] = gradients.values;
      const tree = round++;
      if (wanted.has(tree)) snapshots.push({ tree, g, h });
      return quantise(gradients);
    },
  });
  return { snapshots, instanceCount: train[0].ids.length, features: parties.flat() };
}
