/** The passive half of a replay: plain sums, divided into the pieces that the real half would send. */
import { clearSums } from "../candidates/clear-sums.ts";
import type { SentTask } from "../candidates/node-task.ts";
import { noOperations, type SchemeParameters, type SumsPiece } from "../scheme.ts";
import type { SentPassive, SentPassiveJob } from "../sent-scheme.ts";
import { clearMessage, fromClearMessage } from "./clear-message.ts";

export class ClearPassive implements SentPassive {
  readonly counts = noOperations();
  readonly membership = "sent";
  readonly #pieceSize: (setUp: Uint8Array, parameters: SchemeParameters) => number;
  #candidatesPerPiece = 1;
  #columns = 0;
  /** Chunk by chunk, instance by instance, all columns of each. */
  #chunks: Float64Array[] = [];
  #gradients = new Float64Array(0);

  /** @param pieceSize candidates per piece of an answer */
  constructor(pieceSize: (setUp: Uint8Array, parameters: SchemeParameters) => number) {
    this.#pieceSize = pieceSize;
  }

  async setUp(message: Uint8Array, { parameters }: SentPassiveJob): Promise<Uint8Array> {
    this.#candidatesPerPiece = this.#pieceSize(message, parameters);
    return message;
  }

  beginRound(): void {
    this.#chunks = [];
  }

  async gradients(message: Uint8Array): Promise<number> {
    const { head, values } = fromClearMessage(message);
    this.#columns = head;
    this.#chunks.push(values);
    return 0;
  }

  endOfGradients(): void {
    this.#gradients = new Float64Array(this.#chunks.reduce((sum, { length }) => sum + length, 0));
    let first = 0;
    for (const chunk of this.#chunks) {
      this.#gradients.set(chunk, first);
      first += chunk.length;
    }
  }

  async *sums(task: SentTask): AsyncGenerator<SumsPiece> {
    const sums = clearSums(task, this.#gradients, this.#columns);
    for (let first = 0; first < task.counts.length; first += this.#candidatesPerPiece) {
      const candidateCount = Math.min(this.#candidatesPerPiece, task.counts.length - first);
      const piece = sums.subarray(first * this.#columns, (first + candidateCount) * this.#columns);
      yield { candidateCount, message: clearMessage(0, piece) };
    }
  }
}
