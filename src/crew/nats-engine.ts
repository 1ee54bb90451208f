/**
 * The engine over nats-server with JetStream, version 2.9 or later. The party creates and deletes the streams of an
 * epoch; its workers only use them. nats/rights.ts has the required permissions.
 */
import { jetstream, jetstreamManager } from "@nats-io/jetstream";
import { assert } from "../base/assert.ts";
import { type Engine, resultsKept } from "./engine.ts";
import { type Keeping, NatsStatusTable } from "./nats/status-table.ts";
import { connectTo, countReconnects, type ServerAccess } from "./nats/connection.ts";
import { type Access, NatsEpoch } from "./nats/epoch.ts";
import { epochNames, isOfAnEpoch, queueKinds, storedKinds } from "./nats/names.ts";
import { isStreamGone, withPatience } from "./nats/trouble.ts";

export interface NatsEngineOptions extends ServerAccess {
  readonly crew: string;
  /** Party only: how its streams are stored. */
  readonly keeping?: (Keeping & { readonly leaseMs: number; readonly streamBytesMax?: number }) | undefined;
}

const answerMs = 3000;
/** A message that is sent again within this time is recognised by its id. */
const repeatMs = 120_000;

/** @throws TandemError CERTIFICATE, ENGINE_LOST if no server answers, USAGE if the server is not set up for it */
export async function openNatsEngine(options: NatsEngineOptions): Promise<Engine> {
  const { crew, keeping, patienceMs } = options;
  const connection = await connectTo(options);
  try {
    const js = jetstream(connection, { timeout: answerMs });
    // A query of the account would need one more permission.
    const jsm = await jetstreamManager(connection, { timeout: answerMs, checkAPI: false });
    const statusTable = new NatsStatusTable(js, jsm, crew, patienceMs, keeping ?? null);
    if (keeping !== undefined) await statusTable.make();
    const reconnects = countReconnects(connection);
    const access: Access = { connection, reconnects, js, jsm, crew, patienceMs, leaseMs: keeping?.leaseMs ?? null };
    return {
      statusTable,
      begin: (epoch, inMemory = false) =>
        beginEpoch(access, keeping && (inMemory ? { ...keeping, store: "memory" } : keeping), epoch),
      async join(epoch) {
        const isThere = await withPatience(patienceMs, () => exists(access, epoch));
        return isThere ? new NatsEpoch(access, epoch) : null;
      },
      async close() {
        // Messages sent last, such as a returned lease, are on their way when this resolves.
        if (!connection.isClosed()) await connection.drain().catch(() => connection.close());
      },
    };
  } catch (error) {
    await connection.close();
    throw error;
  }
}

async function beginEpoch(access: Access, keeping: NatsEngineOptions["keeping"], epoch: string): Promise<NatsEpoch> {
  assert(keeping !== undefined, "a party begins epochs, a worker joins them");
  const { jsm, crew, patienceMs } = access;
  await withPatience(patienceMs, async () => {
    const older: string[] = [];
    for await (const stream of jsm.streams.names()) if (isOfAnEpoch(crew, stream)) older.push(stream);
    for (const stream of older)
      await jsm.streams.delete(stream).catch((error: unknown) => {
        if (!isStreamGone(error)) throw error; // another party's end of the epoch may come first
      });
  });
  const names = epochNames(crew, epoch);
  const common = {
    storage: keeping.store,
    num_replicas: keeping.replicas,
    duplicate_window: repeatMs * 1e6,
    discard: "new" as const,
    max_bytes: keeping.streamBytesMax ?? -1,
  };
  const logs = storedKinds.map((kind) => ({
    name: names.stream(kind),
    subjects: [names.stored(kind), names.stored(`${kind}.>`)],
    ...(kind === "done" ? { discard: "old" as const, max_msgs: resultsKept, max_bytes: -1 } : {}),
  }));
  const queues = queueKinds.map((kind) => ({
    name: names.queueStream(kind),
    subjects: [names.queue(kind), names.queue(`${kind}.>`)],
    retention: "workqueue" as const,
  }));
  for (const stream of [...logs, ...queues])
    await withPatience(patienceMs, () => jsm.streams.add({ ...common, ...stream }));
  return new NatsEpoch(access, epoch);
}

async function exists({ jsm, crew }: Access, epoch: string): Promise<boolean> {
  try {
    const last = queueKinds[queueKinds.length - 1];
    await jsm.streams.info(epochNames(crew, epoch).queueStream(last)); // it is created last
    return true;
  } catch (error) {
    if (isStreamGone(error)) return false;
    throw error;
  }
}
