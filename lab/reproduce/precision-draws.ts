/**
 * The two algorithms, compared on other draws of rows: how much of a difference comes from the coarse slots, and how
 * much from the draw. Trained in one place, since the federated models are the same bit for bit.
 */
import { trainInOnePlace } from "../../src/simulate/comparison.ts";
import { type TrialSpec, trialJob } from "../trials/trial.ts";
import { type CreditTable, cutCreditTable } from "../trials/credit-tables.ts";
import { count, counted, decimals, signed } from "./figures-in-words.ts";
import type { ResultTable } from "./outcome.ts";

export interface DrawRow {
  readonly seed: number;
  readonly unbatched: { readonly auc: number; readonly ks: number };
  readonly batched: { readonly auc: number; readonly ks: number };
}

/** The first draw is the one that everything else runs on. */
export async function drawRowsOf(
  table: CreditTable,
  spec: TrialSpec,
  seed: number,
  drawCount: number,
): Promise<DrawRow[]> {
  const rows: DrawRow[] = [];
  for (let i = 0; i < drawCount; i++) {
    const { train, test } = cutCreditTable(table, { train: spec.trainRows, test: spec.testRows }, seed + i);
    const accuracy = async (codec: TrialSpec["codec"]): Promise<{ auc: number; ks: number }> => {
      const { testMetrics } = await trainInOnePlace({
        train,
        test,
        job: trialJob({ ...spec, codec }),
      });
      return { auc: testMetrics?.["auc"] ?? Number.NaN, ks: testMetrics?.["ks"] ?? Number.NaN };
    };
    rows.push({ seed: seed + i, unbatched: await accuracy("unbatched"), batched: await accuracy("batched") });
  }
  return rows;
}

export function drawsTable(rows: readonly DrawRow[], spec: TrialSpec): ResultTable {
  const group = (name: string) => ["SecureBoost", "Proposed", "difference"].map((title) => ({ group: name, title }));
  return {
    name: "precision-draws",
    title: "The two algorithms on other samples of rows",
    columns: [{ group: "", title: "seed" }, ...group("AUC test"), ...group("KS test")],
    rows: rows.map(({ seed, unbatched, batched }) => [
      String(seed),
      ...(["auc", "ks"] as const).flatMap((metric) => [
        decimals(unbatched[metric]),
        decimals(batched[metric]),
        signed(batched[metric] - unbatched[metric]),
      ]),
    ]),
    notes: [
      `${count(spec.trainRows)} training rows and ${count(spec.testRows)} test rows, ${spec.trees} trees. ` +
        "Trained in one place, which gives the same models.",
    ],
  };
}

/** The difference over all draws; a single draw proves nothing. */
export function drawsWords(rows: readonly DrawRow[], bar: number): string {
  const differences = rows.map(({ batched, unbatched }) => batched.auc - unbatched.auc);
  if (differences.length < 2) return "";
  const mean = differences.reduce((a, b) => a + b, 0) / differences.length;
  const deviation = Math.sqrt(
    differences.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (differences.length - 1),
  );
  const draws = `Over ${counted(differences.length, "draw")} of rows`;
  if (differences.every((value) => value === 0))
    return `${draws}, the two algorithms have the same test AUC in every one.`;
  const within = differences.filter((value) => Math.abs(value) <= bar).length;
  const systematic = Math.abs(mean) > (2 * deviation) / Math.sqrt(differences.length);
  return (
    `${draws}, Proposed minus SecureBoost is ${signed(mean, 5)} of test AUC on average, ` +
    `with a standard deviation of ${decimals(deviation, 5)}. It is within ${bar} in ${within} of them. ` +
    "The coarse slots lead to different trees, " +
    (systematic ? "which on average are not equally good." : "which on average are neither better nor worse.")
  );
}
