/** Opens a party's transcript of a job for a later audit, if its config enables it. */
import { membershipFlag } from "../record/membership.ts";
import type { AgreedParameters } from "../protocol/job-parameters.ts";
import { TranscriptFile } from "../record/transcript-file.ts";
import { transcriptFormat } from "../record/transcript-lines.ts";
import { schemeNamed } from "../scheme/registry.ts";

export interface TranscriptTerms {
  readonly party: string;
  readonly role: "active" | "passive";
  readonly people: number;
  /** Of the job. */
  readonly folder: string;
  /** No tree of the job is finished. */
  readonly isFresh: boolean;
}

/** @throws TandemError FILE_UNWRITABLE */
export function openTranscript(agreed: AgreedParameters, terms: TranscriptTerms): TranscriptFile {
  const { party, role, people, folder, isFresh } = terms;
  const file = new TranscriptFile(folder);
  if (!isFresh) return file;
  file.note({
    kind: "job",
    format: transcriptFormat,
    party,
    role,
    job: agreed.job,
    people,
    depthMax: agreed.maxDepth,
    outputs: agreed.outputs,
    answerNoise: agreed.defences.answer_noise,
    resolutionBits: agreed.resolutionBits,
    maskedScoring: agreed.defences.masked_scoring,
    takesAllColumns: Math.min(agreed.colsampleBytree, agreed.colsampleBylevel, agreed.colsampleBynode) === 1,
    ...(agreed.defences.hidden_sums ? { hidesSums: true } : {}),
    ...membershipFlag(schemeNamed(agreed.scheme).membership),
  });
  return file;
}
