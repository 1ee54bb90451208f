/** Digests of a job's rows: each is made once for an attempt, with turns for whoever waits. */
import { tableDigestsInTurns } from "../../data/table-digest.ts";
import { idsDigestInTurns } from "../../protocol/ids.ts";
import type { JobRows } from "./job-rows.ts";

export interface RowDigests {
  /** Of the people who are trained on. */
  readonly ids: Uint8Array;
  /** Of their rows. */
  readonly training: string;
  /** Of these, and of those whose predictions may be asked for. */
  readonly all: string;
}

export async function rowDigests({ training, predictable }: JobRows): Promise<RowDigests> {
  const ids = await idsDigestInTurns(training.ids);
  const [ofTraining, all] = await tableDigestsInTurns(training, predictable);
  return { ids, training: ofTraining, all };
}
