/**
 * A block: consecutive instances of a job, their bins, and the log of entries since its log began. Its state is a
 * function of its terms, bins and log alone. So any worker that takes a block over, any number of times, returns the
 * same answers byte for byte.
 */

/** An entry of a block's log, written by the passive half of a scheme. Both fields are opaque to everything else. */
export interface Entry {
  readonly head: Uint8Array;
  /** Possibly large; passed on without a copy, so it must not be modified. */
  readonly payload: Uint8Array;
}

export const nothing = new Uint8Array(0);

/** The answer of a block. Within one process a scheme may use the object itself, without serialising it. */
export interface Answer {
  bytes(): Promise<Uint8Array>;
}

export const bytesAnswer = (bytes: Uint8Array): Answer => ({ bytes: async () => bytes });

/** Per feature the number of its bins, and the bin of each row. */
export interface BinColumns {
  readonly bins: readonly Uint16Array[];
  readonly binCounts: Uint32Array;
}

export interface BlockData {
  /** The scheme's terms of the job, the same for all of its blocks. */
  readonly terms: Uint8Array;
  /** Index of its first row among all rows. */
  readonly firstRow: number;
  readonly rowCount: number;
  /** Of the block's rows. */
  readonly columns: BinColumns;
}

/** The work of a scheme on one block. Calls do not overlap. */
export interface BlockWork {
  /** Begins a new log and discards the state of the previous one. */
  begin(): void;
  /** Adds the next entry of the log. @throws TandemError for an invalid entry; the same error every time */
  take(entry: Entry): Promise<void>;
  /** Does not change the state, so a replay of a log may omit questions. @throws TandemError as take does */
  answer(question: Entry): Promise<Answer>;
}
