/** The passive half of the toy scheme: plain sums. */
import { TandemError } from "../../../src/base/error.ts";
import { highLimb } from "../../../src/base/quantised-gradients.ts";
import type { NodeTask } from "../../../src/scheme/candidates/node-task.ts";
import type { TreeNodes } from "../../../src/scheme/candidates/tree-nodes.ts";
import { noOperations, type PassiveScheme, type SumsPiece } from "../../../src/scheme/scheme.ts";
import { fromToyMessage, toyMessage } from "./message.ts";

const candidatesPerPiece = 7;

export class ToyPassive implements PassiveScheme {
  readonly counts = noOperations();
  readonly hidden = null;
  #columns = 0;
  #sampled = 0;
  /** Instance by instance, all columns of each. */
  #gradients: number[] = [];

  async setUp(message: Uint8Array): Promise<Uint8Array> {
    this.#columns = fromToyMessage(message).head;
    return message;
  }

  beginRound(tree: TreeNodes): void {
    this.#gradients = [];
    this.#sampled = tree.sample.count;
  }

  nextTree(): void {}

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

  async *sums(task: NodeTask): AsyncGenerator<SumsPiece> {
    const sums = this.#candidateSums(task);
    const columns = this.#columns;
    for (let first = 0; first < task.counts.length; first += candidatesPerPiece) {
      const candidateCount = Math.min(candidatesPerPiece, task.counts.length - first);
      const piece = sums.subarray(first * columns, (first + candidateCount) * columns);
      this.counts.candidateCiphertexts += piece.length;
      yield { candidateCount, message: toyMessage(0, piece) };
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
