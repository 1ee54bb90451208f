/**
 * The tables on which presets are measured: three public ones, and four that are generated to be hard for noise: labels
 * with heavy tails, few positives, few rows, and counts. Two more are held back: no value of a preset was chosen on
 * them.
 */
import { paperDatasets } from "../trials/paper-datasets.ts";
import { join } from "node:path";
import { SeededRandom } from "../../src/base/random.ts";
import { type PartyTable, selectRows } from "../../src/data/dataset.ts";
import { splitRows } from "../../src/data/split.ts";
import { prepareSimulation } from "../../src/simulate/prepare-simulation.ts";
import type { SimulateOptions } from "../../src/simulate/simulate-options.ts";

export interface MeasuredTable {
  readonly name: string;
  readonly objective: string;
  readonly metric: string;
  /** The parties' training and test rows; index 0 is the active party. */
  readonly cut: (seed: number) => Promise<{ readonly train: readonly PartyTable[]; readonly test: PartyTable[] }>;
}

export const testFraction = 0.25;

/** @param data folder of the public files @param rows limit for a generated table, for quick runs */
export function measuredTables(data: string, rows = Infinity): MeasuredTable[] {
  const publicTables = publicFiles.map(({ name, file, ...options }): MeasuredTable => ({
    name,
    objective: "binary:logistic",
    metric: "auc",
    cut: async (seed) => {
      const { train, test } = await prepareSimulation({
        ...options,
        data: join(data, file),
        testFraction,
        check: false,
        onEvent: () => {},
        job: { scheme: "lattice", training: { seed, ...(options.categorical && { enable_categorical: true }) } },
      });
      return { train, test: [...test] };
    },
  }));
  const generated = generators.map(({ name, objective, metric, count, label }): MeasuredTable => ({
    name,
    objective,
    metric,
    cut: async (seed) => {
      const parties = generatedParties(name, Math.min(count, rows), label);
      const cut = splitRows(parties[0].ids.length, testFraction, seed);
      return {
        train: parties.map((party) => selectRows(party, cut.train)),
        test: parties.map((party) => selectRows(party, cut.test)),
      };
    },
  }));
  return [...publicTables, ...generated];
}

type PublicFile = Pick<SimulateOptions, "id" | "label" | "active" | "passives" | "missing" | "positive"> & {
  readonly name: string;
  readonly file: string;
  readonly categorical?: readonly string[];
};

const amounts = (name: string): string[] => [1, 2, 3, 4, 5, 6].map((month) => `${name}${month}`);
const bankPassive = ["age", "job", "marital", "education", "default", "balance", "housing", "loan"];

const { giveme } = paperDatasets;

/** Columns as in FATE's examples; of Bank Marketing without `duration`, which is known after the call only. */
const publicFiles: readonly PublicFile[] = [
  {
    name: "Default of Credit Card Clients",
    file: "default/UCI_Credit_Card.csv.gz",
    id: "ID",
    label: "default.payment.next.month",
    active: ["PAY_6", ...amounts("BILL_AMT"), ...amounts("PAY_AMT")],
    passives: [["LIMIT_BAL", "SEX", "EDUCATION", "MARRIAGE", "AGE", "PAY_0", "PAY_2", "PAY_3", "PAY_4", "PAY_5"]],
    missing: [],
    positive: undefined,
  },
  {
    name: "Give Me Some Credit",
    file: "giveme/cs-training.csv.gz",
    id: undefined,
    label: giveme.label,
    active: [...giveme.active],
    passives: [[...giveme.passive]],
    missing: ["NA"],
    positive: undefined,
  },
  {
    name: "Bank Marketing",
    file: "bank/bank-full.csv.gz",
    id: undefined,
    label: "y",
    active: ["contact", "day", "month", "campaign", "pdays", "previous", "poutcome"],
    passives: [bankPassive],
    missing: ["unknown"],
    positive: "yes",
    categorical: ["contact", "month", "poutcome", "job", "marital", "education", "default", "housing", "loan"],
  },
];

