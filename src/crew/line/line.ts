/**
 * A worker's line: its own connection to the party, from which it fetches parts of logs. A broken one is made anew. If
 * that fails a few times in a row the worker gives it up for the attempt, and asks for its parts through the engine.
 */
import { createHash } from "node:crypto";
import type { Duplex } from "node:stream";
import { TandemError } from "../../base/error.ts";
import { type CrewEntry, CrewLineHelloSchema, CrewWantedSchema } from "../../wire/generated/tandem/v1/crew_pb.ts";
import { encodeMessage } from "../../wire/scheme-message.ts";
import { type Clock, every, sleep } from "../clock.ts";
import { messageBytesMax } from "../engine.ts";
import type { SealedMessages } from "../sealed-messages.ts";
import { framed, FrameReader } from "./frames.ts";
import { helloSubject } from "./line-host.ts";

/**
 * Connects to a party.
 * @param onBytes called with all that arrives; valid during the call only
 * @throws any error if it cannot connect, or if the party's certificate is not the expected one
 */
export type Dial = (address: string, signal: AbortSignal, onBytes: (bytes: Uint8Array) => void) => Promise<Duplex>;

export interface LineOptions {
  readonly addresses: readonly string[];
  readonly dial: Dial;
  readonly messages: SealedMessages;
  readonly worker: string;
  readonly clock: Clock;
  /** Called with null when there is one, and with the reason when there is none for the rest of the attempt. */
  readonly onState: (why: string | null) => void;
}

/** What a part of a log says of the payload that is to be fetched. */
export type Fetched = Pick<CrewEntry, "round" | "sequence" | "size" | "digest">;

/** In a row, without any payload in between. */
const failuresMax = 3;
const dialMs = 5000;
const retryMs = 200;
/** A party that answers nothing for so long is taken for lost. */
const silenceMs = 10_000;
const silenceLookMs = 1000;

export class Line {
  readonly #options: LineOptions;
  readonly #ended = new AbortController();
  #connecting: Promise<Connection> | null = null;
  #failures = 0;
  /** Before the next connection. */
  #pause: Promise<void> = Promise.resolve();
  #hasOpened = false;

  constructor(options: LineOptions) {
    this.#options = options;
    this.#connected().catch(() => {}); // before it is needed: a firewall may take its time
  }

  /** @returns null if the party does not have it over this line, which the engine then must bring */
  async fetch(block: number, { round, sequence, size, digest }: Fetched): Promise<Uint8Array | null> {
    const wanted = encodeMessage(CrewWantedSchema, { block, round, sequence });
    while (!this.#isOver) {
      const connecting = this.#connected();
      try {
        const connection = await connecting;
        const bytes = await connection.fetch(wanted);
        if (bytes.length === 0) return null;
        if (bytes.length === size && createHash("sha256").update(bytes).digest().equals(digest)) {
          this.#failures = 0;
          return bytes;
        }
        connection.close("the party sent other bytes than its log says");
      } catch (error) {
        await this.#lose(connecting, error);
      }
    }
    return null;
  }

  close(): void {
    this.#ended.abort();
    this.#connecting?.then((connection) => connection.close("the attempt is over")).catch(() => {});
  }

  get #isOver(): boolean {
    return this.#ended.signal.aborted || this.#failures >= failuresMax;
  }

  #connected(): Promise<Connection> {
    this.#connecting ??= this.#connect();
    return this.#connecting;
  }

  async #connect(): Promise<Connection> {
    const { messages, worker, onState } = this.#options;
    const connection = await this.#dialled();
    connection.send(messages.seal(CrewLineHelloSchema, helloSubject, { worker }));
    if (!this.#hasOpened) onState(null);
    this.#hasOpened = true;
    return connection;
  }

  /** All addresses at once: a party may have some that this machine cannot reach. */
  async #dialled(): Promise<Connection> {
    const { addresses, dial, clock } = this.#options;
    const dialling = new AbortController();
    const stop = (): void => dialling.abort();
    const cancel = clock.after(dialMs, stop);
    this.#ended.signal.addEventListener("abort", stop, { once: true });
    let first: Connection | null = null;
    const one = async (address: string): Promise<Connection> => {
      const connection = new Connection(clock);
      connection.open(await dial(address, dialling.signal, (bytes) => connection.receive(bytes)));
      if (first !== null) connection.close("another address was faster");
      else first = connection;
      return connection;
    };
    try {
      return await Promise.any(addresses.map(one));
    } catch (error) {
      throw error instanceof AggregateError ? error.errors[0] : error;
    } finally {
      cancel();
      this.#ended.signal.removeEventListener("abort", stop);
      dialling.abort();
    }
  }

  /** Counts a connection's end once, however many questions were open. */
  async #lose(connecting: Promise<Connection>, error: unknown): Promise<void> {
    const { clock, addresses, onState } = this.#options;
    if (this.#connecting === connecting && !this.#isOver) {
      this.#failures++;
      this.#connecting = null;
      this.#pause = sleep(clock, retryMs * this.#failures, this.#ended.signal);
      if (this.#isOver) onState(`${addresses.join(", ")}: ${error instanceof Error ? error.message : String(error)}`);
    }
    await this.#pause;
  }
}

interface Question {
  readonly answer: (bytes: Uint8Array) => void;
  readonly fail: (error: Error) => void;
}

/** Questions are answered in their order. */
class Connection {
  readonly #clock: Clock;
  readonly #frames: FrameReader;
  readonly #questions: Question[] = [];
  #stream: Duplex | null = null;
  #failure: Error | null = null;
  #received = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#frames = new FrameReader(messageBytesMax, (bytes) => {
      const question = this.#questions.shift();
      if (question === undefined) this.close("the party answered without a question");
      else question.answer(bytes);
    });
  }

  open(stream: Duplex): void {
    this.#stream = stream;
    const clock = this.#clock;
    const closed = new AbortController();
    stream.on("error", (error) => this.close(error.message));
    stream.on("close", () => {
      closed.abort();
      this.close("the party closed the connection");
    });
    let [seen, seenMs] = [0, clock.now()];
    every(clock, silenceLookMs, closed.signal, () => {
      if (this.#received !== seen || this.#questions.length === 0) [seen, seenMs] = [this.#received, clock.now()];
      else if (clock.now() - seenMs > silenceMs) this.close(`no answer for ${silenceMs / 1000} s`);
    });
  }

  receive(bytes: Uint8Array): void {
    this.#received += bytes.length;
    try {
      if (this.#failure === null) this.#frames.push(bytes);
    } catch (error) {
      this.close(error instanceof TandemError ? error.message : "unexpected bytes");
    }
  }

  send(frame: Uint8Array): void {
    this.#stream?.write(framed(frame));
  }

  fetch(wanted: Uint8Array): Promise<Uint8Array> {
    return new Promise((answer, fail) => {
      if (this.#failure !== null) return fail(this.#failure);
      this.#questions.push({ answer, fail });
      this.send(wanted);
    });
  }

  close(why: string): void {
    if (this.#failure !== null) return;
    this.#failure = new Error(why);
    this.#stream?.destroy();
    for (const { fail } of this.#questions.splice(0)) fail(this.#failure);
  }
}
