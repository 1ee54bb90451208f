/**
 * The rows that are predicted at the end of a job. The active party names all of them at once, which fixes them: the
 * same rows may be requested again, also after a restart or after the end of the job, and no others. Naming them ends
 * training, so that no intermediate model is ever evaluated.
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
  #ids: readonly string[] = [];

  constructor(attempt: Attempt) {
    this.#attempt = attempt;
  }

  /** @throws TandemError ID_MISMATCH for an id that it does not hold, PROTOCOL_STATE for other rows than before */
  async name(chunks: AsyncIterable<ActiveTestRows>): Promise<void> {
    this.#expectEnd();
    const { progress, tally, course } = this.#attempt;
    if (course.phase === "finished" && progress.current.testRows === null) throw idsDiffer();
    const named = new Set<string>();
    for await (const chunk of chunks) for (const id of chunk.ids) this.#add(id, named);
    const ids = [...named];
    if (ids.length === 0) throw new TandemError("PROTOCOL_STATE", "no ids to predict were named");
    const digest = Buffer.from(idsDigest(ids)).toString("hex");
    await progress.update(({ testRows }) => {
      this.#expectEnd();
      if (testRows === digest) return null;
      if (testRows !== null || course.phase === "finished") throw idsDiffer();
      return { testRows: digest };
    });
    tally.see("predicted ids", ids);
    // Looked up only now: otherwise naming one id after the other would show which of them are held.
    this.#rows = ids.map((id) => this.#find(id));
    this.#ids = ids;
  }

  /** @throws TandemError PROTOCOL_STATE if they were not named in this attempt */
  expectNamed(): readonly RowValues[] {
    if (this.#rows === null) throw new TandemError("PROTOCOL_STATE", "no ids to predict were named");
    return this.#rows;
  }

  /** A range of them. @throws TandemError PROTOCOL_STATE if they were not named, or the range is too long */
  slice(first: number, count: number): readonly RowValues[] {
    const rows = this.expectNamed();
    if (count < 1 || first + count > rows.length)
      throw new TandemError("PROTOCOL_STATE", "rows outside those to be predicted");
    return rows.slice(first, first + count);
  }

  /** The ids of a range of them. */
  ids(first: number, count: number): readonly string[] {
    return this.#ids.slice(first, first + count);
  }

  /** Checks that all trees are stored and none is to be redone. */
  #expectEnd(): void {
    const { course, stored, job } = this.#attempt;
    course.expect("joined", "ready", "finished");
    if (stored !== course.tree + 1)
      throw new TandemError("PROTOCOL_STATE", `${job.name} has stored ${stored} trees, more than this attempt has`);
  }

  /** Checks that each id is named once. */
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

function idsDiffer(): TandemError {
  return new TandemError("PROTOCOL_STATE", "prediction ids differ from those fixed earlier in this job");
}
