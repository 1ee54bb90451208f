/** The passive half of a replay: plain sums, cut into the pieces that the real half would send. */
import { highLimb } from "../../base/quantised-gradients.ts";
import type { NodeTask } from "../candidates/node-task.ts";
import {
  noOperations,
  type PassiveScheme,
  type PassiveSchemeJob,
  type SchemeParameters,
  type SumsPiece,
} from "../scheme.ts";
import { clearMessage, fromClearMessage } from "./clear-message.ts";

export class ClearPassive implements PassiveScheme {
  readonly counts = noOperations();
  readonly hidden = null;
  readonly #pieceSize: (setUp: Uint8Array, parameters: SchemeParameters) => number;
  #candidatesPerPiece = 1;
  #columns = 0;
  /** Chunk by chunk, instance by instance, all columns of each. */
  #chunks: Float64Array[] = [];
  #gradients = new Float64Array(0);

  /** @param pieceSize how many candidates a piece of an answer holds */
  constructor(pieceSize: (setUp: Uint8Array, parameters: SchemeParameters) => number) {
    this.#pieceSize = pieceSize;
  }

  async setUp(message: Uint8Array, { parameters }: PassiveSchemeJob): Promise<Uint8Array> {
    this.#candidatesPerPiece = this.#pieceSize(message, parameters);
    return message;
  }

  beginRound(): void {
    this.#chunks = [];
  }

  nextTree(): void {}

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

  async *sums(task: NodeTask): AsyncGenerator<SumsPiece> {
    const sums = this.#candidateSums(task);
    for (let first = 0; first < task.counts.length; first += this.#candidatesPerPiece) {
      const candidateCount = Math.min(this.#candidatesPerPiece, task.counts.length - first);
      const piece = sums.subarray(first * this.#columns, (first + candidateCount) * this.#columns);
      yield { candidateCount, message: clearMessage(0, piece) };
    }
  }

  endRound(): void {}

  close(): void {}

  #candidateSums({ plan, positions, bins, withheld, noise }: NodeTask): Float64Array {
    const columns = this.#columns;
    const binSums = new Float64Array(plan.binCounts.reduce((a, b) => a + b, 0) * columns);
    let firstBin = 0;
    bins.forEach((column, feature) => {
      for (const position of positions) {
        const bin = firstBin + column[position];
        for (let c = 0; c < columns; c++) binSums[bin * columns + c] += this.#gradients[position * columns + c];
      }
      firstBin += plan.binCounts[feature];
    });
    const sums = new Float64Array(plan.candidates.length * columns);
    for (let chain = 0; chain + 1 < plan.chainOffsets.length; chain++) {
      const running = new Float64Array(columns);
      for (let step = plan.chainOffsets[chain]; step < plan.chainOffsets[chain + 1]; step++) {
        for (let c = 0; c < columns; c++) running[c] += binSums[plan.sources[step] * columns + c];
        if (plan.targets[step] >= 0) sums.set(running, plan.targets[step] * columns);
      }
    }
    withheld.forEach((isWithheld, candidate) => {
      if (isWithheld === 1) sums.fill(0, candidate * columns, (candidate + 1) * columns);
    });
    if (noise !== null && noise.length > 0) addNoise(sums, columns, noise);
    return sums;
  }
}

/** To rows of one or two columns per slot. */
function addNoise(sums: Float64Array, columns: number, noise: Float64Array): void {
  const limbs = columns / (noise.length / (sums.length / columns));
  noise.forEach((value, i) => {
    const high = limbs === 1 ? value : Math.floor(value / highLimb);
    sums[i * limbs] += high;
    if (limbs === 2) sums[i * limbs + 1] += value - high * highLimb;
  });
}
