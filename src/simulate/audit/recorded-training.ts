/** A simulated job, trained in one place, with a recorder at every passive party. */
import { osRandom } from "../../base/random.ts";
import { rowNumbers } from "../../base/rows/row-numbers.ts";
import { categoryNamesPerFeature, type PartyTable } from "../../data/dataset.ts";
import { ColumnSampler, toColumnRates } from "../../gbdt/boost/column-sampling.ts";
import { trainCentralised } from "../../gbdt/boost/train.ts";
import { metricsFor } from "../../gbdt/boost/boosting-monitor.ts";
import { Evaluation } from "../../gbdt/metric/evaluation.ts";
import { objectiveFor } from "../../gbdt/objective/objectives.ts";
import { predictMargins } from "../../gbdt/tree/predict.ts";
import { treeTerms, withGrid } from "../../party/job-grid.ts";
import { noiseSecretFrom } from "../../party/noise-secret.ts";
import { binningOf, binTable } from "../../party/tables/party-data.ts";
import { rowsOfTable } from "../../party/tables/table-rows.ts";
import type { WhatIf } from "../../privacy/attack/audit-result.ts";
import type { AttackedParty } from "../../privacy/attack/exposure.ts";
import { openedOf } from "../../privacy/attack/opened.ts";
import { TranscriptRecorder } from "../../privacy/attack/recorder.ts";
import { factsOfJob, type MembershipFacts } from "../../base/membership.ts";
import { leftSidesOnly, middleBins, mostFrequentBins } from "../../scheme/candidates/candidate-plan.ts";
import { bitsFor, sumsMost } from "../../protocol/hidden-sums.ts";
import { noiseIn } from "../../protocol/job-parameters.ts";
import { schemeNamed } from "../../scheme/registry.ts";
import { type OnePlaceJob, withValidation } from "../comparison.ts";
import { simulatedNoiseSecret, simulatedSecret } from "../federation.ts";

/** The parts of a job that a defence may change. */
export interface AuditedJob extends Omit<OnePlaceJob, "start"> {
  /** Of all parties, the active one first. */
  readonly names: readonly string[];
  readonly test: readonly PartyTable[];
}

/** What one scheme would have revealed about each passive party. */
export interface SchemeDisclosure {
  readonly scheme: string;
  readonly membership: MembershipFacts;
  readonly parties: readonly AttackedParty[];
}

export interface RecordedTraining {
  /** The job's own scheme first. */
  readonly schemes: readonly [SchemeDisclosure, ...SchemeDisclosure[]];
  readonly labels: Float64Array;
  /** Null unless labels are 0 and 1, with one score each. */
  readonly margins: Float64Array | null;
  readonly testMetric: WhatIf["testMetric"];
}

/** @param others names of schemes to record as well: they reveal members, candidate orders and sides differently */
export async function trainRecorded(audited: AuditedJob, others: readonly string[] = []): Promise<RecordedTraining> {
  const { names } = audited;
  const { tables, rows } = withValidation(audited);
  const job = withGrid(audited.job, rows.trainedCount);
  const { training, privacy: defences } = job;
  const noise = noiseIn(job);
  const hidesSums = defences.hidden_sums;
  const sumBits = hidesSums ? bitsFor(sumsMost(rows.trainedCount, job.codec.resolution_bits)) : null;
  const features = tables.map((table) => binTable(table, binningOf(job), rows.training));
  const allRows = rowNumbers(rows.count);
  const summed = rows.training ?? allRows;
  const recorded = [job.scheme, ...others].map(schemeNamed).map(({ name, membership: protocol }) => {
    const membership = factsOfJob(protocol, defences.hidden_outcomes);
    const recorders = features.slice(1).map(
      (own, i) =>
        new TranscriptRecorder({
          owner: i + 1,
          features: own,
          permutationSecret: osRandom.fill(new Uint8Array(32)),
          skippedBins: hidesSums
            ? new Int32Array(own.length).fill(leftSidesOnly)
            : membership.membersAreSent
              ? mostFrequentBins(own, allRows)
              : middleBins(own, summed),
          isInTieOrder: hidesSums,
          sampler: new ColumnSampler(toColumnRates(training), training.seed, simulatedSecret(i + 1)),
          membership,
        }),
    );
    return { scheme: name, membership, recorders };
  });
  const { trainMargins, ...model } = await trainCentralised({
    ...treeTerms(job),
    parties: features,
    rows,
    samplingSecrets: tables.map((_, party) => simulatedSecret(party)),
    noiseSecrets: tables.map((_, party) => noiseSecretFrom(simulatedNoiseSecret(party, training))),
    watch: (tree) => {
      const watches = recorded.flatMap(({ recorders }) => recorders.map((recorder) => recorder.watch(tree)));
      return {
        searched: (node, isOffered) => watches.forEach((each) => each.searched(node, isOffered)),
        compared: (node, bests) => watches.forEach((each) => each.compared?.(node, bests)),
        children: (parent, left, right) => watches.forEach((each) => each.children(parent, left, right)),
        split: (node, chosen, left) => watches.forEach((each) => each.split(node, chosen, left)),
      };
    },
  });
  const isBinary = objectiveFor(training.objective).kind === "binary";
  const test = rowsOfTable(audited.test[0]);
  const testMargins = predictMargins(
    model,
    audited.test.map(({ features: columns }) => columns),
    test.count,
    audited.test.map(categoryNamesPerFeature),
    test.baseMargins,
  );
  const metric = isBinary ? "auc" : (metricsFor(training).at(-1) ?? "rmse");
  return {
    labels: rows.labels,
    margins: isBinary ? trainMargins : null,
    testMetric:
      test.count === 0 ? null : { name: metric, value: new Evaluation(training, testMargins, test).value(metric) },
    schemes: nonEmpty(
      recorded.map(({ scheme: name, membership, recorders }) => ({
        scheme: name,
        membership,
        parties: recorders.map((recorder, i) => {
          const transcript = recorder.transcript(rows.count);
          return {
            name: names[i + 1],
            features: features[i + 1],
            instances: summed,
            transcript,
            splits: recorder.splits,
            sideAt: (tree: number, position: number) => recorder.sideAt(tree, position),
            noise,
            opened: sumBits === null ? null : openedOf(transcript, sumBits),
            tellsScoring: !defences.masked_scoring,
            membership,
          };
        }),
      })),
    ),
  };
}

function nonEmpty(schemes: readonly SchemeDisclosure[]): readonly [SchemeDisclosure, ...SchemeDisclosure[]] {
  const [first, ...rest] = schemes;
  return [first, ...rest];
}
