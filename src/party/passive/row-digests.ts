/** Digests of a job's rows, computed once per attempt without blocking the event loop. */
import { tableDigestsInTurns } from "../../data/table-digest.ts";
import { idsDigestInTurns } from "../../protocol/ids.ts";
import type { JobRows } from "./job-rows.ts";

export interface RowDigests {
  /** Of the ids of the training rows. */
  readonly ids: Uint8Array;
  /** Of the training rows. */
  readonly training: string;
  /** Of these, and of the rows whose predictions may be requested. */
  readonly all: string;
}

export async function rowDigests({ training, predictable }: JobRows): Promise<RowDigests> {
  const ids = await idsDigestInTurns(training.ids);
  const [ofTraining, all] = await tableDigestsInTurns(training, predictable);
  return { ids, training: ofTraining, all };
}
