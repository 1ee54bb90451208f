/** Records of a finished job that was audited, at the passive and at the active party. Figures are as of a real one. */
import { join } from "node:path";
import { emptyLedger } from "../../src/messages/ledger.ts";
import type { PartyEvent } from "../../src/record/events.ts";
import type { ColumnExposure, Exposure } from "../../src/record/exposure.ts";
import { JobRecord } from "../../src/record/job-record.ts";

type Three = readonly [outcomes: number, sums: number, scoring: number];

function column(name: string, bins: number, bits: number, revealed: Three, proven: Three): ColumnExposure {
  const three = ([outcomes, sums, scoring]: Three): ColumnExposure["certain"] => ({ outcomes, sums, scoring });
  return { name, bins, bits, toldBits: three(revealed), certain: three(proven) };
}

const job = { people: 22_500, trees: 50, depthMax: 3, sumsPerPerson: 0.027, noise: null, isEstimate: true } as const;

export const columnExposure: Exposure = {
  ...job,
  learner: "bank",
  about: "retailer",
  columns: [
    column("PAY_0", 11, 2.07, [2.05, 2.07, 2.07], [0.99, 1, 1]),
    column("SEX", 2, 0.97, [0.97, 0.97, 0.97], [1, 1, 1]),
    column("MARRIAGE", 4, 1.09, [0.8, 1.03, 1.03], [0.46, 0.6, 0.6]),
    column("EDUCATION", 7, 1.6, [0.6, 0.82, 1.3], [0.06, 0.14, 0.5]),
    column("LIMIT_BAL", 28, 4.56, [2.1, 2.9, 3.56], [0.09, 0.3, 0.32]),
    column("AGE", 28, 4.72, [1.1, 1.6, 3.3], [0.01, 0.1, 0.23]),
    column("BRANCH", 1, 0, [0, 0, 0], [1, 1, 1]),
  ],
  labels: null,
  whatIf: [
    effect("as it is", 0.7803, 0, 0.37, 18.9),
    effect("answer_noise 5, min_people_share 0.01", 0.7812, 0.0009, 0.31, 18.2),
    effect("and outcome_bits 2", 0.7809, 0.0006, 0.21, 13.3),
    { name: "masked_scoring", metric: null, certain: null, scoringBits: 7.58, labelAuc: null },
  ],
};

function effect(name: string, value: number, change: number, certain: number, scoringBits: number) {
  return { name, metric: { name: "auc", value, change }, certain, scoringBits, labelAuc: null };
}

export const labelExposure: Exposure = {
  ...job,
  isEstimate: false,
  learner: "retailer",
  about: "bank",
  columns: [],
  labels: {
    byTree: Array.from({ length: 50 }, (_, i) => ({ tree: i + 1, auc: 0.62 + 0.13 * (1 - Math.exp(-(i + 1) / 3)) })),
    modelAuc: 0.7803,
    riskiestTenth: 0.61,
  },
  whatIf: [],
};

const guarded = {
  privacy: "guarded",
  answer_noise: 5,
  min_people_share: 0.01,
  outcome_bits: 2,
  masked_scoring: true,
};

interface RecordOptions {
  /** Null: the job was not audited. */
  readonly exposure: Exposure | null;
  readonly isGuarded?: boolean;
  /** Numbers in sums of best candidates, per person, over all jobs; left out: none. */
  readonly opened?: number;
}

/** @param folder of the party: the job's is made in it */
export function recordPassive(
  folder: string,
  name: string,
  { exposure, isGuarded = false, opened = 0 }: RecordOptions,
): void {
  const who = { party: "retailer", peer: "bank" };
  const spent = isGuarded
    ? { sumsPerPerson: 0, noisySumsPerPerson: 0.036, outcomesPerPerson: 51.2, scoredPeople: 0, vettings: 0 }
    : { sumsPerPerson: 0.031, noisySumsPerPerson: 0.004, outcomesPerPerson: 74.5, scoredPeople: 7500, vettings: 0 };
  const limits = isGuarded ? {} : { sums_per_person: 0.04, scored_people: 10_000 };
  const counts = { encryptions: 0, additions: 9, decryptions: 0, gradientCiphertexts: 0, candidateCiphertexts: 4 };
  record(join(folder, name), exposure, [
    jobEvent("retailer", "passive", name, "bank", isGuarded ? guarded : {}),
    { type: "data", party: "retailer", job: name, data: { trainRows: 22_500, testRows: 0, featureCount: 7 } },
    { type: "joined", ...who, featureCount: 7, job: name },
    { type: "ledger", ...who, ledger: { ...emptyLedger(), candidateSums: 5000, splitOutcomes: 900_000 } },
    { type: "budget", ...who, spent: { ...spent, openedPerPerson: opened }, limits },
    {
      type: "passive-result",
      party: "retailer",
      result: { trees: 50, counts, cpuSeconds: 9, peakRssBytes: 1e8, eventLoopMaxBlockMs: 3 },
    },
    { type: "job-ended", ...who, job: name, failure: null },
  ]);
}

export function recordActive(folder: string, name: string, { exposure }: RecordOptions): void {
  record(join(folder, name), exposure, [
    jobEvent("bank", "active", name, "retailer", { local_rounds: 0 }),
    { type: "data", party: "bank", job: name, data: { trainRows: 22_500, testRows: 7500, featureCount: 4 } },
    { type: "joined", party: "bank", peer: "retailer", featureCount: 7, job: name },
    { type: "ledger", party: "bank", peer: "retailer", ledger: { ...emptyLedger(), candidateSums: 5000 } },
    { type: "job-ended", party: "bank", peer: "retailer", job: name, failure: null },
  ]);
}

function jobEvent(
  party: string,
  role: "active" | "passive",
  name: string,
  peer: string,
  parameters: Readonly<Record<string, number | string | boolean>>,
): PartyEvent {
  return {
    type: "job",
    party,
    role,
    job: name,
    peers: [peer],
    treeCount: 50,
    depthMax: 3,
    parameters: { num_round: 50, max_depth: 3, ...parameters },
    versions: { tandem: "0.3.0", protocol: 8, node: "20.0.0" },
  };
}

function record(folder: string, exposure: Exposure | null, events: readonly PartyEvent[]): void {
  const written = new JobRecord(folder);
  for (const event of events) written.event(event);
  if (exposure !== null) written.own({ kind: "exposure", exposures: [exposure] });
  written.close();
}
