/** What a passive party keeps of a job for a later audit, where its config asks for it. */
import { join } from "node:path";
import { categoryNamesOf, type PartyTable } from "../../data/dataset.ts";
import { columnTest } from "../../gbdt/split/split-test.ts";
import type { BinnedFeature } from "../../gbdt/split/binning.ts";
import type { OwnSplit } from "../../protocol/passive/role.ts";
import { base64, noTranscript, TranscriptFile, type TranscriptNotes } from "../../record/transcript-file.ts";
import { bitmapFrom } from "../../wire/bitmap.ts";
import type { PassiveJobOptions } from "./job-voice.ts";

/** The job's folder is there. @throws TandemError FILE_UNWRITABLE */
export function openTranscript({ config, agreed, rows, features, checkpoints }: PassiveJobOptions): TranscriptNotes {
  const { name, output } = config;
  if (!output.transcript || checkpoints.isFinished) return noTranscript;
  const file = new TranscriptFile(join(output.directory, agreed.job));
  if (checkpoints.progress.trees > 0) return file;
  file.note({
    kind: "job",
    party: name,
    role: "passive",
    job: agreed.job,
    people: rows.training.ids.length,
    depthMax: agreed.maxDepth,
    outputs: agreed.outputs,
    answerNoise: agreed.answerNoise,
    resolutionBits: agreed.resolutionBits,
    maskedScoring: agreed.maskedScoring,
  });
  file.note({ kind: "columns", columns: features.map(keptColumn) });
  return file;
}

function keptColumn({ name, binCount, hasMissing, categories, oneHot, monotone = 0, bins }: BinnedFeature) {
  const isCategorical = categories !== undefined;
  return { name, binCount, hasMissing, oneHot: isCategorical ? oneHot === true : null, monotone, bins: base64(bins) };
}

/** What scoring everybody of the job would tell: the outcome of each split, also off the path. */
export function noteScoring(
  transcript: TranscriptNotes,
  peer: string,
  table: PartyTable,
  splits: readonly OwnSplit[],
): void {
  const names = categoryNamesOf(table);
  for (const split of splits) {
    const { tree, node, feature } = split;
    const goesLeft = columnTest(split, names[feature] ?? null);
    const values = table.features[feature];
    const left = base64(bitmapFrom(table.ids.length, (i) => goesLeft(values[i])));
    transcript.note({ kind: "scoring", peer, tree, node, left });
  }
}
