/** What a passive party does for one of its jobs, with the connection that it belongs to. */
import type { PassivePsi } from "../../psi/passive-psi.ts";
import { TandemError } from "../../base/error.ts";
import type { Caller } from "../../transport/caller.ts";
import type { PassiveService } from "../../transport/passive-service.ts";
import type { JoinedTable } from "../tables/joined-tables.ts";
import type { PassiveCheckpoints } from "./checkpoints.ts";

interface Busy {
  readonly caller: Caller;
  readonly job: string;
}

export interface Opening extends Busy {
  readonly kind: "opening";
}

export interface Aligning extends Busy {
  readonly kind: "aligning";
  readonly alignment: PassivePsi;
  readonly data: JoinedTable;
}

export interface Aligned extends Busy {
  readonly kind: "aligned";
  readonly rows: Uint32Array;
  readonly data: JoinedTable;
}

export interface Running extends Busy {
  readonly kind: "running";
  readonly service: PassiveService;
  readonly checkpoints: PassiveCheckpoints;
  /** Gives back what is held of the partner's budget. */
  readonly release: () => void;
}

export type AdmissionState = { readonly kind: "idle" } | Opening | Aligning | Aligned | Running;

export const idle: AdmissionState = { kind: "idle" };

/** Closes the current activity in favour of a newer connection of the same active party. */
export async function giveWay(state: AdmissionState): Promise<void> {
  if (state.kind === "aligning") state.alignment.close();
  if (state.kind !== "running") return;
  state.service.end(new TandemError("PARTY_LOST", "the active party has joined again on another connection"));
  await state.checkpoints.retire();
}
