/**
 * The rows that are predicted at the end of a job. The active party names all of them at once, and by that they are
 * fixed for good: the same ones may be asked about again, also after a restart or when the job has ended, and nobody
 * else. With them training is over, so that no model on the way is ever asked.
 */
import { TandemError } from "../../base/error.ts";
import type { ActiveTestRows } from "../../wire/generated/tandem/v1/tandem_pb.ts";
import { idsDigest } from "../ids.ts";
import type { Attempt } from "./attempt.ts";

/** A row's values, feature by feature. */
export type RowValues = (feature: number) => number;

export class TestRows {
  readonly #attempt: Attempt;
  #rows: readonly RowValues[] | null = null;

  constructor(attempt: Attempt) {
    this.#attempt = attempt;
  }

  /** @throws TandemError ID_MISMATCH for an id that it does not hold, PROTOCOL_STATE for other rows than before */
  async name(chunks: AsyncIterable<ActiveTestRows>): Promise<void> {
    this.#expectEnd();
    const { progress, tally, course } = this.#attempt;
    if (course.phase === "finished" && progress.current.testRows === null) throw otherPeople();
    const named = new Set<string>();
    for await (const chunk of chunks) for (const id of chunk.ids) this.#add(id, named);
    const ids = [...named];
    if (ids.length === 0) throw new TandemError("PROTOCOL_STATE", "nobody is named to be predicted");
    const digest = Buffer.from(idsDigest(ids)).toString("hex");
    await progress.update(({ testRows }) => {
      this.#expectEnd();
      if (testRows === digest) return null;
      if (testRows !== null || course.phase === "finished") throw otherPeople();
      return { testRows: digest };
    });
    tally.see("predicted ids", ids);
    // Looked for only now: whoever names one id after the other would learn which of them are held.
    this.#rows = ids.map((id) => this.#find(id));
  }

  /** @throws TandemError PROTOCOL_STATE if they were not named in this attempt */
  expectNamed(): readonly RowValues[] {
    if (this.#rows === null) throw new TandemError("PROTOCOL_STATE", "nobody is named to be predicted");
    return this.#rows;
  }

  /** Some of them. @throws TandemError PROTOCOL_STATE if they were not named, or are not that many */
  slice(first: number, count: number): readonly RowValues[] {
    const rows = this.expectNamed();
    if (count < 1 || first + count > rows.length)
      throw new TandemError("PROTOCOL_STATE", "rows that are none of those to be predicted");
    return rows.slice(first, first + count);
  }

  /** All trees are there, and none is to be redone. */
  #expectEnd(): void {
    const { course, stored, job } = this.#attempt;
    course.expect("joined", "ready", "finished");
    if (stored !== course.tree + 1)
      throw new TandemError("PROTOCOL_STATE", `${job.name} has stored ${stored} trees, and this attempt has fewer`);
  }

  /** Each is named once. */
  #add(id: string, named: Set<string>): void {
    if (named.has(id)) throw new TandemError("PROTOCOL_STATE", "an id to be predicted is named twice");
    if (named.size >= (this.#attempt.job.testRowsMax ?? Infinity))
      throw new TandemError("ID_MISMATCH", `${this.#attempt.job.name} does not hold all of the ids to predict`);
    named.add(id);
  }

  #find(id: string): RowValues {
    const { name, lookUp } = this.#attempt.job;
    const row = lookUp(id);
    if (row === null) throw new TandemError("ID_MISMATCH", `${name} does not hold one of the ids to predict`);
    return row;
  }
}

function otherPeople(): TandemError {
  return new TandemError("PROTOCOL_STATE", "other people are to be predicted than this job has named before");
}
