/**
 * A block's log as it arrives: twice, too early, of a round that is over, in parts. What leaves is each entry once, in
 * order and whole. Numbers are the party's own: an engine's order counts for nothing.
 */
import type { Entry } from "../scheme/blocks/block.ts";
import type { CrewEntry } from "../wire/generated/tandem/v1/crew_pb.ts";

export interface LoggedEntry {
  readonly round: number;
  /** Of a question; 0: none is asked. */
  readonly step: number;
  /** It is the first of its round. */
  readonly isFirst: boolean;
  readonly entry: Entry;
}

export class BlockLog {
  #round = -1;
  #next = 0;
  /** Those that came before their turn: at most as many as a party has unconfirmed. */
  readonly #early = new Map<number, CrewEntry>();
  #parts: Uint8Array[] = [];
  #isFirst = true;

  /** What is due when this message is there. */
  *take(message: CrewEntry): Generator<LoggedEntry> {
    if (message.round > this.#round) this.#begin(message.round);
    if (message.round < this.#round || message.sequence < this.#next) return;
    this.#early.set(message.sequence, message);
    for (let due = this.#early.get(this.#next); due !== undefined; due = this.#early.get(this.#next)) {
      this.#early.delete(this.#next++);
      this.#parts.push(due.payload);
      if (due.more) continue;
      const payload = this.#parts.length === 1 ? due.payload : Buffer.concat(this.#parts);
      this.#parts = [];
      yield { round: due.round, step: due.step, isFirst: this.#isFirst, entry: { head: due.head, payload } };
      this.#isFirst = false;
    }
  }

  #begin(round: number): void {
    this.#round = round;
    this.#next = 0;
    this.#early.clear();
    this.#parts = [];
    this.#isFirst = true;
  }
}
