/**
 * The demo: a bank that knows who defaulted, and a retailer and a telecom with other features of the same people. Three
 * processes train one model that none of them could train alone, and the result is compared with the two baselines.
 */
import type { Job } from "../protocol/job.ts";
import { resolveJob } from "../party/resolve-job.ts";
import { type PartyTable, selectRows } from "../data/dataset.ts";
import { splitRows } from "../data/split.ts";
import { type SyntheticParty, syntheticCredit } from "../data/synthetic-credit.ts";
import { firstDifference } from "../gbdt/tree/model-compare.ts";
import type { PartyEvent } from "../record/events.ts";
import type { Metrics } from "../record/events/training-fields.ts";
import { trainInOnePlace } from "./comparison.ts";
import { type FederationParty, type FederationResult, runFederation } from "./federation.ts";
import type { Supervise } from "./supervisor.ts";

export interface DemoOptions {
  readonly rows: number;
  readonly trees: number;
  readonly seed: number;
  /** Default: paillier. */
  readonly scheme?: string | undefined;
  /** Folder for what each party records; left out: nothing is kept. */
  readonly keep?: { readonly directory: string; readonly job: string } | undefined;
  readonly onEvent: (event: PartyEvent) => void;
}

export interface DemoResult {
  readonly federation: FederationResult;
  readonly job: Job;
  readonly trainRows: number;
  readonly testRows: number;
  readonly bankAlone: Metrics;
  readonly federated: Metrics;
  readonly onePlace: Metrics;
  /** Empty if the federated model equals the centralised one node for node. */
  readonly difference: string;
}

/** The bank is the active party. */
export const demoParties = ["bank", "retailer", "telecom"] as const;

const testFraction = 0.25;

export async function runDemo(options: DemoOptions, supervise?: Supervise): Promise<DemoResult> {
  const job = resolveJob({
    name: options.keep?.job,
    training: { num_round: options.trees, max_depth: 4, seed: options.seed },
    scheme: options.scheme,
  });
  const credit = syntheticCredit({ rows: options.rows, seed: options.seed });
  const rows = splitRows(options.rows, testFraction, options.seed);
  const companies = demoParties.map((name) => credit[name]);
  const [bank, ...others] = demoParties.map((name) => partyOf(name, credit[name], rows));

  const { keep, onEvent } = options;
  const active = { ...bank, label: "default", positive: undefined };
  const federation = await runFederation(
    { job, active, passives: others, id: "id", missing: [], predictions: undefined, keep, onEvent },
    supervise,
  );

  const tables = companies.map(({ table }) => table);
  const cut = (which: readonly PartyTable[], side: Uint32Array): PartyTable[] =>
    which.map((table) => selectRows(table, side));
  const everything = await trainInOnePlace({ job, train: cut(tables, rows.train), test: cut(tables, rows.test) });
  const [bankTable] = tables;
  const alone = await trainInOnePlace({ job, train: cut([bankTable], rows.train), test: cut([bankTable], rows.test) });
  return {
    federation,
    job,
    trainRows: rows.train.length,
    testRows: rows.test.length,
    bankAlone: alone.testMetrics ?? {},
    federated: federation.active.metrics.test ?? {},
    onePlace: everything.testMetrics ?? {},
    difference: firstDifference(federation.model, everything.model) ?? "",
  };
}

function partyOf(
  name: string,
  { table, csv }: SyntheticParty,
  rows: { train: Uint32Array; test: Uint32Array },
): FederationParty {
  const cut = (side: Uint32Array) => ({
    names: csv.names,
    columns: csv.columns.map((column) => Array.from(side, (row) => column[row])),
  });
  return { name, features: table.featureNames, train: cut(rows.train), test: cut(rows.test) };
}
