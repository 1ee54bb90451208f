import { afterAll, describe } from "vitest";
import { engineContract, type EngineWorld } from "../../test/support/engine-contract.ts";
import { hasNatsServer, type NatsServer, startNatsServer } from "../../test/support/nats-server.ts";
import type { Engine } from "./engine.ts";
import { openNatsEngine } from "./nats-engine.ts";

const server = hasNatsServer ? await startNatsServer(["shop", "shop-2"]) : null;
const engines: Promise<Engine>[] = [];
afterAll(async () => {
  for (const engine of engines) await (await engine).close();
});

function opened(options: Parameters<typeof openNatsEngine>[0]): Promise<Engine> {
  const engine = openNatsEngine(options);
  engines.push(engine);
  return engine;
}

function access(
  { url, authority, users }: NatsServer,
  user: string,
): Omit<Parameters<typeof openNatsEngine>[0], "crew"> {
  const identity = users.get(user);
  if (identity === undefined) throw new Error(user);
  return { servers: [url], tls: { ...identity, authority }, client: user, patienceMs: 3000 };
}

describe.skipIf(server === null)("nats-server", () => {
  if (server === null) return;
  describe.each(["memory", "file"] as const)("%s", (store) => {
    const crew = store === "memory" ? "shop" : "shop-2";
    const times = { leaseMs: 500, statusMs: 500 };
    const party = opened({ ...access(server, `${crew}-party`), crew, keeping: { store, replicas: 1, ...times } });
    const worker = party.then(() => opened({ ...access(server, `${crew}-worker`), crew }));
    const world: EngineWorld = { ...times, party: () => party, worker: () => worker };
    engineContract(() => Promise.resolve(world));
  });
});