/** What a generated label is drawn from: a sum of terms of both parties' columns, about standard normal. */
type Label = (signal: number, random: SeededRandom) => number;

interface Generator {
  readonly name: string;
  readonly objective: string;
  readonly metric: string;
  readonly count: number;
  readonly label: Label;
}

const logistic = (margin: number): number => 1 / (1 + Math.exp(-margin));
const bernoulli = (margin: number, random: SeededRandom): number => (random.uniform() < logistic(margin) ? 1 : 0);

const generators: readonly Generator[] = [
  {
    name: "heavy tails (log-normal amounts)",
    objective: "reg:squarederror",
    metric: "rmse",
    count: 30_000,
    label: (signal, random) => Math.exp(7 + 0.8 * signal + 0.3 * random.normal()),
  },
  {
    name: "few positives (0.5%)",
    objective: "binary:logistic",
    metric: "aucpr",
    count: 40_000,
    label: (signal, random) => bernoulli(2.2 * signal - 8, random),
  },
  {
    name: "few rows",
    objective: "binary:logistic",
    metric: "auc",
    count: 6_000,
    label: (signal, random) => bernoulli(2 * signal, random),
  },
  {
    name: "counts (mean 0.15)",
    objective: "count:poisson",
    metric: "poisson-nloglik",
    count: 60_000,
    label: (signal, random) => poisson(Math.exp(-2.2 + 0.7 * signal), random),
  },
  {
    name: "held back: claims (gamma)",
    objective: "reg:gamma",
    metric: "gamma-nloglik",
    count: 36_000,
    label: (signal, random) => Math.exp(6 + 0.5 * signal) * exponentials(3, random),
  },
  {
    name: "held back: churn (6%)",
    objective: "binary:logistic",
    metric: "auc",
    count: 24_000,
    label: (signal, random) => bernoulli(1.4 * signal - 3.2, random),
  },
];

/** The mean of some exponential numbers. */
function exponentials(count: number, random: SeededRandom): number {
  let sum = 0;
  for (let i = 0; i < count; i++) sum -= Math.log(1 - random.uniform());
  return sum / count;
}

function poisson(mean: number, random: SeededRandom): number {
  let [count, product] = [0, random.uniform()];
  for (; product > Math.exp(-mean); product *= random.uniform()) count++;
  return count;
}

const columnsPerParty = 6;

/** Columns of the parties correlate through two traits that none of them holds. */
function generatedParties(name: string, count: number, label: Label): PartyTable[] {
  const random = new SeededRandom(name);
  const columns = Array.from({ length: 2 * columnsPerParty }, () => new Float32Array(count));
  const labels = new Float64Array(count);
  for (let row = 0; row < count; row++) {
    const traits = [random.normal(), random.normal()];
    columns.forEach((column, i) => (column[row] = 0.5 * traits[i % 2] + Math.sqrt(0.75) * random.normal()));
    labels[row] = label(
      signalOf((i) => columns[i][row]),
      random,
    );
  }
  const ids = Array.from({ length: count }, (_, row) => String(row));
  return [0, 1].map((party) => ({
    ids,
    featureNames: Array.from({ length: columnsPerParty }, (_, i) => `x${party * columnsPerParty + i}`),
    features: columns.slice(party * columnsPerParty, (party + 1) * columnsPerParty),
    labels: party === 0 ? labels : null,
  }));
}

/** Steps, slopes and interactions, within parties and between them; the last column of each party has no effect. */
function signalOf(x: (column: number) => number): number {
  const own = 0.4 * x(0) + 0.3 * Math.abs(x(1)) + (x(2) > 0.5 ? 0.4 : 0) + 0.15 * x(3);
  const others = 0.5 * x(6) + (x(7) > 0.3 ? 0.5 : 0) + 0.3 * Math.abs(x(8)) + 0.2 * x(9);
  return own + others + (x(0) > 0 && x(6) > 0 ? 0.5 : 0) + 0.2 * x(4) * x(10) - 1;
}
