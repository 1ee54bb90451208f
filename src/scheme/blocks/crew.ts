/**
 * Who holds a party's blocks: its own process (embedded-crew.ts), or workers. A scheme's passive half tells each block
 * what it needs, asks, and puts the answers together. However many blocks there are, the model is the same.
 */
import type { Tasks } from "../tasks/tasks.ts";
import type { Answer, BinColumns, Entry } from "./block.ts";

export interface Crew {
  /** Once per attempt: hands out a job's rows. */
  open(job: CrewJob): Promise<Blocks>;
}

export interface CrewJob {
  /** The scheme's name. */
  readonly scheme: string;
  /** What its blocks must know of the job. */
  readonly terms: Uint8Array;
  /** What its tasks must know; left out: it has none. */
  readonly taskTerms?: Uint8Array;
  readonly rowCount: number;
  readonly columns: BinColumns;
}

export interface Blocks {
  /** The first row of each block, and behind the last one the number of rows. */
  readonly bounds: Uint32Array;
  /** Others compute: this process is free meanwhile. */
  readonly isElsewhere: boolean;
  /** Who does work without state; left out: this process. */
  readonly tasks?: Tasks | null;
  /** All logs begin anew. */
  begin(): Promise<void>;
  /**
   * Adds to a block's log. Resolves when more may come.
   * @throws TandemError what the block refuses, if that is known by then: otherwise the next question's answer is it
   */
  append(block: number, entry: Entry): Promise<void>;
  /**
   * @param questions one per block; null: nothing is asked of it
   * @throws TandemError what a block refuses
   */
  ask(questions: readonly (Entry | null)[]): Promise<readonly (Answer | null)[]>;
  /** Nothing more is wanted. */
  close(): Promise<void>;
}
