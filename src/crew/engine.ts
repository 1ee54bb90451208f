/**
 * What carries messages between a party and its workers, and keeps them for a round. Little is asked of it: whatever is
 * sent is sealed, named, numbered and, if need be, sent again by those above. A message may come twice, and those that
 * are unconfirmed in any order. Engine and workers may lose everything: then a round is done once more.
 */

/** No message is longer: servers take 1 MB by default, headers included. Those above cut. */
export const messageBytesMax = 1_000_000;

/**
 * Of what is stored under `done` an engine keeps the last so many, and nobody has to purge them. (Purged one by one,
 * they make a server of 2.9 forget that it has more.) Whoever waits for results has far fewer tasks out.
 */
export const resultsKept = 256;

/** A crew's own corner of an engine. */
export interface Engine {
  readonly board: Board;
  /**
   * Makes an epoch, and deletes those before it.
   * @param inMemory nothing of it may ever be on a disk, wherever others are kept
   */
  begin(epoch: string, inMemory?: boolean): Promise<Epoch>;
  /** @returns null where there is no such epoch, or no longer */
  join(epoch: string): Promise<Epoch | null>;
  close(): Promise<void>;
}

/** A small table: who is there, what is current. What a worker writes goes when it is silent for the board's time. */
export interface Board {
  /** @param lasting stays until it is removed */
  put(key: string, value: Uint8Array, lasting?: boolean): Promise<void>;
  remove(key: string): Promise<void>;
  entries(): Promise<ReadonlyMap<string, Uint8Array>>;
}

/** Subjects are words with dots between them; a filter may end in `>`, which stands for one word or more. */
export interface Epoch {
  readonly name: string;
  /**
   * Resolves when it is stored.
   * @throws TandemError ENGINE_FULL where there is no room (the caller waits and tries again), ENGINE_LOST where the
   *   epoch is no more
   */
  append(subject: string, message: Uint8Array): Promise<void>;
  /**
   * What is stored, and then what is still to come, until the signal. Positions grow; `after` -1 is the beginning.
   * Where the engine was away it may begin at the beginning again.
   * @throws TandemError ENGINE_LOST where the epoch is no more
   */
  follow(filter: string, after: number, signal: AbortSignal): AsyncIterable<StoredMessage>;
  /** How many messages are stored. @throws TandemError ENGINE_LOST */
  stored(filter: string): Promise<number>;
  purge(filter: string): Promise<void>;
  /** Something that one worker at a time may have. @throws TandemError as append does */
  offer(queue: string, message: Uint8Array): Promise<void>;
  /** How many are offered and not done, whoever has them. @throws TandemError ENGINE_LOST */
  offered(queue: string): Promise<number>;
  /** The next that nobody has, or whose lease ran out; null at the signal. @throws TandemError ENGINE_LOST */
  take(queue: string, signal: AbortSignal): Promise<Lease | null>;
  /** To whoever listens now; not stored. */
  say(subject: string, message: Uint8Array): void;
  hear(filter: string, signal: AbortSignal): AsyncIterable<HeardMessage>;
  /** Deletes all that it holds. */
  end(): Promise<void>;
}

export interface HeardMessage {
  readonly subject: string;
  readonly message: Uint8Array;
}

export interface StoredMessage extends HeardMessage {
  readonly position: number;
}

/** Held until it runs out: whoever works on, renews it. */
export interface Lease {
  readonly message: Uint8Array;
  /** How often it was handed out, this time included: of two holders the one with more has it. */
  readonly deliveries: number;
  renew(): void;
  giveBack(): void;
  /** It will not be handed out again. */
  done(): Promise<void>;
}
