/** A passive party as a server within this process. */
import type { Emit } from "../record/events.ts";
import { besideCrew } from "./beside-crew.ts";
import type { PassiveConfig } from "./parameters.ts";
import { type OnProgress, toProgress } from "./progress.ts";

/** Options of `party(config).listen()`. */
export interface ListenOptions {
  /** Called for every step of the jobs that the party takes part in. */
  readonly onProgress?: OnProgress;
  /** Closes the server when it is aborted. */
  readonly signal?: AbortSignal;
}

/** A passive party that is listening. */
export interface PartyServer {
  /** The port that it listens on, also where the config says 0. */
  readonly port: number;
  /** Settles when the server has stopped; rejects if it stopped because of an error. */
  readonly closed: Promise<void>;
  /** Ends jobs that are under way, and stops listening. Jobs can be continued when the party listens again. */
  close(): Promise<void>;
}

/** A passive party that is not listening yet. */
export interface Party {
  /** @throws TandemError if the config, the data or the certificate cannot be used, or the port is taken */
  listen(options?: ListenOptions): Promise<PartyServer>;
}

/** A passive party: it holds columns, and takes part in one job after the other. @param config an object or a path */
export function party(config: string | PassiveConfig): Party {
  return { listen: (options = {}) => listen(config, options) };
}

async function listen(given: string | PassiveConfig, { onProgress, signal }: ListenOptions): Promise<PartyServer> {
  signal?.throwIfAborted();
  const [{ readPassiveConfig }, { runPassive }] = await Promise.all([
    import("../party/config/config.ts"),
    import("../party/passive/run.ts"),
  ]);
  const config = await readPassiveConfig(given);
  const stop = new AbortController();
  const end = (): void => stop.abort();
  signal?.addEventListener("abort", end, { once: true });
  if (signal?.aborted === true) end();
  let onListening: (port: number) => void = () => {};
  const listening = new Promise<number>((resolve) => (onListening = resolve));
  const emit: Emit = (event) => {
    if (event.type === "listening") onListening(event.port);
    const progress = toProgress(event);
    if (progress !== null) onProgress?.(progress);
  };
  const closed = besideCrew(config, {}, emit, stop.signal, (beside) =>
    runPassive(config, emit, { stop: stop.signal, ...beside }),
  ).finally(() => signal?.removeEventListener("abort", end));
  const port = await Promise.race([listening, closed]);
  if (port === undefined) {
    signal?.throwIfAborted();
    throw new Error("the party ended before it was listening");
  }
  closed.catch(() => {}); // callers that await `closed` or `close` get the error
  return {
    port,
    closed,
    close: () => {
      end();
      return closed;
    },
  };
}
