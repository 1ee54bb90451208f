/** A job in one place with a recorder at its first passive party: what the tests of attacks start from. */
import type { NoiseScale } from "../../src/base/noise/noise-scale.ts";
import type { Defences } from "../../src/privacy/defences/defences.ts";
import type { TrainingParameters } from "../../src/gbdt/parameters/training-parameters.ts";
import { quantiserFor } from "../../src/codec/gradient-layout.ts";
import { ColumnSampler, toColumnRates } from "../../src/gbdt/boost/column-sampling.ts";
import { trainCentralised } from "../../src/gbdt/boost/train.ts";
import type { BinnedFeature } from "../../src/gbdt/split/binning.ts";
import type { Minimums } from "../../src/gbdt/split/offered-candidates.ts";
import { TranscriptRecorder } from "../../src/privacy/attack/recorder.ts";
import type { Transcript } from "../../src/privacy/attack/transcript.ts";
import { type Membership, membershipFacts } from "../../src/base/membership.ts";
import { leftSidesOnly, middleBins, mostFrequentBins } from "../../src/scheme/candidates/candidate-plan.ts";
import { noiseIn } from "../../src/protocol/job-parameters.ts";
import { binTable, noiseSecret, rowsOf, testJob, type TestTable } from "../world/simulated.ts";

export interface AttackedJob {
  readonly features: readonly BinnedFeature[];
  readonly people: Uint32Array;
  readonly labels: Float64Array;
  readonly margins: Float64Array;
  readonly recorder: TranscriptRecorder;
  readonly transcript: Transcript;
  /** Null: sums are exact. */
  readonly noise: NoiseScale | null;
}

export async function attackedJob(
  table: TestTable,
  given: Partial<TrainingParameters>,
  minimums: readonly Minimums[] = [],
  defended: Partial<Defences> = {},
  membership: Membership = "sent",
): Promise<AttackedJob> {
  const { hidden_sums: hidesSums = false } = defended;
  const job = testJob({ training: given, defences: defended, codec: hidesSums ? { resolution_bits: 10 } : {} });
  const { training, codec, privacy: defences } = job;
  const noise = noiseIn(job);
  const parties = binTable(table, training);
  const { labels } = table;
  const instances = Uint32Array.from(labels, (_, i) => i);
  const recorder = new TranscriptRecorder({
    owner: 1,
    features: parties[1],
    permutationSecret: new Uint8Array(32).fill(9),
    isInTieOrder: hidesSums,
    skippedBins: hidesSums
      ? new Int32Array(parties[1].length).fill(leftSidesOnly)
      : membership === "hidden"
        ? middleBins(parties[1], instances)
        : mostFrequentBins(parties[1], instances),
    sampler: new ColumnSampler(toColumnRates(training), training.seed, ""),
    membership: membershipFacts[membership],
  });
  const { trainMargins } = await trainCentralised({
    parties,
    rows: rowsOf(table),
    parameters: training,
    quantise: quantiserFor(
      codec,
      2047,
      noise,
      noise !== null || membership === "hidden" || hidesSums,
      hidesSums && membership === "sent",
    ),
    minimums,
    defences,
    membership,
    noiseSecrets: parties.map((_, party) => noiseSecret(party)),
    watch: (tree) => recorder.watch(tree),
  });
  const transcript = recorder.transcript(labels.length);
  return { features: parties[1], people: instances, labels, margins: trainMargins, recorder, transcript, noise };
}
