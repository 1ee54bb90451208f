/**
 * One connection of the active party to a passive party, for one attempt at a job. Every call fails at once when the
 * party is gone, errors name the party, and what either party has seen of the other is counted.
 */
import { TandemError } from "../../base/error.ts";
import { Tally, type Watch } from "../../messages/tally.ts";
import type { PassiveHello } from "../../wire/generated/tandem/v1/tandem_pb.ts";
import type { PassivePeer } from "../../wire/peer.ts";

/** How long the party may take to acknowledge that the job failed. */
const failureNoticeMs = 2000;

export class PeerConnection {
  readonly peer: PassivePeer;
  /** What either party has seen of the other. */
  readonly tally: Tally;
  readonly #closing = new AbortController();
  readonly #waiting = new Set<(lost: TandemError) => void>();
  /** Set when the party is gone. */
  #lost: TandemError | null = null;

  /** @param watch receives what either party sees of the other, as it happens */
  constructor(peer: PassivePeer, watch?: Watch) {
    this.peer = peer;
    this.tally = new Tally(watch);
  }

  get name(): string {
    return this.peer.name;
  }

  /** For every call: aborts when the connection is closed. */
  get options(): { readonly signal: AbortSignal } {
    return { signal: this.#closing.signal };
  }

  /** The first message of the join stream. The stream then stays open as long as the party runs. */
  async join(hello: Parameters<PassivePeer["join"]>[0]): Promise<PassiveHello> {
    const stream = this.peer.join(hello, this.options)[Symbol.asyncIterator]();
    const first = await this.#naming(stream.next());
    if (first.done === true)
      throw new TandemError("PARTY_LOST", `party ${this.name} closed the connection before the job began`);
    void this.#watch(stream);
    return first.value;
  }

  /** Fails at once when the party is gone. (Promise.race would keep every result alive until the job ends.) */
  guard<T>(work: Promise<T>): Promise<T> {
    if (this.#lost !== null) {
      work.catch(() => {}); // its error is less specific
      return Promise.reject(this.#lost);
    }
    return this.#naming(
      new Promise<T>((resolve, reject) => {
        this.#waiting.add(reject);
        work.then(resolve, reject).finally(() => this.#waiting.delete(reject));
      }),
    );
  }

  /** Processes the messages of an answer one after the other. */
  each<T>(answer: AsyncIterable<T>, take: (message: T) => void | Promise<void>): Promise<void> {
    return this.guard(
      (async () => {
        for await (const message of answer) await take(message);
      })(),
    );
  }

  /** Ends the job; after a failure the party is sent the reason, with a short timeout. */
  async finish(failure: string, treeCount: number): Promise<void> {
    const finished = this.peer.finishJob(
      { failure, treeCount },
      failure === "" ? this.options : { signal: AbortSignal.timeout(failureNoticeMs) },
    );
    // Not guarded after success: the party may leave as soon as it has answered.
    await (failure === "" ? this.#naming(finished) : finished.catch(() => {}));
    this.#closing.abort();
  }

  /** The error for a message that an honest party never sends. */
  deviates(what: string): TandemError {
    return new TandemError("PROTOCOL_STATE", `party ${this.name} sent ${what}`);
  }

  async #watch(stream: AsyncIterator<PassiveHello>): Promise<void> {
    let lost = new TandemError("PARTY_LOST", `party ${this.name} closed its connection in the middle of the job`);
    try {
      while ((await stream.next()).done !== true);
    } catch (cause) {
      if (cause instanceof TandemError) lost = this.#named(cause);
    }
    this.#lost = lost;
    for (const reject of this.#waiting) reject(lost);
  }

  async #naming<T>(work: Promise<T>): Promise<T> {
    try {
      return await work;
    } catch (error) {
      throw error instanceof TandemError ? this.#named(error) : error;
    }
  }

  #named(error: TandemError): TandemError {
    if (error.message.startsWith(this.name) || error.message.includes(`party ${this.name}`)) return error;
    return new TandemError(error.code, `party ${this.name}: ${error.message}`, { cause: error });
  }
}
