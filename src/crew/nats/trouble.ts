/** Translates errors of the server and its client library, and retries. */
import { setTimeout as pause } from "node:timers/promises";
import { JetStreamApiError } from "@nats-io/jetstream";
import { errors } from "@nats-io/transport-node";
import { TandemError } from "../../base/error.ts";

/** Error codes of the server. */
const streamNotFound = 10059;
const consumerNotFound = 10014;
/** Storing failed (a stream's limit), limits of the account, memory, disk, and of what may be reserved. */
const noRoom = [10077, 10002, 10023, 10028, 10047, 10120];
/** Replicas without a cluster, more replicas than servers, JetStream is off for the account or in the server. */
const unfit = [10074, 10005, 10039, 10076];

const retryMs = 200;

export function isStreamGone(error: unknown): boolean {
  return error instanceof JetStreamApiError && error.code === streamNotFound;
}

export function isConsumerGone(error: unknown): boolean {
  return error instanceof JetStreamApiError && error.code === consumerNotFound;
}

/** @returns our error if retrying would not help; null if it may */
export function lastingTrouble(error: unknown): TandemError | null {
  if (error instanceof TandemError) return error;
  if (isStreamGone(error))
    return lost("the engine has lost this attempt's messages, or another attempt has begun", error);
  if (error instanceof JetStreamApiError && noRoom.includes(error.code))
    return new TandemError(
      "ENGINE_FULL",
      `the engine has no room: ${error.message}. Raise max_file_store or max_memory_store in nats.conf`,
      {
        cause: error,
      },
    );
  if (error instanceof JetStreamApiError && unfit.includes(error.code))
    return new TandemError("USAGE", `the engine does not support the settings of crew:: ${error.message}`, {
      cause: error,
    });
  if (isForbidden(error) || (error instanceof Error && isForbidden(error.cause)))
    return new TandemError(
      "CERTIFICATE",
      "the engine does not grant this certificate the crew's permissions. Compare crew.name with the engine's config",
      { cause: error },
    );
  if (error instanceof errors.ClosedConnectionError || error instanceof errors.DrainingConnectionError)
    return lost("the connection to the engine is closed", error);
  return null;
}

function isForbidden(error: unknown): boolean {
  return error instanceof errors.PermissionViolationError;
}

/** Repeats `work` until it succeeds: a server may be restarting, or a cluster electing. @throws TandemError */
export async function withPatience<T>(patienceMs: number, work: () => Promise<T>): Promise<T> {
  const until = Date.now() + patienceMs;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      const lasting = lastingTrouble(error);
      if (lasting !== null) throw lasting;
      if (Date.now() > until) throw silent(patienceMs, error);
    }
    await pause(retryMs);
  }
}

function silent(patienceMs: number, cause: unknown): TandemError {
  return lost(`the engine has not answered for ${Math.round(patienceMs / 1000)} s: is nats-server running?`, cause);
}

export function lost(what: string, cause?: unknown): TandemError {
  return new TandemError("ENGINE_LOST", what, { cause });
}
