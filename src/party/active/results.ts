/**
 * Steps that jobs of the active party share before and after training: label notices, the end after a failure, the
 * predictions file, the layout summary.
 */
import { membershipFlag } from "../../record/membership.ts";
import { isCrewTrouble } from "../../base/crew-trouble.ts";
import { errorCodes, TandemError } from "../../base/error.ts";
import { computedTexts } from "../../base/text/text-list.ts";
import type { TrainingParameters } from "../../gbdt/parameters/training-parameters.ts";
import type { Storage } from "../../base/files/storage.ts";
import { overflowProof, type GradientLayout } from "../../codec/layout.ts";
import { schemeNamed } from "../../scheme/registry.ts";
import type { PartyTable } from "../../data/dataset.ts";
import { predictionColumns } from "../../data/prediction-columns.ts";
import { csvChunks } from "../../data/write-csv.ts";
import { metricsFor } from "../../gbdt/boost/boosting-monitor.ts";
import { absenceWords } from "../../gbdt/metric/one-class.ts";
import { classCutOff, type ObjectiveName } from "../../gbdt/objective/objectives.ts";
import type { TrainingRows } from "../../gbdt/rows/training-rows.ts";
import { requiredLabels } from "../tables/table-rows.ts";
import type { JobTables } from "./tables.ts";
import type { ActiveRole } from "../../protocol/active/role.ts";
import type { Job } from "../../protocol/job.ts";
import type { Emit } from "../../record/events.ts";
import type { LayoutSummary } from "../../record/events/training-events.ts";
import type { SchemeSecret } from "../../scheme/scheme.ts";
import type { ActiveConfig } from "../config/config.ts";

/** Notices about metrics that are undefined because their rows lack a class. */
export function oneClassWords(
  training: TrainingParameters,
  { rows, test }: Pick<JobTables, "rows" | "test">,
): string[] {
  const metrics = metricsFor(training);
  const { validation } = rows;
  return [
    validation && absenceWords(metrics, rows.select(validation).labels, "validation", training.num_class),
    test && absenceWords(metrics, requiredLabels(test), "test", training.num_class),
  ].filter((words) => words !== null);
}

/** The same for the first such fold; null: none. */
export function foldWords(
  training: TrainingParameters,
  rows: TrainingRows,
  folds: readonly Uint32Array[],
): string | null {
  for (const [fold, held] of folds.entries()) {
    const words = absenceWords(metricsFor(training), rows.select(held).labels, "held-out", training.num_class);
    if (words !== null) return `fold ${fold + 1} of ${folds.length}: ${words}`;
  }
  return null;
}

/**
 * Sends the reason to the parties that are still connected, as an error code only: the message may name a file of this
 * party, or another party. After the loss of a party or its workers the job is not ended: the next attempt reconnects.
 */
export async function tellFailure(role: Pick<ActiveRole, "finish">, error: unknown): Promise<void> {
  const code = error instanceof TandemError ? error.code : "INTERNAL";
  if (code !== "PARTY_LOST" && !isCrewTrouble(code)) await role.finish(`${errorCodes[code]} (${code})`);
}

export async function writePredictions(
  path: string,
  table: PartyTable,
  { objective, predictions }: { readonly objective: ObjectiveName; readonly predictions: Float64Array },
  storage: Storage,
): Promise<void> {
  const { ids, classes = null } = table;
  const { names, columns } = predictionColumns(classCutOff(objective), predictions, ids.length, classes);
  const values = requiredLabels(table);
  const labels = computedTexts(values.length, (row) => classes?.[values[row]] ?? String(values[row]));
  await storage.write(path, csvChunks(["id", "label", ...names], [ids, labels, ...columns]));
}

/** Creates the secret of a new job, and reports it as an event. */
export async function makeSecret(config: ActiveConfig, emit: Emit): Promise<SchemeSecret> {
  const { job, threads } = config;
  const scheme = schemeNamed(job.scheme);
  const { keyBits } = job.schemeParameters;
  // The key length was checked when the job was resolved.
  const secret = await scheme.makeSecret({ keyBits: keyBits ?? 0, insecureKey: true, threads });
  const key = scheme.describe(job.schemeParameters);
  const keyless = keyBits === undefined ? { keyless: true } : {};
  emit({ type: "key", party: config.name, process: process.pid, key, ...keyless, kernel: scheme.kernelName() });
  return secret;
}

/** @param proof the scheme's, where the layout alone does not decide */
export function layoutSummary(
  layout: GradientLayout,
  job: Job,
  proof: readonly string[] = overflowProof(layout),
): LayoutSummary {
  const scheme = schemeNamed(job.scheme);
  const { ciphertextBytes, sumsPerCiphertext, plaintextBitsMax } = scheme.sizes(job.schemeParameters, layout);
  return {
    scheme: scheme.name,
    kind: job.codec.layout,
    codec: layout.codec,
    slots: layout.slots,
    instanceCountMax: layout.instanceCountMax,
    plaintextsPerInstance: layout.plaintexts.length,
    plaintextBits: layout.plaintextBits,
    plaintextBitsMax,
    ciphertextBytes,
    sumsPerCiphertext,
    ...membershipFlag(scheme.membership),
    proof,
  };
}
