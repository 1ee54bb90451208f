/**
 * How much memory the calls of one pinned party may hold at a server, over all of its connections: received bytes of
 * messages that are incomplete, waiting or being worked on, and answers that are not sent yet. A call that would exceed
 * the limit is refused; other parties have accounts of their own.
 */
import { Code, ConnectError } from "@connectrpc/connect";
import { messageBytesMax } from "../wire/version.ts";
import { aheadBytesMax } from "./calls/frame-stream.ts";
import { connectionsPerParty } from "./connection-gate.ts";
import { windowBytes } from "./tls-settings.ts";

/** An honest party has a job, its PSI and some scoring requests under way, a few messages of at most 4 MB each. */
export const callBytesMax = 128 << 20;
/** Counted for every open call besides its bytes: its stream, context and handler. */
export const openCallBytes = 16 << 10;

/** Of a stream of many calls, besides what its calls hold: its unread window, one incomplete frame, unsent answers. */
const sharedStreamBytes = windowBytes + messageBytesMax + aheadBytesMax;
/** The most that a party can make a server hold. docs/operate.md states it. */
export const partyBytesMax = callBytesMax + connectionsPerParty * sharedStreamBytes;

export class HeldBytes {
  readonly #max: number;
  #held = 0;
  #peak = 0;

  constructor(max: number = callBytesMax) {
    this.#max = max;
  }

  get held(): number {
    return this.#held;
  }

  /** The most that was held at once. */
  get peak(): number {
    return this.#peak;
  }

  /** @returns false, and counts nothing, if the limit would be exceeded */
  tryHold(bytes: number): boolean {
    if (this.#held + bytes > this.#max) return false;
    this.#held += bytes;
    this.#peak = Math.max(this.#peak, this.#held);
    return true;
  }

  free(bytes: number): void {
    this.#held -= bytes;
  }
}

/** The part of one call, which ends with it. */
export class CallBytes {
  readonly #party: HeldBytes;
  #held = 0;
  #isOver = false;

  constructor(party: HeldBytes) {
    this.#party = party;
  }

  /** @throws ConnectError ResourceExhausted if the party's calls hold too much */
  hold(bytes: number): void {
    if (this.#isOver) return;
    if (!this.#party.tryHold(bytes))
      throw new ConnectError(
        "this party's open calls hold too many bytes; send fewer and smaller requests at the same time",
        Code.ResourceExhausted,
      );
    this.#held += bytes;
  }

  free(bytes: number): void {
    const freed = Math.min(bytes, this.#held);
    this.#held -= freed;
    this.#party.free(freed);
  }

  /** The call is over: nothing is held from now on. */
  end(): void {
    this.free(this.#held);
    this.#isOver = true;
  }
}

/** The accounts of all parties, by the names under which they are pinned: a second pin is no second account. */
export class PartyAccounts {
  readonly #accounts = new Map<string, HeldBytes>();
  readonly #max: number | undefined;

  constructor(max?: number) {
    this.#max = max;
  }

  /** Kept while the server runs: the number of pinned parties is small and fixed. */
  of(party: string): HeldBytes {
    const account = this.#accounts.get(party) ?? new HeldBytes(this.#max);
    this.#accounts.set(party, account);
    return account;
  }
}
