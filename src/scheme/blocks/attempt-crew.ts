/** A crew for one attempt. The attempt may end while blocks are still being opened; they are then closed at once. */
import { TandemError } from "../../base/error.ts";
import type { Blocks, Crew, CrewJob } from "./crew.ts";

export class AttemptCrew implements Crew {
  readonly #crew: Crew;
  #isOver = false;

  constructor(crew: Crew) {
    this.#crew = crew;
  }

  /** @throws TandemError PROTOCOL_STATE if the attempt has ended in the meantime */
  async open(job: CrewJob): Promise<Blocks> {
    const blocks = await this.#crew.open(job);
    if (!this.#isOver) return blocks;
    await blocks.close();
    throw new TandemError("PROTOCOL_STATE", "the attempt is over");
  }

  /** Blocks that were already handed out are closed by their owner. */
  end(): void {
    this.#isOver = true;
  }
}
