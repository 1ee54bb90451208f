/**
 * HTTP load on one address, and how long the answers took. Closed: a number of clients, each with one request at a
 * time, as fast as answers come. Open: requests at a fixed rate, independent of the answers. Each is timed from the
 * moment at which it was due, so that a stall counts for every request that it delays.
 */
import { Agent, request } from "node:http";
import { TandemError } from "../../src/base/error.ts";

export interface Shot {
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly body: string;
  /** Throws if the answer is not what it should be. */
  readonly check: (body: string) => void;
}

export interface LoadResult {
  readonly requestsPerSecond: number;
  /** Sorted. */
  readonly latenciesMs: Float64Array;
}

export class HttpLoad {
  readonly #port: number;
  readonly #agent = new Agent({ keepAlive: true });

  constructor(port: number) {
    this.#port = port;
  }

  close(): void {
    this.#agent.destroy();
  }

  async closed(clients: number, count: number, shot: (index: number) => Shot): Promise<LoadResult> {
    const latencies = new Float64Array(count);
    const started = performance.now();
    let next = 0;
    await Promise.all(
      Array.from({ length: clients }, async () => {
        for (let index = next++; index < count; index = next++) {
          const sent = performance.now();
          await this.#fire(shot(index));
          latencies[index] = performance.now() - sent;
        }
      }),
    );
    return { requestsPerSecond: (count / (performance.now() - started)) * 1000, latenciesMs: latencies.sort() };
  }

  async open(requestsPerSecond: number, count: number, shot: (index: number) => Shot): Promise<LoadResult> {
    const latencies = new Float64Array(count);
    const started = performance.now();
    const pending: Promise<void>[] = [];
    for (let index = 0; index < count; index++) {
      const due = started + (index * 1000) / requestsPerSecond;
      const wait = due - performance.now();
      if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
      // Timers fire up to a millisecond early: such a request is timed from its sending.
      const from = Math.min(due, performance.now());
      const answered = this.#fire(shot(index)).then(() => void (latencies[index] = performance.now() - from));
      answered.catch(() => {}); // it is waited for at the end
      pending.push(answered);
    }
    await Promise.all(pending);
    return { requestsPerSecond: (count / (performance.now() - started)) * 1000, latenciesMs: latencies.sort() };
  }

  /** @throws TandemError if the answer is not 200 */
  get(path: string): Promise<string> {
    return this.#send("GET", path, "");
  }

  async #fire({ method, path, body, check }: Shot): Promise<void> {
    check(await this.#send(method, path, body));
  }

  #send(method: string, path: string, body: string): Promise<string> {
    return new Promise((resolve, reject) => {
      const headers =
        body === "" ? {} : { "content-type": "application/json", "content-length": Buffer.byteLength(body) };
      const outgoing = request(
        { host: "127.0.0.1", port: this.#port, method, path, agent: this.#agent, headers },
        (response) => {
          let text = "";
          response.setEncoding("utf8").on("data", (more: string) => (text += more));
          response.once("end", () =>
            response.statusCode === 200
              ? resolve(text)
              : reject(
                  new TandemError("PROTOCOL_STATE", `${path} answered ${response.statusCode}: ${text.slice(0, 200)}`),
                ),
          );
        },
      );
      outgoing.once("error", reject);
      outgoing.end(body);
    });
  }
}

/** Nearest rank. @param sorted not empty */
export function percentile(sorted: Float64Array, percent: number): number {
  return sorted[Math.max(0, Math.ceil((percent / 100) * sorted.length) - 1)];
}
