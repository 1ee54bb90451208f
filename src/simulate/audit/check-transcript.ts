/** Checks that the lines of a transcript are consistent: an audit computes with them without further checks. */
import { join } from "node:path";
import { TandemError } from "../../base/error.ts";
import { binIndexCount, totalBinCount } from "../../gbdt/split/binning.ts";
import { transcriptFileName } from "../../record/transcript-file.ts";
import type { TranscriptLine } from "../../record/transcript-lines.ts";
import { isSet } from "../../wire/bitmap.ts";
import { keptFeature, type KeptJob, lastLine } from "./kept-transcript.ts";
import { bytesFrom } from "../../store/stored-numbers.ts";

/** @throws TandemError FILE_FORMAT naming the file and the first inconsistency */
export function checkTranscript(folder: string, lines: readonly TranscriptLine[], job: KeptJob): void {
  const wrong = (what: string): TandemError =>
    new TandemError("FILE_FORMAT", `${join(folder, transcriptFileName)} is damaged: ${what}`);
  const bitmapBytes = Math.ceil(job.people / 8);
  for (const line of lines)
    if (line.kind === "tree" && ![0, bitmapBytes].includes(bytesFrom(line.sampled).length))
      throw wrong(`the sample of tree ${line.tree} does not have one bit per instance`);
  const people = lastLine(lines, "people");
  if (people !== undefined && [people.labels, people.scores].some((text) => bytesFrom(text).length % 8 !== 0))
    throw wrong("labels or scores are truncated");
  if (job.role === "passive") checkColumns(lines, job, wrong);
}

function checkColumns(lines: readonly TranscriptLine[], job: KeptJob, wrong: (what: string) => TandemError): void {
  const columns = lastLine(lines, "columns")?.columns ?? [];
  if (columns.length === 0) throw wrong("it has no columns");
  const isSummed = summedEver(lines, job);
  const features = columns.map((column, i) => {
    if (bytesFrom(column.bins).length !== 2 * job.people) throw wrong(`column ${i} does not have one bin per instance`);
    const feature = keptFeature(column);
    const binCount = totalBinCount(feature);
    const has = (bin: number, row: number): boolean => bin < (isSummed(row) ? binCount : binIndexCount(feature));
    if (!feature.bins.every(has)) throw wrong(`column ${i} has a bin out of range`);
    return feature;
  });
  for (const line of lines) {
    if (line.kind !== "split") continue;
    if (line.feature >= features.length || bytesFrom(line.left).length !== binIndexCount(features[line.feature]))
      throw wrong(`a split of tree ${line.tree} does not fit any of its columns`);
  }
}

/** Held-out rows are not used for cuts, so their values may be in no bin: missing, or beyond all bins. */
function summedEver(lines: readonly TranscriptLine[], job: KeptJob): (row: number) => boolean {
  const samples = lines.flatMap((line) => (line.kind === "tree" ? [bytesFrom(line.sampled)] : []));
  // Empty: every instance is sampled. Where members are hidden, the sample is unknown.
  if (samples.length === 0 || samples.some((sampled) => sampled.length === 0)) return () => true;
  const any = new Uint8Array(Math.ceil(job.people / 8));
  for (const sampled of samples) sampled.forEach((byte, i) => (any[i] |= byte));
  return (row) => isSet(any, row);
}

/** Reports an error in what an audit is computed from as an error of the transcript file. */
export async function aboutTranscript<T>(folder: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof TandemError) || error.message.includes(folder)) throw error;
    const path = join(folder, transcriptFileName);
    throw new TandemError("FILE_FORMAT", `${path} is damaged: ${error.message}`, { cause: error });
  }
}
