/**
 * How many masked scores of one person an active party gets with one model, over all jobs, attempts and processes: a
 * malicious one can ask another question each time, and with score_noise repeated answers can be averaged. Requests are
 * counted durably before they are answered: a crash counts one too many, never one too few.
 */
import { TandemError } from "../base/error.ts";
import type { Storage } from "../base/files/storage.ts";
import { Exclusive } from "../base/scheduling/exclusive.ts";
import { appendQuestions, personKey, readQuestions } from "../store/question-file.ts";

export interface QuestionOptions {
  readonly party: string;
  /** The party's output directory. */
  readonly directory: string;
  /** Scores per person and model. */
  readonly limit: number;
  readonly storage: Storage;
  /** Runs work on this party's own files: the details of an error go to its own log only. */
  readonly ownFiles: <T>(work: () => Promise<T>) => Promise<T>;
}

export class QuestionCounts {
  readonly #options: QuestionOptions;
  readonly #exclusive = new Exclusive();
  /** By partner and model; read from their file when first asked about, and after a failed write. */
  readonly #counts = new Map<string, Map<number, number>>();

  constructor(options: QuestionOptions) {
    this.#options = options;
  }

  /**
   * Counts a masked score of each of these people, or of none of them.
   * @param ids those that this party holds
   * @throws TandemError POLICY if one of them had all scores that the policy allows
   */
  async charge(active: string, model: string, ids: readonly string[]): Promise<void> {
    if (ids.length === 0) return;
    await this.#exclusive.run(() => this.#charge(active, model, ids));
  }

  async #charge(active: string, model: string, ids: readonly string[]): Promise<void> {
    const { party, directory, limit, storage, ownFiles } = this.#options;
    const name = `${active}\n${model}`;
    const counts = this.#counts.get(name) ?? (await ownFiles(() => readQuestions(directory, active, model, storage)));
    const keys = ids.map((id) => personKey(model, id));
    const added = new Map<number, number>();
    for (const key of keys) added.set(key, (added.get(key) ?? counts.get(key) ?? 0) + 1);
    const over = [...added.values()].filter((count) => count > limit).length;
    if (over > 0)
      throw new TandemError(
        "POLICY",
        `the policy of ${party} allows ${limit} masked scores of a person with one model (max_scores_per_person): ` +
          `${over} of the people asked about have had them. Ask about others, or for a higher limit`,
      );
    this.#counts.delete(name); // a write that fails may have been done in part
    await ownFiles(() => appendQuestions(directory, active, model, keys, storage));
    for (const [key, count] of added) counts.set(key, count);
    this.#counts.set(name, counts);
  }
}
