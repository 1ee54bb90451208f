/** A job in one place with a recorder at its first passive party: what the tests of attacks start from. */
import { resolveParameters, codecParameters } from "../../src/base/parameters.ts";
import type { TrainingParameters } from "../../src/base/parameters.ts";
import { quantiserFor } from "../../src/codec/gradient-layout.ts";
import { ColumnSampler, columnRatesOf } from "../../src/gbdt/boost/column-sampling.ts";
import { trainCentralised } from "../../src/gbdt/boost/train.ts";
import type { BinnedFeature } from "../../src/gbdt/split/binning.ts";
import type { Minimums } from "../../src/gbdt/split/offered-candidates.ts";
import { TranscriptRecorder } from "../../src/privacy/attack/recorder.ts";
import type { Transcript } from "../../src/privacy/attack/transcript.ts";
import { mostFrequentBins } from "../../src/scheme/candidates/candidate-plan.ts";
import { binTable, parametersOf, type TestTable } from "./in-memory-job.ts";

export interface AttackedJob {
  readonly features: readonly BinnedFeature[];
  readonly people: Uint32Array;
  readonly labels: Float64Array;
  readonly margins: Float64Array;
  readonly recorder: TranscriptRecorder;
  readonly transcript: Transcript;
}

export async function attackedJob(
  table: TestTable,
  given: Partial<TrainingParameters>,
  minimums: readonly Minimums[] = [],
): Promise<AttackedJob> {
  const { training } = parametersOf({ training: given });
  const parties = binTable(table, training);
  const { labels } = table;
  const everybody = Uint32Array.from(labels, (_, i) => i);
  const recorder = new TranscriptRecorder({
    owner: 1,
    features: parties[1],
    permutationSecret: new Uint8Array(32).fill(9),
    skippedBins: mostFrequentBins(parties[1], everybody),
    sampler: new ColumnSampler(columnRatesOf(training), training.seed, ""),
  });
  const { trainMargins } = await trainCentralised({
    parties,
    labels,
    parameters: training,
    quantise: quantiserFor(resolveParameters(codecParameters, {}), 2047),
    minimums,
    watch: (tree) => recorder.watch(tree),
  });
  const transcript = recorder.transcript(labels.length);
  return { features: parties[1], people: everybody, labels, margins: trainMargins, recorder, transcript };
}
