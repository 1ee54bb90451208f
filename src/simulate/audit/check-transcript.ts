/** Whether the lines of a transcript fit each other: an audit computes with them as they stand. */
import { join } from "node:path";
import { TandemError } from "../../base/error.ts";
import { binIndexCount, totalBinCount } from "../../gbdt/split/binning.ts";
import { transcriptFileName } from "../../record/transcript-file.ts";
import type { TranscriptLine } from "../../record/transcript-lines.ts";
import { isSet } from "../../wire/bitmap.ts";
import { bytesOf, keptFeature, type KeptJob, lastOf } from "./kept-transcript.ts";

/** @throws TandemError FILE_FORMAT naming the file and the first thing that does not fit */
export function checkTranscript(folder: string, lines: readonly TranscriptLine[], job: KeptJob): void {
  const wrong = (what: string): TandemError =>
    new TandemError("FILE_FORMAT", `${join(folder, transcriptFileName)} is damaged: ${what}`);
  const bitmapBytes = Math.ceil(job.people / 8);
  for (const line of lines)
    if (line.kind === "tree" && ![0, bitmapBytes].includes(bytesOf(line.sampled).length))
      throw wrong(`the rows of tree ${line.tree} are of another number of people`);
  const people = lastOf(lines, "people");
  if (people !== undefined && [people.labels, people.scores].some((text) => bytesOf(text).length % 8 !== 0))
    throw wrong("labels or scores are cut off");
  if (job.role === "passive") checkColumns(lines, job, wrong);
}

function checkColumns(lines: readonly TranscriptLine[], job: KeptJob, wrong: (what: string) => TandemError): void {
  const columns = lastOf(lines, "columns")?.columns ?? [];
  if (columns.length === 0) throw wrong("it has no columns");
  const isSummed = summedEver(lines, job);
  const features = columns.map((column, i) => {
    if (bytesOf(column.bins).length !== 2 * job.people) throw wrong(`column ${i} is of another number of people`);
    const feature = keptFeature(column);
    const binCount = totalBinCount(feature);
    const has = (bin: number, person: number): boolean => bin < (isSummed(person) ? binCount : binIndexCount(feature));
    if (!feature.bins.every(has)) throw wrong(`column ${i} has a bin that it does not have`);
    return feature;
  });
  for (const line of lines) {
    if (line.kind !== "split") continue;
    if (line.feature >= features.length || bytesOf(line.left).length !== binIndexCount(features[line.feature]))
      throw wrong(`a split of tree ${line.tree} is of no column of it`);
  }
}

/** Who is held back may have a value that nobody had whom the cuts were made from: missing, or beyond all bins. */
function summedEver(lines: readonly TranscriptLine[], job: KeptJob): (person: number) => boolean {
  const samples = lines.flatMap((line) => (line.kind === "tree" ? [bytesOf(line.sampled)] : []));
  // Empty: all are sampled. Where members are hidden no sample is known.
  if (samples.length === 0 || samples.some((sampled) => sampled.length === 0)) return () => true;
  const any = new Uint8Array(Math.ceil(job.people / 8));
  for (const sampled of samples) sampled.forEach((byte, i) => (any[i] |= byte));
  return (person) => isSet(any, person);
}

/** Errors of what an audit is computed from are about the file, whoever finds them. */
export async function aboutTranscript<T>(folder: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof TandemError) || error.message.includes(folder)) throw error;
    const path = join(folder, transcriptFileName);
    throw new TandemError("FILE_FORMAT", `${path} is damaged: ${error.message}`, { cause: error });
  }
}
