/**
 * Shadow scoring: requests that were answered with one model are scored with another one too, and both scores are
 * written to a file. It begins after the answer, never waits for room, and drops what it cannot take.
 */
import type { SecureRandom } from "../../base/random.ts";
import type { PredictResponse } from "./messages.ts";

/** A scored person in the file. */
export interface ShadowLine {
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly id: string;
  /** The jobs that trained the two models. */
  readonly model: string;
  readonly prediction: number | readonly number[];
  readonly shadow: string;
  /** Left out where the shadow had no score; then there is an error code. */
  readonly shadowPrediction?: number | readonly number[];
  readonly error?: string;
}

/** An answer, and the job whose model gave it. */
export interface JobAnswer {
  readonly job: string;
  readonly response: PredictResponse;
}

export interface ShadowOptions {
  /** The share of requests, from 0 to 1. */
  readonly share: number;
  readonly random: SecureRandom;
  readonly answer: (body: object) => Promise<JobAnswer>;
  readonly write: (line: ShadowLine) => void;
  /** Per person without a score because the whole request had none: dropped, or an error code. */
  readonly onLost: (reason: string) => void;
  /** Hears once of what ends it: the file cannot be written. */
  readonly onTrouble: (error: unknown) => void;
  readonly now: () => number;
}

/** People of requests that wait for the shadow's scores. */
const peopleMax = 10_000;

export class Shadow {
  readonly #options: ShadowOptions;
  #people = 0;
  #isOver = false;

  constructor(options: ShadowOptions) {
    this.#options = options;
  }

  /** Returns at once, and never throws. @param body the request that was answered */
  take(body: unknown, { job, response: answered }: JobAnswer): void {
    if (this.#isOver || typeof body !== "object" || body === null) return;
    // Only whole scores are compared.
    if (!answered.predictions.some((one) => "prediction" in one) || "iteration_range" in body) return;
    if ("output" in body && body.output !== "prediction") return;
    if (!this.#isDrawn()) return;
    const count = answered.predictions.length;
    if (this.#people + count > peopleMax) {
      for (let i = 0; i < count; i++) this.#options.onLost("dropped");
      return;
    }
    this.#people += count;
    setImmediate(() => void this.#score(body, job, answered).finally(() => (this.#people -= count)));
  }

  close(): void {
    this.#isOver = true;
  }

  async #score(body: object, job: string, answered: PredictResponse): Promise<void> {
    const { answer, onLost } = this.#options;
    let scored: JobAnswer | null = null;
    let code = "";
    try {
      scored = await answer(body);
    } catch (error) {
      code = error instanceof Error && "code" in error ? String(error.code) : "INTERNAL";
    }
    answered.predictions.forEach((one, i) => {
      const shadow = scored?.response.predictions[i];
      if (shadow === undefined) onLost(code);
      if (!("prediction" in one)) return;
      const error = shadow === undefined ? code : "error" in shadow ? shadow.error.code : undefined;
      this.#write({
        at: this.#options.now(),
        id: one.id,
        model: job,
        prediction: one.prediction,
        shadow: scored?.job ?? "",
        ...(shadow !== undefined && "prediction" in shadow ? { shadowPrediction: shadow.prediction } : {}),
        ...(error === undefined ? {} : { error }),
      });
    });
  }

  #write(line: ShadowLine): void {
    if (this.#isOver) return;
    try {
      this.#options.write(line);
    } catch (error) {
      this.#isOver = true;
      this.#options.onTrouble(error);
    }
  }

  #isDrawn(): boolean {
    const { share, random } = this.#options;
    if (share >= 1) return true;
    const bytes = random.fill(new Uint8Array(4));
    return new DataView(bytes.buffer).getUint32(0) < share * 2 ** 32;
  }
}
