/** The status table of a crew, encrypted: the current epoch, and the available workers. */
import { TandemError } from "../base/error.ts";
import {
  type CrewEpoch,
  CrewEpochSchema,
  type CrewWorker,
  CrewWorkerSchema,
} from "../wire/generated/tandem/v1/crew_pb.ts";
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { StatusTable } from "./engine.ts";
import { statusSeal, SealedMessages, type SealOf } from "./sealed-messages.ts";
import { epochKey, isWorkerKey, workerKey, workerId } from "./subjects.ts";

/** A worker with its key in the status table. */
export type NamedWorker = CrewWorker & { readonly id: string };

export interface CrewStatus {
  readonly epoch: CrewEpoch | null;
  /** Whether the table has entries encrypted with another key. */
  readonly hasOthers: boolean;
  readonly workers: readonly NamedWorker[];
}

export class CrewStatusTable {
  readonly #statusTable: StatusTable;
  readonly #messages: SealedMessages;

  constructor(statusTable: StatusTable, sealOf: SealOf) {
    this.#statusTable = statusTable;
    this.#messages = new SealedMessages(sealOf(statusSeal));
  }

  async read(): Promise<CrewStatus> {
    const entries = await this.#statusTable.entries();
    const sealedEpoch = entries.get(epochKey);
    const epoch = sealedEpoch === undefined ? null : this.#messages.open(CrewEpochSchema, epochKey, sealedEpoch);
    const workers = [...entries].filter(([key]) => isWorkerKey(key)).map(([key, sealed]) => this.#worker(key, sealed));
    return {
      epoch,
      hasOthers: (sealedEpoch !== undefined && epoch === null) || workers.includes(null),
      workers: workers.filter((worker) => worker !== null),
    };
  }

  #worker(key: string, sealed: Uint8Array): NamedWorker | null {
    const worker = this.#messages.open(CrewWorkerSchema, key, sealed);
    return worker && { ...worker, id: workerId(key) };
  }

  putEpoch(epoch: MessageInitShape<typeof CrewEpochSchema>): Promise<void> {
    return this.#statusTable.put(epochKey, this.#messages.seal(CrewEpochSchema, epochKey, epoch), true);
  }

  removeEpoch(): Promise<void> {
    return this.#statusTable.remove(epochKey);
  }

  putWorker(id: string, worker: MessageInitShape<typeof CrewWorkerSchema>): Promise<void> {
    const key = workerKey(id);
    return this.#statusTable.put(key, this.#messages.seal(CrewWorkerSchema, key, worker));
  }

  removeWorker(id: string): Promise<void> {
    return this.#statusTable.remove(workerKey(id));
  }
}

/** The number of workers that can hold blocks of a party's version. */
export function ableWorkers({ workers }: CrewStatus, version: string): number {
  return workers.filter((worker) => worker.trouble === "" && worker.version === version).length;
}

/** @param block one without a holder; null: too few workers @param what the problem, if it is another one */
export function workersMissing(
  view: CrewStatus,
  wanted: number,
  able: number,
  block: number | null,
  what = block === null
    ? `${able} workers are available, ${wanted} needed (start some with 'tandem worker', or the party with --embedded)`
    : `no worker holds block ${block}`,
): TandemError {
  const troubles = [...new Set(view.workers.map(({ trouble }) => trouble).filter((trouble) => trouble !== ""))];
  if (view.hasOthers) troubles.push("a worker at the engine has a different crew.key");
  return new TandemError("WORKERS_MISSING", [what, ...troubles].join("; "));
}
