/** What a scoring server counts. */
import type { DriftSummary } from "../../record/drift-facts.ts";
import type { OnQuestion } from "../scoring-question.ts";
import { Counter, Histogram, LabelledGauge, metricsText } from "../../base/metrics.ts";

const seconds = [0.001, 0.002, 0.003, 0.005, 0.0075, 0.01, 0.015, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const sizes = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000];

/** What the metrics show of a name under which a model is served. */
interface ServedName {
  readonly name: string;
  readonly current: {
    readonly queuedIds: number;
    readonly share: { readonly job: string; readonly model: string };
    readonly drift: DriftSummary | null;
  };
}

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
  readonly shadowLosses = new Counter(
    "tandem_shadow_lost_rows_total",
    "Rows without a score of the shadow because their request had none: dropped, or the error code.",
  );
  readonly #queuedIds: LabelledGauge;
  readonly #models: LabelledGauge;
  readonly #drift: LabelledGauge;

  constructor(models: () => readonly ServedName[]) {
    this.#queuedIds = new LabelledGauge("tandem_queued_ids", "Ids that wait for a batch.", () =>
      models().map(({ name, current }) => [{ model: name }, current.queuedIds] as const),
    );
    this.#models = new LabelledGauge("tandem_served_model", "1 for each model that is served, with its job.", () =>
      models().map(({ name, current: { share } }) => [{ model: name, job: share.job, id: share.model }, 1] as const),
    );
    this.#drift = new LabelledGauge(
      "tandem_stability_index",
      "How far a score or an own feature of the people scored has moved since the training: 0.1 moderate, 0.25 large.",
      () =>
        models().flatMap(({ name: model, current: { drift } }) =>
          (drift?.items ?? []).map(({ of, name, index }) => [{ model, of, name }, index] as const),
        ),
    );
  }

  onQuestion(model: string, { party, idCount, ms, error }: Parameters<OnQuestion>[0]): void {
    if (idCount === 0) return; // a readiness check, not a request
    this.batches.add({ model, party, result: error === null ? "answered" : "failed" });
    this.batchSeconds.observe({ model, party }, ms / 1000);
  }

  onBatch(model: string, requestCount: number, idCount: number): void {
    this.batchRequests.observe({ model }, requestCount);
    this.batchIds.observe({ model }, idCount);
  }

  onAnswer({ path, status, ms }: { readonly path: string; readonly status: number; readonly ms: number }): void {
    this.requests.add({ path, status: String(status) });
    if (path.endsWith("/predict")) this.requestSeconds.observe({ path }, ms / 1000);
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
      this.shadowLosses,
      this.#queuedIds,
      this.#models,
      this.#drift,
    ]);
  }
}
