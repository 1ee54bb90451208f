/** What a scoring server counts. */
import type { OnQuestion } from "../scoring-question.ts";
import { Counter, Gauge, Histogram, metricsText } from "../../base/metrics.ts";

const seconds = [0.001, 0.002, 0.003, 0.005, 0.0075, 0.01, 0.015, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const sizes = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000];

export class ServerMetrics {
  readonly requests = new Counter("tandem_http_requests_total", "Answered HTTP requests by path and status.");
  readonly requestSeconds = new Histogram(
    "tandem_predict_seconds",
    "Time from a prediction request's arrival to its answer.",
    seconds,
  );
  readonly rows = new Counter("tandem_rows_total", "Rows asked about, by outcome: scored, or the error code.");
  readonly batchIds = new Histogram("tandem_batch_ids", "Ids that travelled together in one batch.", sizes);
  readonly batchRequests = new Histogram(
    "tandem_batch_requests",
    "Requests that travelled together in one batch.",
    sizes,
  );
  readonly batchSeconds = new Histogram(
    "tandem_batch_seconds",
    "Time from a question to a passive party to its answer.",
    seconds,
  );
  readonly batches = new Counter(
    "tandem_batches_total",
    "Batches asked of a passive party, by result; one that is asked again counts again.",
  );
  readonly #queuedIds: Gauge;

  constructor(queuedIds: () => number) {
    this.#queuedIds = new Gauge("tandem_queued_ids", "Ids that wait for a batch.", queuedIds);
  }

  readonly onQuestion: OnQuestion = ({ party, idCount, ms, error }) => {
    if (idCount === 0) return; // a readiness check, not a request
    this.batches.add({ party, result: error === null ? "answered" : "failed" });
    this.batchSeconds.observe({ party }, ms / 1000);
  };

  onBatch(requestCount: number, idCount: number): void {
    this.batchRequests.observe({}, requestCount);
    this.batchIds.observe({}, idCount);
  }

  onAnswer({ path, status, ms }: { readonly path: string; readonly status: number; readonly ms: number }): void {
    this.requests.add({ path, status: String(status) });
    if (path === "/predict") this.requestSeconds.observe({}, ms / 1000);
  }

  text(): string {
    return metricsText([
      this.requests,
      this.requestSeconds,
      this.rows,
      this.batchIds,
      this.batchRequests,
      this.batchSeconds,
      this.batches,
      this.#queuedIds,
    ]);
  }
}
