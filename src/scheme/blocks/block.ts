/**
 * A block: consecutive instances of a job, their bins, and what was told of them since its log began. Its state follows
 * from its terms, its bins and its log, and from nothing else. So whoever takes a block over, wherever and however
 * often, answers byte for byte the same.
 */

/** What a scheme's passive half tells a block. Both parts are its own; nobody else reads them. */
export interface Entry {
  readonly head: Uint8Array;
  /** What may be large; it is handed on as it is, not copied. It stays what it is. */
  readonly payload: Uint8Array;
}

export const nothing = new Uint8Array(0);

/** What a block answers. Within one process a scheme may take it as it is, without its bytes. */
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
  /** What the scheme's passive half says of the job: the same for all of its blocks. */
  readonly terms: Uint8Array;
  /** Its place among all rows. */
  readonly firstRow: number;
  readonly rowCount: number;
  /** Of the block's rows. */
  readonly columns: BinColumns;
}

/** The third half of a scheme: the work on one block. One call at a time. */
export interface BlockWork {
  /** A log begins: nothing of what was told before counts. */
  begin(): void;
  /** The next entry of the log. @throws TandemError for what it refuses; the same one every time */
  take(entry: Entry): Promise<void>;
  /** Changes nothing: whoever replays a log may leave questions out. @throws TandemError as take does */
  answer(question: Entry): Promise<Answer>;
}
