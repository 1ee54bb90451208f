/** What the active party keeps of a job for a later audit, where its config asks for it. */
import { outputCountOf } from "../../gbdt/objective/outputs.ts";
import { TranscriptFile, type TranscriptNotes } from "../../record/transcript-file.ts";
import { transcriptFormat } from "../../record/transcript-lines.ts";
import { schemeNamed } from "../../scheme/registry.ts";
import type { ActiveConfig } from "../config/config.ts";

/** @throws TandemError FILE_UNWRITABLE */
export function openTranscript(
  { name, job, training, codec, privacy, scheme }: ActiveConfig,
  folder: string,
  { people, isFresh }: { readonly people: number; readonly isFresh: boolean },
): TranscriptNotes {
  const file = new TranscriptFile(folder);
  if (!isFresh) return file;
  file.note({
    kind: "job",
    format: transcriptFormat,
    party: name,
    role: "active",
    job,
    people,
    depthMax: training.max_depth,
    outputs: outputCountOf(training),
    answerNoise: privacy.answer_noise,
    resolutionBits: codec.resolution_bits,
    maskedScoring: privacy.masked_scoring,
    takesAllColumns: Math.min(training.colsample_bytree, training.colsample_bylevel, training.colsample_bynode) === 1,
    hidesMembers: schemeNamed(scheme).membership === "hidden",
  });
  return file;
}
