/** All parties of a job on one machine, as real processes over TLS: the way to try a federation on one table. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AuditResult } from "../privacy/attack/audit-result.ts";
import { simulateDefaults } from "../simulate/simulate-defaults.ts";
import type { SimulateOptions as JobOptions } from "../simulate/simulate-options.ts";
import { stopping, untilAborted } from "./abort.ts";
import type { RowColumnNames } from "./gbdt.ts";
import { Model } from "./model.ts";
import type { PrivacyParameters, TrainingParameters } from "./parameters.ts";
import { type Predictions, readPredictions } from "./predictions.ts";
import { type ModelMetrics, toModelMetrics, type OnProgress, toProgress } from "./progress.ts";
import { type Table, withTableFile } from "./table.ts";

export type { Membership, MembershipFacts, OutcomeCover } from "../base/membership.ts";
export type * from "../privacy/attack/audit-result.ts";
export type { Reach } from "../privacy/spending.ts";
export { type FeatureImportance, type Model, type PredictOptions, readModel } from "./model.ts";
export type { RowColumnNames } from "./gbdt.ts";
export type { PrivacyParameters, TrainingParameters } from "./parameters.ts";
export type { Predictions, Scores } from "./predictions.ts";
export type { Metrics, ModelMetrics, OnProgress, Progress } from "./progress.ts";
export type { Table } from "./table.ts";

/** How one table is cut into parties, and what they train. */
export interface SplitOptions {
  /** The column to predict; the active party holds it. */
  readonly label: string;
  /** Columns of the active party. */
  readonly active: readonly string[];
  /** Columns of each passive party. */
  readonly passives: readonly (readonly string[])[];
  /** The column of ids. Default: row numbers. */
  readonly id?: string;
  /** The label's value that counts as 1; all others are 0. */
  readonly positive?: string;
  /** Names of the label's classes in their order. Default: sorted, where labels are text. */
  readonly classes?: readonly string[];
  readonly columns?: RowColumnNames;
  /** Share of the rows that is held back for testing; 0: none. Default: 0.25. */
  readonly testFraction?: number;
  /** A second table to test on instead. */
  readonly test?: string | Table;
  /** Share of the training rows that is evaluated after every round instead of trained on. */
  readonly validationFraction?: number;
  /** A second table to evaluate after every round instead. */
  readonly validation?: string | Table;
  /** Cells that mean missing, besides empty ones, NA and NaN. */
  readonly missing?: readonly string[];
  /** Columns of numbers that stand for categories; needs `enable_categorical`. */
  readonly categorical?: readonly string[];
  /** By feature: 1 or -1 if a larger value may only raise or only lower the prediction. */
  readonly monotone?: Readonly<Record<string, -1 | 0 | 1>>;
  /** By group: columns that may split below each other. */
  readonly interactions?: Readonly<Record<string, readonly string[]>>;
  readonly training?: TrainingParameters;
  /** Default: the preset `exact`. */
  readonly privacy?: PrivacyParameters;
  /** Default: `paillier`. The others are `curve` and `lattice`. */
  readonly scheme?: string;
  /** Length of the Paillier key. Default: 2048. */
  readonly keyBits?: number;
  /** A key that is too short to be secure, for experiments. */
  readonly insecureKeyBits?: number;
  readonly onProgress?: OnProgress;
  readonly signal?: AbortSignal;
}

/** Options of `simulate`. */
export interface SimulateOptions extends SplitOptions {
  /** Train again with all columns in one place, and compare every node. Default: false. */
  readonly check?: boolean;
}

/** What a simulation has come to. */
export interface SimulateResult {
  /** All parties' shares together. */
  readonly model: Model;
  readonly metrics: ModelMetrics;
  /** Of the rows that were held back for testing; null: there are none. */
  readonly predictions: Predictions | null;
  /** Whether the model equals the centralised one bit for bit; null: `check` was not asked for. */
  readonly equalsCentralised: boolean | null;
  readonly seconds: number;
  /** Payload bytes between the active party and all passive ones. */
  readonly bytes: { readonly activeToPassive: number; readonly passiveToActive: number };
}

