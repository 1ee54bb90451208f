/** A passive party's transcript of a job for a later audit, if its config enables it. */
import { join } from "node:path";
import { binIndexCount, type BinnedFeature } from "../../gbdt/split/binning.ts";
import type { OwnSplit } from "../../protocol/passive/role.ts";
import { base64, noTranscript, type TranscriptNotes } from "../../record/transcript-file.ts";
import { openTranscript } from "../job-transcript.ts";
import type { AdmittedJob } from "./admitted-job.ts";

/** The job's folder must exist. @throws TandemError FILE_UNWRITABLE */
export function beginTranscript({ config, agreed, rows, features, checkpoints }: AdmittedJob): TranscriptNotes {
  const { name, output } = config;
  if (!output.transcript || checkpoints.isFinished) return noTranscript;
  const isFresh = checkpoints.progress.trees === 0;
  const folder = join(output.directory, agreed.job);
  const people = rows.training.ids.length;
  const file = openTranscript(agreed, { party: name, role: "passive", people, folder, isFresh });
  if (isFresh) file.note({ kind: "columns", columns: features.map(keptColumn) });
  return file;
}

function keptColumn(feature: BinnedFeature) {
  const { name, binCount, hasMissing, missingLeftLast, categories, oneHot, monotone = 0, bins } = feature;
  const kind = categories === undefined ? null : oneHot === true;
  const order = missingLeftLast === undefined ? {} : { missingLeftLast };
  return { name, binCount, hasMissing, ...order, oneHot: kind, monotone, bins: base64(bins) };
}

/** Notes the party's splits of the model: what scoring would reveal about all instances. */
export function noteSplits(
  transcript: TranscriptNotes,
  features: readonly BinnedFeature[],
  splits: readonly OwnSplit[],
): void {
  for (const split of splits) {
    const { tree, node, feature } = split;
    transcript.note({ kind: "split", tree, node, feature, left: base64(leftBinsOf(split, features[feature])) });
  }
}

/** As leftBins of the candidate that became the split. */
function leftBinsOf(split: OwnSplit, feature: BinnedFeature): Uint8Array {
  const { binCount, thresholds, categories } = feature;
  const { threshold, categories: right } = split;
  return Uint8Array.from({ length: binIndexCount(feature) }, (_, bin) => {
    if (bin === binCount) return split.defaultLeft ? 1 : 0;
    if (right !== undefined) return right.includes(categories?.[bin] ?? "") ? 0 : 1;
    return bin < binCount && threshold !== undefined && thresholds[bin] <= threshold ? 1 : 0;
  });
}
