/**
 * How two parties take the steps of a protocol. In a flight each sends something to the other, of a length that both
 * know. Requests and answers alternate, so a message carries as many flights as its sender can compute: what a party
 * sends in flight f + 1 depends on what the other sent in flight f.
 *
 *   request 1: flight 1        answer 1: flights 1, 2        request 2: flights 2, 3        answer 2: flights 3, 4 ...
 *
 * So n flights take the time of n messages, one way each, as if both parties sent at once.
 */
import { TandemError } from "../../base/error.ts";
import { isSliceOver, nextSlice } from "../../base/scheduling/event-loop-slice.ts";

export interface Flight {
  readonly send: Uint8Array;
  /** Bytes of what the other party sends. */
  readonly expects: number;
  /** The last of a protocol. The active party sends nothing in it. */
  readonly isLast?: boolean;
}

/** A part of a protocol: it gives flights, and is given what the other party sent in each. */
export type Steps<T> = AsyncGenerator<Flight, T, Uint8Array>;

/** Parts whose flights travel together, as many as the longest has. */
export async function* together<T extends readonly unknown[]>(
  ...parts: { readonly [K in keyof T]: Steps<T[K]> }
): Steps<T> {
  const states: IteratorResult<Flight, unknown>[] = [];
  for (const steps of parts) states.push(await steps.next(nothing));
  for (;;) {
    const flights = states.map(({ done, value }) => (done === true ? undefined : (value as Flight)));
    if (flights.every((flight) => flight === undefined)) return states.map(({ value }) => value) as unknown as T;
    const expects = flights.reduce((sum, flight) => sum + (flight?.expects ?? 0), 0);
    const received: Uint8Array = yield {
      send: concatenated(flights.map((flight) => flight?.send ?? nothing)),
      expects,
    };
    let at = 0;
    for (const [i, flight] of flights.entries()) {
      if (flight === undefined) continue;
      states[i] = await parts[i].next(received.subarray(at, at + flight.expects));
      at += flight.expects;
      if (isSliceOver()) await nextSlice();
    }
  }
}

/** One party's end of a protocol. After an error it refuses everything. */
export class FlightEnd<T> {
  readonly #steps: Steps<T>;
  #flight: Flight | undefined;
  #sent = 0;
  #received = 0;
  #result: { readonly value: T } | undefined;
  #state: "new" | "waiting" | "busy" | "over" = "new";

  constructor(steps: Steps<T>) {
    this.#steps = steps;
  }

  get isFinished(): boolean {
    return this.#result !== undefined;
  }

  /** @throws TandemError PROTOCOL_STATE before the end */
  get result(): T {
    if (this.#result === undefined) throw outOfOrder();
    return this.#result.value;
  }

  /** The first request. */
  async first(): Promise<Uint8Array> {
    if (this.#state !== "new") throw outOfOrder();
    return this.#busy(async () => {
      await this.#advance(nothing);
      return this.#outgoing();
    });
  }

  /** What follows from the other party's message. @throws TandemError PROTOCOL_STATE if it is not of that length */
  async message(bytes: Uint8Array, isAnswer: boolean): Promise<Uint8Array> {
    if (this.#state !== (isAnswer || this.#sent > 0 ? "waiting" : "new")) throw outOfOrder();
    return this.#busy(async () => {
      const last = this.#sent + 1;
      const parts: Uint8Array[] = [];
      if (this.#sent === 0) {
        await this.#advance(nothing);
        parts.push(this.#outgoing());
      }
      let at = 0;
      while (this.#flight !== undefined && this.#received < last) {
        const { expects } = this.#flight;
        if (at + expects > bytes.length) throw wrongLength(bytes, at + expects);
        await this.#advance(bytes.subarray(at, at + expects));
        at += expects;
        parts.push(this.#outgoing());
        if (isSliceOver()) await nextSlice();
      }
      if (at !== bytes.length) throw wrongLength(bytes, at);
      if (this.#flight?.isLast === true && this.#flight.expects === 0) await this.#advance(nothing);
      return concatenated(parts);
    });
  }

  async #busy(work: () => Promise<Uint8Array>): Promise<Uint8Array> {
    this.#state = "busy";
    let isDone = false;
    try {
      const bytes = await work();
      isDone = true;
      return bytes;
    } finally {
      this.#state = isDone && this.#result === undefined ? "waiting" : "over";
    }
  }

  async #advance(received: Uint8Array): Promise<void> {
    if (this.#flight !== undefined) this.#received += 1;
    const { done, value } = await this.#steps.next(received);
    this.#flight = done === true ? undefined : value;
    if (done === true) this.#result = { value };
  }

  /** What is sent in the flight that has begun. */
  #outgoing(): Uint8Array {
    if (this.#flight === undefined) return nothing;
    this.#sent += 1;
    return this.#flight.send;
  }
}

const nothing = new Uint8Array(0);

function concatenated(parts: readonly Uint8Array[]): Uint8Array {
  const all = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const bytes of parts) {
    all.set(bytes, at);
    at += bytes.length;
  }
  return all;
}

function outOfOrder(): TandemError {
  return new TandemError("PROTOCOL_STATE", "a message of a comparison of candidates is not expected now");
}

function wrongLength({ length }: Uint8Array, expected: number): TandemError {
  return new TandemError(
    "PROTOCOL_STATE",
    `a message of a comparison of candidates has ${length} bytes; ${expected} or more were expected`,
  );
}
