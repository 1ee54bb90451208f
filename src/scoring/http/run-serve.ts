/**
 * `tandem serve`: a model over HTTP at the active party, with one question to each passive party per batch of requests.
 */
import type { ServingParameters } from "../../base/parameters/parameters.ts";
import { TandemError } from "../../base/error.ts";
import { isLoopback } from "../../base/listening/loopback.ts";
import type { ActiveConfig } from "../../party/config/config.ts";
import type { Emit } from "../../record/events.ts";
import { listenHttp, type Route, type RunningHttpServer } from "./http-server.ts";
import type { ModelEntry, ReadyResponse } from "./messages.ts";
import { ModelSlot } from "./model-slot.ts";
import { openApiDocument } from "./openapi.ts";
import { openShadow, type RunningShadow, type ShadowSettings } from "./run-shadow.ts";
import { ServerMetrics } from "./server-metrics.ts";
import type { Shadow } from "./shadow.ts";

export interface ServeOptions {
  /** A job's name, a model of the registry, or a job's folder: the model of /predict. */
  readonly model: string;
  /** Others, which have paths of their own only. */
  readonly more?: readonly string[];
  readonly shadow?: ShadowSettings;
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
  const complain = complaints(config.name, emit);
  const metrics = new ServerMetrics(() => slots);
  const common = { parameters, unknownAsMissing, metrics, complain, emit };
  const slots: ModelSlot[] = [];
  let shadow: RunningShadow | null = null;
  const closeAll = async (): Promise<void> => {
    shadow?.close();
    await Promise.all(slots.map((slot) => slot.close()));
  };
  try {
    for (const named of [options.model, ...(options.more ?? [])])
      slots.push(await ModelSlot.open(config, named, common));
    checkNames(slots);
    if (options.shadow !== undefined) {
      shadow = await openShadow(config, options.shadow, common);
      slots.push(shadow.slot);
    }
    const routes = routesOf(slots, shadow, metrics, options);
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
    return { port: server.port, close: () => server.close().finally(closeAll) };
  } catch (error) {
    await closeAll();
    throw error;
  }
}

/** @throws TandemError USAGE for two models under one name */
function checkNames(slots: readonly ModelSlot[]): void {
  const names = slots.map(({ name }) => name);
  const twice = names.find((name, i) => names.indexOf(name) < i);
  if (twice !== undefined) throw new TandemError("USAGE", `--model: ${twice} is named twice`);
}

/** The first model is the one of /predict; each has paths of its own besides. The shadow has none. */
function routesOf(
  all: readonly ModelSlot[],
  shadow: RunningShadow | null,
  metrics: ServerMetrics,
  { parameters, token, version }: ServeOptions,
): Route[] {
  const slots = all.filter((slot) => slot !== shadow?.slot);
  const predictAt = (path: string, slot: ModelSlot, follower: Shadow | null): Route => ({
    method: "POST",
    path,
    handle: async (body) => {
      const { current } = slot;
      const response = await current.answer(body);
      follower?.take(body, { job: current.share.job, response });
      return { status: 200, body: response };
    },
  });
  const documentOf = ({ current: { features, categoryNames } }: ModelSlot): Record<string, unknown> =>
    openApiDocument({ features, categoryNames, rowsMax: parameters.request_ids, withToken: token !== null, version });
  const ofModel = (slot: ModelSlot): Route[] => [
    predictAt(`/models/${slot.name}/predict`, slot, slot === slots[0] ? (shadow?.shadow ?? null) : null),
    {
      method: "GET",
      path: `/models/${slot.name}/ready`,
      open: true,
      handle: async () => readyAnswer([await slot.current.readyNow()]),
    },
    {
      method: "GET",
      path: `/models/${slot.name}/openapi.json`,
      handle: () => ({ status: 200, body: documentOf(slot) }),
    },
  ];
  return [
    predictAt("/predict", slots[0], shadow?.shadow ?? null),
    { method: "GET", path: "/health", open: true, handle: () => ({ status: 200, body: { status: "alive" } }) },
    {
      method: "GET",
      path: "/ready",
      open: true,
      handle: async () => readyAnswer(await Promise.all(slots.map(({ current }) => current.readyNow()))),
    },
    { method: "GET", path: "/metrics", handle: () => ({ status: 200, body: metrics.text() }) },
    { method: "GET", path: "/openapi.json", handle: () => ({ status: 200, body: documentOf(slots[0]) }) },
    { method: "GET", path: "/models", handle: () => ({ status: 200, body: { models: slots.map(modelEntry) } }) },
    ...slots.flatMap(ofModel),
  ];
}

function modelEntry({ name, current: { share } }: ModelSlot, place: number): ModelEntry {
  const paths = [...(place === 0 ? ["/predict"] : []), `/models/${name}/predict`];
  return { name, job: share.job, model: share.model, paths };
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

/** Several models have the same parties: of each the first trouble. */
function readyAnswer(answers: readonly ReadyResponse[]): { status: number; body: ReadyResponse } {
  const parties = new Map<string, ReadyResponse["parties"][number]>();
  for (const one of answers.flatMap((answer) => answer.parties))
    if (parties.get(one.party)?.ready !== false) parties.set(one.party, one);
  const isReady = answers.every(({ status }) => status === "ready");
  return {
    status: isReady ? 200 : 503,
    body: { status: isReady ? "ready" : "not ready", parties: [...parties.values()] },
  };
}
