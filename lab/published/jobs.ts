/**
 * Jobs of benchmarks that others have published, for this machine: their rows, columns and parameters. Where the table
 * is not public, or not at hand, one of the same shape is generated.
 */
import type { SimulateOptions } from "../../src/simulate/simulate-options.ts";
import type { GeneratedShape } from "./generated-table.ts";

export interface PublishedJob {
  readonly name: string;
  readonly what: string;
  /** A public file, or what to generate. */
  readonly table: PublicTable | GeneratedShape;
  readonly validationFraction?: number;
  readonly training: Readonly<Record<string, unknown>>;
  /** By scheme; fewer than the benchmark's where they take minutes. */
  readonly rounds: Readonly<Record<string, number>>;
}

export type PublicTable = Pick<SimulateOptions, "label" | "positive" | "active" | "passives"> & {
  /** In the folder of public data. */
  readonly file: string;
};

export const publishedJobs: readonly PublishedJob[] = [
  {
    name: "bank-marketing",
    what: "SecretFlow SGB: Bank Marketing",
    table: {
      file: "bank/bank-full.csv.gz",
      label: "y",
      positive: "yes",
      active: ["poutcome", "contact", "day", "month", "campaign", "duration", "pdays", "previous"],
      passives: [["age", "job", "marital", "education", "default", "balance", "housing", "loan"]],
    },
    validationFraction: 0.2,
    training: {
      max_depth: 5,
      max_bin: 10,
      eta: 0.3,
      lambda: 0.1,
      min_child_weight: 0,
      early_stopping_rounds: 5,
      enable_categorical: true,
      eval_metric: ["auc"],
    },
    rounds: { paillier: 100, curve: 100, lattice: 100 },
  },
  {
    name: "creditcard",
    what: "SecretFlow SGB: the shape of creditcard",
    table: { rows: 284_807, active: 15, passive: 15, cells: "continuous", positives: 0.0017 },
    training: { max_depth: 5, max_bin: 10, eta: 0.3, lambda: 0.1, min_child_weight: 0 },
    rounds: { paillier: 3, curve: 3, lattice: 20 },
  },
  {
    name: "fate",
    what: "FATE 2.0: 100,000 x (30 + 300)",
    table: { rows: 100_000, active: 30, passive: 300, cells: "continuous", positives: 0.5 },
    training: { max_depth: 3, max_bin: 32, eta: 0.3 },
    rounds: { paillier: 2, curve: 2, lattice: 5 },
  },
  {
    name: "a9a",
    what: "FedTree: the shape of a9a",
    table: { rows: 32_561, active: 62, passive: 61, cells: "binary", positives: 0.24 },
    training: { max_depth: 6, max_bin: 255, eta: 0.1 },
    rounds: { paillier: 5, curve: 5, lattice: 20 },
  },
  {
    name: "wide",
    what: "SecretFlow SGB: 800,000 x (1,500 + 1,500), with 5,000 rows",
    table: { rows: 5000, active: 1500, passive: 1500, cells: "continuous", positives: 0.5 },
    training: { max_depth: 4, max_bin: 126, eta: 0.3 },
    // Lattices take at most 65,536 candidates per party; these are 187,500.
    rounds: { paillier: 1, curve: 2 },
  },
];
