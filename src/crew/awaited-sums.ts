/** The answers to one question, piece by piece. The first copy of each piece is used; copies are equal. */
import { isErrorCode, TandemError } from "../base/error.ts";
import { type Answer, bytesAnswer } from "../scheme/blocks/block.ts";
import type { CrewSum } from "../wire/generated/tandem/v1/crew_pb.ts";

interface BlockAnswer {
  readonly pieces: Map<number, Uint8Array>;
  /** Null before piece 0 has arrived. */
  count: number | null;
  refusal: TandemError | null;
}

export class AwaitedSums {
  /** Settles when every block has answered. */
  readonly whole: Promise<void>;
  readonly #answers: readonly (BlockAnswer | null)[];
  #resolve: () => void = () => {};

  /** @param isAsked per block whether it answers */
  constructor(isAsked: readonly boolean[]) {
    this.#answers = isAsked.map((asked) => (asked ? { pieces: new Map(), count: null, refusal: null } : null));
    this.whole = new Promise((resolve) => (this.#resolve = resolve));
    this.#settle();
  }

  /** Blocks that have not answered yet. */
  get missing(): number[] {
    return this.#answers.flatMap((answer, block) => (answer === null || isWhole(answer) ? [] : [block]));
  }

  take({ block, piece, pieces, bytes, refusalCode, refusal }: CrewSum): void {
    const answer = this.#answers[block] ?? null;
    if (answer === null || answer.pieces.has(piece)) return;
    answer.pieces.set(piece, bytes);
    if (piece === 0) answer.count = pieces;
    if (piece === 0 && isErrorCode(refusalCode)) answer.refusal = new TandemError(refusalCode, refusal);
    this.#settle();
  }

  /** @throws TandemError the error of the first block that fails */
  taken(): (Answer | null)[] {
    for (const answer of this.#answers) if (answer?.refusal) throw answer.refusal;
    return this.#answers.map((answer) => answer && bytesAnswer(joined(answer.pieces)));
  }

  #settle(): void {
    if (this.missing.length === 0) this.#resolve();
  }
}

const isWhole = ({ pieces, count }: BlockAnswer): boolean => count !== null && pieces.size >= count;

function joined(pieces: ReadonlyMap<number, Uint8Array>): Uint8Array {
  const first = pieces.get(0);
  if (pieces.size === 1 && first !== undefined) return first;
  return Buffer.concat([...pieces].toSorted(([a], [b]) => a - b).map(([, bytes]) => bytes));
}
