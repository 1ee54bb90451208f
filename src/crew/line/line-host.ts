/**
 * The party's end of its lines: workers connect, prove that they belong to the current attempt, and fetch parts of its
 * logs. A line carries no secret that its caller has not proven to be allowed: TLS has checked its certificate, and the
 * first frame is sealed with a key that follows from crew.key and the attempt.
 */
import type { Duplex } from "node:stream";
import { CrewLineHelloSchema, type CrewWanted, CrewWantedSchema } from "../../wire/generated/tandem/v1/crew_pb.ts";
import { decodeMessage } from "../../wire/scheme-message.ts";
import type { SealedMessages } from "../sealed-messages.ts";
import { FrameReader, frameHeader } from "./frames.ts";

/** The subject of the sealed first frame. */
export const helloSubject = "line";
/** A hello, or a question. */
const frameBytesMax = 1024;
/** Unanswered questions of one worker: a few for each block that it may hold. */
const questionsMax = 1 << 16;

/** What the lines of an attempt carry. */
export interface Shared {
  readonly messages: SealedMessages;
  /** Null if the party does not have it, or not any more. */
  readonly partOf: (wanted: CrewWanted) => Uint8Array | null;
}

export class LineHost {
  /** As host:port, where workers connect. */
  readonly addresses: () => readonly string[];
  /** Bound of the bytes that are kept for workers. */
  readonly keptBytesMax: number;
  /** Smaller payloads are not fetched; undefined: the usual bound. */
  readonly fetchedBytesMin: number | undefined;
  #shared: Shared | null = null;
  /** Of the current attempt. */
  readonly #streams = new Set<Duplex>();

  constructor(addresses: () => readonly string[], keptBytesMax: number, fetchedBytesMin?: number) {
    this.addresses = addresses;
    this.keptBytesMax = keptBytesMax;
    this.fetchedBytesMin = fetchedBytesMin;
  }

  /** Begins an attempt; lines of an earlier one are closed. @returns what ends it */
  share(shared: Shared): () => void {
    this.#hangUp();
    this.#shared = shared;
    return () => {
      if (this.#shared !== shared) return;
      this.#shared = null;
      this.#hangUp();
    };
  }

  /**
   * Serves a connection whose certificate has been checked. One that says anything unexpected is closed.
   * @param onProven called once, when it has proven that it belongs to the attempt
   */
  accept(stream: Duplex, onProven: () => void = () => {}): void {
    let answers: Answers | null = null;
    const frames = new FrameReader(frameBytesMax, (frame) => {
      if (answers !== null) return answers.add(decodeMessage(CrewWantedSchema, frame));
      const shared = this.#shared;
      if (shared === null || shared.messages.open(CrewLineHelloSchema, helloSubject, frame) === null)
        return void stream.destroy();
      answers = new Answers(stream, shared);
      this.#streams.add(stream);
      onProven();
    });
    stream.on("error", () => {}); // "close" follows
    stream.on("close", () => this.#streams.delete(stream));
    stream.on("data", (bytes: Uint8Array) => {
      try {
        if (!stream.destroyed) frames.push(bytes);
      } catch {
        stream.destroy(); // no frame, or no question
      }
    });
  }

  /** Ends all lines, and accepts no more. */
  close(): void {
    this.#shared = null;
    this.#hangUp();
  }

  #hangUp(): void {
    for (const stream of this.#streams) stream.destroy();
    this.#streams.clear();
  }
}

/** Answers a worker's questions one after the other, no faster than it reads. */
class Answers {
  readonly #stream: Duplex;
  readonly #shared: Shared;
  readonly #questions: CrewWanted[] = [];
  #isSending = false;

  constructor(stream: Duplex, shared: Shared) {
    this.#stream = stream;
    this.#shared = shared;
    stream.on("drain", () => this.#send());
  }

  add(wanted: CrewWanted): void {
    if (this.#questions.push(wanted) > questionsMax) this.#stream.destroy();
    else if (!this.#isSending) this.#send();
  }

  #send(): void {
    this.#isSending = false;
    for (let wanted = this.#questions.shift(); wanted !== undefined; wanted = this.#questions.shift()) {
      if (this.#stream.destroyed) return;
      const part = this.#shared.partOf(wanted);
      this.#stream.write(frameHeader(part?.length ?? 0));
      if (part !== null && part.length > 0 && !this.#stream.write(part)) {
        this.#isSending = true;
        return;
      }
    }
  }
}
