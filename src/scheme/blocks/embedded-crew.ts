/** A crew without workers: the party's own process holds all rows, by default as one block. */
import { Exclusive } from "../../base/scheduling/exclusive.ts";
import type { Answer, BlockData, BlockWork, Entry } from "./block.ts";
import { blockBounds, sliceColumns } from "./block-bounds.ts";
import type { Blocks, Crew, CrewJob } from "./crew.ts";

export class EmbeddedCrew implements Crew {
  readonly #make: (data: BlockData) => BlockWork;
  readonly #blockRows: number;

  /** @param blockRows left out: all rows are one block */
  constructor(make: (data: BlockData) => BlockWork, blockRows = Infinity) {
    this.#make = make;
    this.#blockRows = blockRows;
  }

  async open({ terms, rowCount, columns }: CrewJob): Promise<Blocks> {
    const bounds = blockBounds(rowCount, Math.min(this.#blockRows, Math.max(1, rowCount)));
    const works = Array.from({ length: bounds.length - 1 }, (_, block) => {
      const [first, end] = [bounds[block], bounds[block + 1]];
      const own = bounds.length === 2 ? columns : sliceColumns(columns, first, end);
      return this.#make({ terms, firstRow: first, rowCount: end - first, columns: own });
    });
    return new EmbeddedBlocks(bounds, works);
  }
}

class EmbeddedBlocks implements Blocks {
  readonly bounds: Uint32Array;
  readonly isElsewhere = false;
  readonly #works: readonly BlockWork[];
  /** Blocks are processed one after the other, each with all threads. */
  readonly #turns = new Exclusive();

  constructor(bounds: Uint32Array, works: readonly BlockWork[]) {
    this.bounds = bounds;
    this.#works = works;
  }

  begin(): Promise<void> {
    return this.#turns.run(() => {
      for (const work of this.#works) work.begin();
    });
  }

  append(block: number, entry: Entry): Promise<void> {
    return this.#turns.run(() => this.#works[block].take(entry));
  }

  ask(questions: readonly (Entry | null)[]): Promise<readonly (Answer | null)[]> {
    return this.#turns.run(async () => {
      const answers: (Answer | null)[] = [];
      for (const [block, question] of questions.entries())
        answers.push(question === null ? null : await this.#works[block].answer(question));
      return answers;
    });
  }

  async close(): Promise<void> {
    await this.#turns.idle();
  }
}