/**
 * Cuts a table by columns into parties, and trains between them.
 * @param table columns, or the path of a .csv, .csv.gz or .parquet file
 * @throws TandemError; the signal's reason where it was aborted
 */
export function simulate(table: string | Table, options: SimulateOptions): Promise<SimulateResult> {
  return untilAborted(options.signal, () => withJob(table, options, (job) => run(job, options)));
}

async function run(job: JobOptions, { signal, check = false }: SimulateOptions): Promise<SimulateResult> {
  const [{ simulate: runSimulation }, { superviseParties }] = await Promise.all([
    import("../simulate/simulate.ts"),
    import("../simulate/supervisor.ts"),
  ]);
  const folder = await mkdtemp(join(tmpdir(), "tandem-predictions-"));
  try {
    const path = join(folder, "predictions.csv");
    let stop = (): void => {};
    const result = await stopping(
      signal,
      () => stop(),
      () =>
        runSimulation({ ...job, check, predictions: path }, (onEvent) => {
          const supervisor = superviseParties(onEvent);
          stop = () => supervisor.stop();
          return supervisor;
        }),
    );
    return {
      model: new Model(result.model, result.parties),
      metrics: toModelMetrics(result.active.metrics),
      predictions: result.active.metrics.test === null ? null : await readPredictions(path),
      equalsCentralised: result.difference === null ? null : result.difference === "",
      seconds: result.wallSeconds,
      bytes: result.active.bytes,
    };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Options of `audit`. */
export interface AuditOptions extends SplitOptions {
  /** Time for attacks on sums, all together. Default: 60. */
  readonly seconds?: number;
  /** Train again with each defence, and say what it would change. Default: false. */
  readonly whatIf?: boolean;
}

/**
 * Computes what each party of such a job could learn about the others' data, by attacking what it would see. Nothing is
 * encrypted and no process is started.
 * @throws TandemError; the signal's reason where it was aborted
 */
export function audit(table: string | Table, options: AuditOptions): Promise<AuditResult> {
  const { seconds = 60, whatIf = false, signal } = options;
  const onProgress = (): void => signal?.throwIfAborted();
  return untilAborted(signal, () =>
    withJob(table, options, async (job) => {
      const { auditSimulation } = await import("../simulate/audit/audit.ts");
      return auditSimulation(job, { seconds, whatIf, onProgress });
    }),
  );
}

/** The options as the simulation takes them: the only place where the two meet. */
function withJob<T>(table: string | Table, options: SplitOptions, use: (job: JobOptions) => Promise<T>): Promise<T> {
  const { training, privacy, scheme, keyBits, insecureKeyBits, onProgress } = options;
  const groups = Object.entries(options.interactions ?? {});
  const constraints = {
    monotone_constraints: options.monotone ?? {},
    interaction_constraints: Object.fromEntries(groups.map(([group, names]) => [group, [...names]])),
  };
  const withFile = <R>(other: string | Table | undefined, then: (path: string | undefined) => Promise<R>): Promise<R> =>
    other === undefined ? then(undefined) : withTableFile(other, then);
  return withTableFile(table, (data) =>
    withFile(options.test, (testData) =>
      withFile(options.validation, (validationData) =>
        use({
          data,
          id: options.id,
          label: options.label,
          positive: options.positive,
          classes: options.classes,
          rowColumns: options.columns ?? {},
          active: options.active,
          passives: options.passives,
          testFraction: options.testFraction ?? simulateDefaults.testFraction,
          testData,
          validationFraction: options.validationFraction,
          validationData,
          missing: options.missing ?? [],
          ...(options.categorical && { categorical: options.categorical }),
          job: { training, privacy, scheme, keyBits, insecureKeyBits, constraints },
          check: false,
          onEvent: (event) => {
            const progress = toProgress(event);
            if (progress !== null) onProgress?.(progress);
          },
        }),
      ),
    ),
  );
}
