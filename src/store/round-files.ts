/**
 * What a passive party has told of the round that may be redone, in a folder of the job: `round/<first tree>/`, a file
 * per node that was answered, numbered from 0, and where answers have noise one per chunk of gradients. Each names the
 * beginning of the job that it belongs to: what is left of another one counts as nothing.
 *
 * All of it is ciphertexts of the active party, and digests. It goes when the next round begins, and with the job.
 */
import { join } from "node:path";
import { z } from "zod";
import type { Storage } from "../base/storage.ts";
import type { ToldAnswer } from "../protocol/passive/round-store.ts";
import { passiveKind } from "./passive-checkpoint.ts";
import { readSealed, type SealedKind, writeSealed } from "./sealed-file.ts";
import { bytesFrom, textOf } from "./stored-numbers.ts";

const index = z.number().int().nonnegative();

const answerFile = z.strictObject({
  beginning: z.string(),
  tree: index,
  node: index,
  parting: z.strictObject({ parent: index, node: index, sibling: index, members: z.string() }).nullable(),
  /** Messages of the wire, base64. */
  messages: z.array(z.base64()),
});
const gradientsFile = z.strictObject({ beginning: z.string(), message: z.base64() });

const answerKind = passiveKind("answer", answerFile);
const gradientsKind = passiveKind("gradients", gradientsFile);

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

  async readAnswer(round: number, number: number): Promise<ToldAnswer | null> {
    const stored = await this.#read(round, `${number}.json`, answerKind);
    if (stored === null) return null;
    const { tree, node, parting, messages } = stored;
    return { tree, node, parting, messages: messages.map(bytesFrom) };
  }

  writeAnswer(round: number, number: number, { tree, node, parting, messages }: ToldAnswer): Promise<void> {
    const contents = { tree, node, parting, messages: messages.map(textOf) };
    return this.#write(round, `${number}.json`, answerKind, { beginning: this.#beginning, ...contents });
  }

  async readGradients(round: number, number: number): Promise<Uint8Array | null> {
    const stored = await this.#read(round, `gradients-${number}.json`, gradientsKind);
    return stored === null ? null : bytesFrom(stored.message);
  }

  writeGradients(round: number, number: number, message: Uint8Array): Promise<void> {
    const contents = { beginning: this.#beginning, message: textOf(message) };
    return this.#write(round, `gradients-${number}.json`, gradientsKind, contents);
  }

  forget(round: number): Promise<void> {
    return this.#storage.removeFolder(this.#of(round));
  }

  forgetAll(): Promise<void> {
    return this.#storage.removeFolder(this.#folder);
  }

  async #read<T extends { readonly beginning: string }>(
    round: number,
    name: string,
    kind: SealedKind<T>,
  ): Promise<T | null> {
    const stored = await readSealed(join(this.#of(round), name), kind, this.#storage);
    return stored?.beginning === this.#beginning ? stored : null;
  }

  async #write<T>(round: number, name: string, kind: SealedKind<T>, contents: T): Promise<void> {
    if (this.#made !== round) await this.#storage.makeFolder(this.#of(round));
    this.#made = round;
    await writeSealed(join(this.#of(round), name), kind, contents, this.#storage);
  }

  #of(round: number): string {
    return join(this.#folder, String(round));
  }
}
