/** A crew for one attempt, which may be over while its blocks are still being handed out: then nobody wants them. */
import { TandemError } from "../../base/error.ts";
import type { Blocks, Crew, CrewJob } from "./crew.ts";

export class AttemptCrew implements Crew {
  readonly #crew: Crew;
  #isOver = false;

  constructor(crew: Crew) {
    this.#crew = crew;
  }

  /** @throws TandemError PROTOCOL_STATE where the attempt has ended meanwhile */
  async open(job: CrewJob): Promise<Blocks> {
    const blocks = await this.#crew.open(job);
    if (!this.#isOver) return blocks;
    await blocks.close();
    throw new TandemError("PROTOCOL_STATE", "the attempt is over");
  }

  /** Those that are handed out already are closed by whoever has them. */
  end(): void {
    this.#isOver = true;
  }
}
