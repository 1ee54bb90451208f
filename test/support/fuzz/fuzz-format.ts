/** One kind of input from outside, and what reads it. */
import type { SeededRandom } from "../../../src/base/random.ts";

export type Outcome = "read" | "refused";

export interface FuzzTarget {
  /** Mutant files, calls or bodies: the same random numbers make the same one. */
  mutant(random: SeededRandom): unknown;
  /**
   * Reads one. A TandemError means refused; whatever else is thrown is a wrong outcome. Nothing returned means read.
   */
  read(mutant: never): Promise<Outcome | undefined>;
  /** Stands in the message of every refusal; left out where no file is read. */
  readonly named?: string;
  close?(): Promise<void>;
}

export interface FuzzFormat {
  readonly name: string;
  /** @param folder an empty one of its own */
  prepare(folder: string): Promise<FuzzTarget>;
}
