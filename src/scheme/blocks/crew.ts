/**
 * Holds a party's blocks: in its own process (embedded-crew.ts) or at workers. A scheme's passive half sends each block
 * what it needs, asks questions, and combines the answers. The model does not depend on the number of blocks.
 */
import type { Tasks } from "../tasks/tasks.ts";
import type { Answer, BinColumns, Entry } from "./block.ts";

export interface Crew {
  /** Distributes a job's rows; called once per attempt. */
  open(job: CrewJob): Promise<Blocks>;
}

export interface CrewJob {
  /** The scheme's name. */
  readonly scheme: string;
  /** The terms of the job that its blocks need. */
  readonly terms: Uint8Array;
  /** The terms that its tasks need; left out: it has no tasks. */
  readonly taskTerms?: Uint8Array;
  readonly rowCount: number;
  readonly columns: BinColumns;
}

export interface Blocks {
  /** The first row of each block, followed by the number of rows. */
  readonly bounds: Uint32Array;
  /** Workers compute, so this process is free meanwhile. */
  readonly isElsewhere: boolean;
  /** Runs stateless tasks; left out: this process runs them. */
  readonly tasks?: Tasks | null;
  /** Begins new logs in all blocks. */
  begin(): Promise<void>;
  /**
   * Adds to a block's log. Resolves when the block accepts more.
   * @throws TandemError an error of the block if it is known by then; otherwise the next question throws it
   */
  append(block: number, entry: Entry): Promise<void>;
  /**
   * @param questions one per block; null: the block is not asked
   * @throws TandemError if a block fails
   */
  ask(questions: readonly (Entry | null)[]): Promise<readonly (Answer | null)[]>;
  /** Releases the blocks. */
  close(): Promise<void>;
}
