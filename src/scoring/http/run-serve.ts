/**
 * `tandem serve`: a model over HTTP at the active party, with one question to each passive party per batch of requests.
 */
import { classCutOff } from "../../gbdt/objective/objectives.ts";
import type { ServingParameters } from "../../base/parameters/parameters.ts";
import { TandemError } from "../../base/error.ts";
import { isLoopback } from "../../base/listening/loopback.ts";
import type { ActiveConfig } from "../../party/config/config.ts";
import { DataCache } from "../../party/tables/data-cache.ts";
import type { Emit } from "../../record/events.ts";
import { findActiveShare } from "../../party/model/find-share.ts";
import { rowSourceOf } from "../features/row-sources.ts";
import { scoringData, wantedColumns } from "../run-predict.ts";
import { Scorer } from "../scorer.ts";
import { listenHttp, type Route, type RunningHttpServer } from "./http-server.ts";
import type { ReadyResponse } from "./messages.ts";
import { MicroBatcher } from "./micro-batcher.ts";
import { openApiDocument } from "./openapi.ts";
import { PredictEndpoint } from "./predict-endpoint.ts";
import { Readiness } from "./readiness.ts";
import { ServerMetrics } from "./server-metrics.ts";

export interface ServeOptions {
  /** A job's name, or the folder of one. */
  readonly model: string;
  readonly host: string;
  readonly port: number;
  readonly token: string | null;
  /** Listen beyond this machine without a token. */
  readonly insecureWithoutToken: boolean;
  readonly unknownAsMissing: boolean;
  readonly parameters: ServingParameters;
  /** Of this package, for the document. */
  readonly version: string;
}

/** Serves until it is closed. @throws TandemError if it cannot start; passive parties need not be there yet */
export async function startServer(config: ActiveConfig, options: ServeOptions, emit: Emit): Promise<RunningHttpServer> {
  const { host, port, token, parameters, unknownAsMissing } = options;
  if (token === null && !isLoopback(host) && !options.insecureWithoutToken) {
    throw new TandemError(
      "USAGE",
      `${host} can be reached from other machines. Require a token with --token-file, or pass --insecure-without-token`,
    );
  }
  const share = await findActiveShare(options.model, config);
  const complain = complaints(config.name, emit);
  const metrics = new ServerMetrics(() => batcher.queuedIds);
  const lost = new Set<string>();
  const scorer = await Scorer.connect(config, share, (question) => {
    metrics.onQuestion(question);
    // Logged when a party begins to fail, not for every failed request.
    if (question.error === null) lost.delete(question.party);
    else if (!lost.has(question.party)) complain(question.error);
    if (question.error !== null) lost.add(question.party);
  });
  const batcher = new MicroBatcher(scorer, {
    windowMs: parameters.window_ms,
    batchIdsMax: parameters.batch_ids,
    batchesMax: parameters.batches,
    queueIdsMax: parameters.queue_ids,
    timeoutMs: parameters.timeout_ms,
    unknownAsMissing,
    onBatch: (requestCount, idCount) => metrics.onBatch(requestCount, idCount),
  });
  const ownData = scoringData(config.data, scorer);
  const table = { data: new DataCache(ownData, "as trained"), onTrouble: complain };
  const ownRows = rowSourceOf(ownData, config.scoring, table);
  // Reads ahead, or connects; an error is reported to requests by id.
  ownRows.rows(wantedColumns(scorer), [], config.name).catch(() => {});
  const endpoint = new PredictEndpoint({
    model: share.model,
    naming: share.classes ? { cutOff: classCutOff(share.objective), classes: share.classes } : null,
    party: config.name,
    features: scorer.features,
    categoryNames: scorer.categoryNames,
    requiredColumn: scorer.requiredColumn,
    contributionNames: scorer.contributionNames,
    normalise: config.data.normalise,
    requestIdsMax: parameters.request_ids,
    unknownAsMissing,
    ownRows,
    batcher,
    onRow: (outcome) => metrics.rows.add({ outcome }),
  });
  const document = openApiDocument({
    features: scorer.features,
    categoryNames: scorer.categoryNames,
    rowsMax: parameters.request_ids,
    withToken: token !== null,
    version: options.version,
  });
  const readiness = new Readiness(scorer);
  const routes: Route[] = [
    { method: "POST", path: "/predict", handle: async (body) => ({ status: 200, body: await endpoint.answer(body) }) },
    { method: "GET", path: "/health", open: true, handle: () => ({ status: 200, body: { status: "alive" } }) },
    { method: "GET", path: "/ready", open: true, handle: async () => readyAnswer(await readiness.now()) },
    { method: "GET", path: "/metrics", handle: () => ({ status: 200, body: metrics.text() }) },
    { method: "GET", path: "/openapi.json", handle: () => ({ status: 200, body: document }) },
  ];
  try {
    const server = await listenHttp(routes, {
      host,
      port,
      token,
      bodyBytesMax: parameters.request_bytes,
      stopGraceMs: parameters.timeout_ms,
      onBug: complain,
      onAnswer: (answer) => metrics.onAnswer(answer),
    });
    emit({ type: "listening", party: config.name, process: process.pid, port: server.port });
    return {
      port: server.port,
      close: () =>
        server.close().finally(() => {
          scorer.close();
          return ownRows.close();
        }),
    };
  } catch (error) {
    scorer.close();
    throw error;
  }
}

/** Errors as events. An error without a code is an internal error. */
function complaints(party: string, emit: Emit): (error: unknown) => void {
  return (error) => {
    const known =
      error instanceof TandemError ? error : new TandemError("INTERNAL", "an internal error", { cause: error });
    emit({ type: "error", party, code: known.code, message: known.message });
  };
}

/** Serves until `stop` is aborted; requests under way are answered first. */
export async function runServe(
  config: ActiveConfig,
  options: ServeOptions,
  emit: Emit,
  stop: AbortSignal,
): Promise<void> {
  const server = await startServer(config, options, emit);
  if (!stop.aborted)
    await new Promise<void>((resolve) => stop.addEventListener("abort", () => resolve(), { once: true }));
  emit({ type: "stopping", party: config.name });
  await server.close();
  emit({ type: "stopped", party: config.name });
}

function readyAnswer(body: ReadyResponse): { status: number; body: ReadyResponse } {
  return { status: body.status === "ready" ? 200 : 503, body };
}
