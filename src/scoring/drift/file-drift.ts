/** The drift of a file of people that was scored: of all of them, for the command's output and the job's record. */
import { appendOwn } from "../../record/append-own.ts";
import type { DriftSummary } from "../../record/drift-facts.ts";
import { readReference } from "../../store/reference-file.ts";
import type { Scorer } from "../scorer.ts";
import { isWholeScore, type Wanted } from "../wanted.ts";
import { activePeople } from "./counted-scorer.ts";
import { DriftMeter } from "./drift-meter.ts";

interface ScoredFile {
  readonly columns: readonly Float32Array[];
  readonly predictions: Float64Array;
  /** Those that were scored. */
  readonly rows: ArrayLike<number>;
}

/** @returns null for few people, another output than predictions, or a model without reference distributions */
export async function driftOf(
  folder: string,
  scorer: Scorer,
  wanted: Wanted,
  { columns, predictions, rows }: ScoredFile,
): Promise<DriftSummary | null> {
  if (!isWholeScore(wanted)) return null;
  const reference = await readReference(folder).catch(() => null);
  if (reference === null || reference.model !== scorer.share.model) return null;
  const meter = new DriftMeter(reference);
  meter.see(activePeople(scorer, columns, predictions, rows));
  const summary = meter.summary(Date.now());
  if (summary !== null) appendOwn(folder, { kind: "drift", summary });
  return summary;
}
