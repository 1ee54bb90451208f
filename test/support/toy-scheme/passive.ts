/** The passive half of the toy scheme: plain sums. */
import { TandemError } from "../../../src/base/error.ts";
import { clearSums } from "../../../src/scheme/candidates/clear-sums.ts";
import type { SentTask } from "../../../src/scheme/candidates/node-task.ts";
import type { SentNodes } from "../../../src/scheme/candidates/sent-nodes.ts";
import { noOperations, type SumsPiece } from "../../../src/scheme/scheme.ts";
import type { SentPassive } from "../../../src/scheme/sent-scheme.ts";
import { fromToyMessage, toyMessage } from "./message.ts";

const candidatesPerPiece = 7;

export class ToyPassive implements SentPassive {
  readonly counts = noOperations();
  readonly membership = "sent";
  #columns = 0;
  #sampled = 0;
  /** Instance by instance, all columns of each. */
  #gradients: number[] = [];

  async setUp(message: Uint8Array): Promise<Uint8Array> {
    this.#columns = fromToyMessage(message).head;
    return message;
  }

  beginRound(tree: SentNodes): void {
    this.#gradients = [];
    this.#sampled = tree.sample.count;
  }

  async gradients(message: Uint8Array): Promise<number> {
    const { head, values } = fromToyMessage(message);
    if (head * this.#columns !== this.#gradients.length) throw new TandemError("PROTOCOL_STATE", "a gap");
    this.#gradients.push(...values);
    this.counts.gradientCiphertexts += values.length;
    return values.length;
  }

  endOfGradients(): void {
    if (this.#gradients.length !== this.#sampled * this.#columns)
      throw new TandemError("PROTOCOL_STATE", "gradients are missing");
  }

  async *sums(task: SentTask): AsyncGenerator<SumsPiece> {
    const columns = this.#columns;
    const sums = clearSums(task, this.#gradients, columns);
    for (let first = 0; first < task.counts.length; first += candidatesPerPiece) {
      const candidateCount = Math.min(candidatesPerPiece, task.counts.length - first);
      const piece = sums.subarray(first * columns, (first + candidateCount) * columns);
      this.counts.candidateCiphertexts += piece.length;
      yield { candidateCount, message: toyMessage(0, piece) };
    }
  }
}
