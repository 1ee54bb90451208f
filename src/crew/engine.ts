/**
 * Carries messages between a party and its workers, and stores them for a round. Its guarantees are weak: messages are
 * encrypted, named, numbered and, if necessary, sent again by the layers above. A message may arrive twice, and
 * unconfirmed ones in any order. Engine and workers may lose everything: then a round is repeated.
 */

/** Maximum message length: servers accept 1 MB by default, headers included. The layers above split longer ones. */
export const messageBytesMax = 1_000_000;

/**
 * An engine keeps this many of the latest messages under `done`, so that they need not be purged. (Purged one by one,
 * they make nats-server 2.9 forget the others.) Callers have far fewer tasks pending.
 */
export const resultsKept = 256;

/** The part of an engine that belongs to one crew. */
export interface Engine {
  readonly statusTable: StatusTable;
  /**
   * Creates an epoch, and deletes earlier ones.
   * @param inMemory the epoch must never be stored on disk, whatever the setting for others
   */
  begin(epoch: string, inMemory?: boolean): Promise<Epoch>;
  /** @returns null if the epoch does not exist or no longer exists */
  join(epoch: string): Promise<Epoch | null>;
  close(): Promise<void>;
}

/** A small table: available workers and the current epoch. A worker's entries expire unless it renews them. */
export interface StatusTable {
  /** @param lasting does not expire */
  put(key: string, value: Uint8Array, lasting?: boolean): Promise<void>;
  remove(key: string): Promise<void>;
  entries(): Promise<ReadonlyMap<string, Uint8Array>>;
}

/** Subjects are words separated by dots; a filter may end in `>`, which stands for one or more words. */
export interface Epoch {
  readonly name: string;
  /**
   * Resolves when it is stored.
   * @throws TandemError ENGINE_FULL if there is no room (the caller waits and retries), ENGINE_LOST if the epoch no
   * longer
   *   exists
   */
  append(subject: string, message: Uint8Array): Promise<void>;
  /**
   * Stored messages and then new ones, until the signal. Positions grow; `after` -1 is the beginning. After an
   * interruption of the engine it may start again from the beginning.
   * @throws TandemError ENGINE_LOST if the epoch no longer exists
   */
  follow(filter: string, after: number, signal: AbortSignal): AsyncIterable<StoredMessage>;
  /** The number of stored messages. @throws TandemError ENGINE_LOST */
  stored(filter: string): Promise<number>;
  purge(filter: string): Promise<void>;
  /** Offers an item that one worker at a time may hold. @throws TandemError as append does */
  offer(queue: string, message: Uint8Array): Promise<void>;
  /** The number of offered items that are not done, held or not. @throws TandemError ENGINE_LOST */
  offered(queue: string): Promise<number>;
  /** The next item without a holder, or with an expired lease; null at the signal. @throws TandemError ENGINE_LOST */
  take(queue: string, signal: AbortSignal): Promise<Lease | null>;
  /** Publishes to current subscribers; not stored. */
  say(subject: string, message: Uint8Array): void;
  hear(filter: string, signal: AbortSignal): AsyncIterable<HeardMessage>;
  /** Deletes the epoch and all its messages. */
  end(): Promise<void>;
}

export interface HeardMessage {
  readonly subject: string;
  readonly message: Uint8Array;
}

export interface StoredMessage extends HeardMessage {
  readonly position: number;
}

/** A lease that expires unless its holder renews it. */
export interface Lease {
  readonly message: Uint8Array;
  /** How often it was handed out, this time included: of two holders the one with the higher number is valid. */
  readonly deliveries: number;
  renew(): void;
  giveBack(): void;
  /** Marks it as done: it will not be handed out again. */
  done(): Promise<void>;
}
