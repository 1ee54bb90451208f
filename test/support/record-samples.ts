/** Pieces of what a job leaves in its folder, for tests that read it. */
import { transcriptFormat } from "../../src/record/transcript-lines.ts";

const slot = { shift: -1, alpha: 2, alphaMax: 8192, r: 37, padding: 2 };

/** Of the event that reports how gradients are encoded. */
export const sampleLayout = {
  kind: "auto",
  codec: "batched",
  slots: [slot, slot],
  instanceCountMax: 1000,
  scheme: "paillier",
  plaintextBitsMax: 2047,
  ciphertextBytes: 512,
  plaintextsPerInstance: 1,
  plaintextBits: 78,
  sumsPerCiphertext: 26,
  proof: ["2^37 > 1000"],
} as const;

/** The first line of a passive party's transcript. */
export function transcriptJob(people: number) {
  return {
    kind: "job",
    format: transcriptFormat,
    party: "shop",
    role: "passive",
    job: "spring",
    people,
    depthMax: 2,
    outputs: 1,
    answerNoise: 0,
    resolutionBits: 24,
    maskedScoring: false,
    takesAllColumns: true,
  } as const;
}
