/** What stands on a crew's board, sealed: which epoch is current, and which workers are there. */
import { TandemError } from "../base/error.ts";
import {
  type CrewEpoch,
  CrewEpochSchema,
  type CrewWorker,
  CrewWorkerSchema,
} from "../wire/generated/tandem/v1/crew_pb.ts";
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { Board } from "./engine.ts";
import { boardSeal, SealedMessages, type SealOf } from "./sealed-messages.ts";
import { epochKey, isWorkerKey, workerKey, workerOf } from "./subjects.ts";

/** A worker, under the name that its line on the board has. */
export type NamedWorker = CrewWorker & { readonly id: string };

export interface BoardView {
  readonly epoch: CrewEpoch | null;
  /** Something stands there that another key has sealed. */
  readonly hasOthers: boolean;
  readonly workers: readonly NamedWorker[];
}

export class CrewBoard {
  readonly #board: Board;
  readonly #messages: SealedMessages;

  constructor(board: Board, sealOf: SealOf) {
    this.#board = board;
    this.#messages = new SealedMessages(sealOf(boardSeal));
  }

  async read(): Promise<BoardView> {
    const entries = await this.#board.entries();
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
    return worker && { ...worker, id: workerOf(key) };
  }

  putEpoch(epoch: MessageInitShape<typeof CrewEpochSchema>): Promise<void> {
    return this.#board.put(epochKey, this.#messages.seal(CrewEpochSchema, epochKey, epoch), true);
  }

  removeEpoch(): Promise<void> {
    return this.#board.remove(epochKey);
  }

  putWorker(id: string, worker: MessageInitShape<typeof CrewWorkerSchema>): Promise<void> {
    const key = workerKey(id);
    return this.#board.put(key, this.#messages.seal(CrewWorkerSchema, key, worker));
  }

  removeWorker(id: string): Promise<void> {
    return this.#board.remove(workerKey(id));
  }
}

/** Workers that can take blocks of a party's version. */
export function ableWorkers({ workers }: BoardView, version: string): number {
  return workers.filter((worker) => worker.trouble === "" && worker.version === version).length;
}

/** @param block one that nobody holds; null: workers are too few @param what is wrong, where it is something else */
export function workersMissing(
  view: BoardView,
  wanted: number,
  able: number,
  block: number | null,
  what = block === null
    ? `${able} workers are there, ${wanted} are wanted (start some with 'tandem worker', or the party with --embedded)`
    : `nobody holds block ${block}`,
): TandemError {
  const troubles = [...new Set(view.workers.map(({ trouble }) => trouble).filter((trouble) => trouble !== ""))];
  if (view.hasOthers) troubles.push("somebody at the engine has another crew.key");
  return new TandemError("WORKERS_MISSING", [what, ...troubles].join("; "));
}
