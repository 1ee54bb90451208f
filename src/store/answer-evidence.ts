/**
 * The answers about nodes that passive parties have signed, where members are hidden: `evidence/answers.jsonl` in the
 * active party's folder of a job, a line per answer. They show what a party answered in a tree that was never finished.
 * Lines name their run of the job; those of other runs are ignored. The file is removed when the job has succeeded: the
 * links of finished trees cover all answers.
 */
import { join } from "node:path";
import * as z from "zod";
import type { Storage } from "../base/files/storage.ts";
import type { SignedAnswer } from "../protocol/chain/record.ts";
import { appendSealed, readSealedLines, type SealedKind } from "./sealed-file.ts";
import { toBase64 } from "./stored-numbers.ts";

const index = z.number().int().nonnegative();

/** As openings have them. */
export const signedAnswerSchema = z.strictObject({
  peer: z.string(),
  tree: index,
  node: index,
  before: z.base64(),
  entries: z.base64(),
  signature: z.base64(),
});
export type KeptAnswer = z.infer<typeof signedAnswerSchema>;

const answerKind: SealedKind<KeptAnswer & { run: string }> = {
  format: "tandem-answer/1",
  name: "answer",
  noun: "a record of signed answers",
  schema: signedAnswerSchema.extend({ run: z.string() }),
  code: "CHECKPOINT",
  advice: "Restore the file, or start again under another name",
};

const path = (folder: string): string => join(folder, "evidence", "answers.jsonl");

export function keptAnswer(peer: string, { tree, node, before, entries, signature }: SignedAnswer): KeptAnswer {
  return {
    peer,
    tree,
    node,
    before: toBase64(before),
    entries: toBase64(entries),
    signature: toBase64(signature),
  };
}

/** @param folder of the job */
export async function readAnswers(folder: string, run: string, storage: Storage): Promise<KeptAnswer[]> {
  const lines = (await readSealedLines(path(folder), answerKind, storage)) ?? [];
  return lines.flatMap(({ run: of, ...answer }) => (of === run ? [answer] : []));
}

export function addAnswers(
  folder: string,
  run: string,
  answers: readonly KeptAnswer[],
  storage: Storage,
): Promise<void> {
  return appendSealed(
    path(folder),
    answerKind,
    answers.map((answer) => ({ run, ...answer })),
    storage,
  );
}

export function removeAnswers(folder: string, storage: Storage): Promise<void> {
  return storage.remove(path(folder));
}
