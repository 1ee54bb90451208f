/**
 * Reports to a server of this company that a request waits: one HTTPS POST, signed, to the URL of the config and no
 * other. It runs beside everything else; a server that does not answer delays nothing but the next report.
 *
 *   Tandem-Timestamp: <seconds since the epoch>
 *   Tandem-Signature: sha256=<HMAC-SHA256 of "<timestamp>.<body>" with the secret, in hex>
 */
import { createHmac } from "node:crypto";
import { readFile } from "node:fs/promises";
import { request } from "node:https";
import { readToken } from "../../base/files/token-file.ts";
import { TandemError } from "../../base/error.ts";
import type { Emit } from "../../record/events.ts";
import type { StoredRequest } from "../../store/request-file.ts";
import type { PassiveConfig } from "../config/config.ts";

const attemptMs = 10_000;
/** Between attempts. */
const pausesMs = [1000, 10_000, 60_000] as const;
/** Reports that wait for an earlier one; further ones are left out, since each says how many requests wait. */
const queuedMax = 16;

export interface WebhookTarget {
  readonly url: string;
  readonly secret: string;
  /** PEM; left out: the authorities that Node knows. */
  readonly authority?: string | undefined;
}

export interface WebhookOptions extends WebhookTarget {
  readonly party: string;
  readonly emit: Emit;
  readonly pauses?: readonly number[];
  readonly timeoutMs?: number;
}

/** Reads the files of the config. @returns null if it has no webhook. @throws TandemError naming the file */
export async function webhookOf({ name: party, policy, tls }: PassiveConfig, emit: Emit): Promise<Webhook | null> {
  if (policy.webhook === undefined) return null;
  const { url, secret_file: file, authority: path } = policy.webhook;
  const secret = await readToken(file, tls.insecure_key_file);
  const authority = path === undefined ? undefined : await readFile(path, "utf8").catch(() => null);
  if (authority === null) throw new TandemError("FILE_UNREADABLE", `${String(path)} cannot be read`);
  return new Webhook({ url, secret, authority, party, emit });
}

export class Webhook {
  readonly #options: WebhookOptions;
  readonly #queue: string[] = [];
  readonly #closing = new AbortController();
  #isSending = false;

  constructor(options: WebhookOptions) {
    this.#options = options;
  }

  /** @param waiting requests of this partner */
  notify({ id, terms }: Pick<StoredRequest, "id" | "terms">, waiting: number): void {
    const { partner, job, work } = terms;
    const { party } = this.#options;
    if (this.#queue.length >= queuedMax) return;
    this.#queue.push(JSON.stringify({ event: "request-waits", party, partner, job, work, request: id, waiting }));
    if (!this.#isSending) void this.#sendAll();
  }

  close(): void {
    this.#queue.length = 0;
    this.#closing.abort();
  }

  async #sendAll(): Promise<void> {
    this.#isSending = true;
    for (let body = this.#queue.shift(); body !== undefined; body = this.#queue.shift()) await this.#send(body);
    this.#isSending = false;
  }

  async #send(body: string): Promise<void> {
    const { party, emit, pauses = pausesMs } = this.#options;
    let trouble = "";
    for (const pause of [0, ...pauses]) {
      if (this.#closing.signal.aborted) return;
      await this.#pause(pause);
      trouble = await this.#attempt(body);
      if (trouble === "") return;
    }
    if (!this.#closing.signal.aborted)
      emit({ type: "notice", party, words: `policy.webhook: no report of a waiting request was accepted: ${trouble}` });
  }

  /** @returns what went wrong; empty: nothing did. Neither the URL nor the answer is in it: both may be secrets. */
  #attempt(body: string): Promise<string> {
    const { url, secret, authority, timeoutMs = attemptMs } = this.#options;
    const timestamp = String(Math.floor(Date.now() / 1000));
    const signature = createHmac("sha256", secret).update(`${timestamp}.${body}`).digest("hex");
    return new Promise((resolve) => {
      const sent = request(
        url,
        {
          method: "POST",
          agent: false,
          signal: AbortSignal.any([this.#closing.signal, AbortSignal.timeout(timeoutMs)]),
          ...(authority === undefined ? {} : { ca: authority }),
          headers: {
            "Content-Type": "application/json",
            "Content-Length": Buffer.byteLength(body),
            "Tandem-Timestamp": timestamp,
            "Tandem-Signature": `sha256=${signature}`,
          },
        },
        (response) => {
          const { statusCode = 0 } = response;
          response.destroy();
          // Redirects are not followed.
          resolve(statusCode >= 200 && statusCode < 300 ? "" : `the server answered ${statusCode}`);
        },
      );
      sent.once("error", (error: NodeJS.ErrnoException) => {
        const isLate = error.name === "TimeoutError" || error.name === "AbortError";
        resolve(
          isLate ? `no answer within ${timeoutMs / 1000} s` : `the server cannot be reached (${error.code ?? "error"})`,
        );
      });
      sent.end(body);
    });
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      if (ms === 0) return resolve();
      const timer = setTimeout(resolve, ms).unref();
      this.#closing.signal.addEventListener("abort", () => (clearTimeout(timer), resolve()), { once: true });
    });
  }
}
