/**
 * The messages of the current round at a passive party, for a repetition of the round, in the job's folder:
 * `round/<first tree>/`. A line per answered node, in parts from 0 on. All name their beginning of the job: lines of
 * another beginning are ignored.
 *
 * The content is ciphertexts of the active party, and digests. It is removed when the next round begins, and with the
 * job.
 */
import { join } from "node:path";
import * as z from "zod";
import type { Storage } from "../base/files/storage.ts";
import type { StoredAnswer } from "../protocol/passive/round-store.ts";
import { passiveKind } from "./passive-checkpoint.ts";
import { appendSealed, readSealedLines } from "./sealed-file.ts";
import { bytesFrom, toBase64 } from "./stored-numbers.ts";

const index = z.number().int().nonnegative();

const answerFile = z.strictObject({
  beginning: z.string(),
  tree: index,
  node: index,
  parting: z
    .strictObject({ parent: index, node: index, sibling: index, members: z.string(), open: index.optional() })
    .nullable(),
  /** Messages of the wire, base64. */
  messages: z.array(z.base64()),
});

const answerKind = passiveKind("answer", answerFile);

/** The files of one beginning of a job. */
export class RoundFiles {
  readonly #folder: string;
  readonly #beginning: string;
  readonly #storage: Storage;
  #made: number | null = null;

  /** @param folder of the job */
  constructor(folder: string, beginning: string, storage: Storage) {
    this.#folder = join(folder, "round");
    this.#beginning = beginning;
    this.#storage = storage;
  }

  async readAnswers(round: number, part: number): Promise<readonly StoredAnswer[] | null> {
    const stored = await readSealedLines(this.#answers(round, part), answerKind, this.#storage);
    if (stored === null) return null;
    const own = stored.filter(({ beginning }) => beginning === this.#beginning);
    return own.map(({ tree, node, parting, messages }) => ({ tree, node, parting, messages: messages.map(bytesFrom) }));
  }

  async addAnswers(round: number, part: number, answers: readonly StoredAnswer[]): Promise<void> {
    await this.#makeFolder(round);
    const lines = answers.map(({ tree, node, parting, messages }) => ({
      beginning: this.#beginning,
      tree,
      node,
      parting,
      messages: messages.map(toBase64),
    }));
    await appendSealed(this.#answers(round, part), answerKind, lines, this.#storage);
  }

  forget(round: number): Promise<void> {
    return this.#storage.removeFolder(this.#of(round));
  }

  forgetAll(): Promise<void> {
    return this.#storage.removeFolder(this.#folder);
  }

  async #makeFolder(round: number): Promise<void> {
    if (this.#made !== round) await this.#storage.makeFolder(this.#of(round));
    this.#made = round;
  }

  #answers(round: number, part: number): string {
    return join(this.#of(round), `answers-${part}.jsonl`);
  }

  #of(round: number): string {
    return join(this.#folder, String(round));
  }
}
