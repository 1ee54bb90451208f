/** Whole jobs with workers over a real server: the model equals that of one process, and the server learns nothing.
 * */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, describe, expect, test } from "vitest";
import { scratchDirectory } from "../../test/support/command.ts";
import { type TestJob, trainFederated, trainInOnePlace } from "../../test/support/in-memory-job.ts";
import { hasNatsServer, type NatsServer, startNatsServer } from "../../test/support/nats-server.ts";
import { randomTable } from "../../test/support/tables.ts";
import { diskStorage } from "../base/files/storage.ts";
import { generateKey, selectKernel } from "../crypto/paillier/index.ts";
import { firstDifference } from "../gbdt/tree/model-compare.ts";
import { lattice } from "../scheme/lattice/lattice.ts";
import { paillier } from "../scheme/paillier/paillier.ts";
import { schemeNamed } from "../scheme/registry.ts";
import { BlockFiles } from "./block-files.ts";
import type { Engine } from "./engine.ts";
import { openNatsEngine } from "./nats-engine.ts";
import { RemoteCrew } from "./remote-crew.ts";
import { type Seal, sealOf } from "./seal.ts";
import { Worker } from "./worker.ts";

const server = hasNatsServer ? await startNatsServer(["shop"]) : null;
const blocks = scratchDirectory();
const kernel = selectKernel();
const key = await generateKey({ bits: 512, insecure: true });
const crewKey = Uint8Array.from({ length: 32 }, (_, i) => 200 - i);
const leaseMs = 2000;
const opened: Engine[] = [];
const stops: AbortController[] = [];
const running: Promise<void>[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) stop.abort();
  await Promise.all(running.splice(0));
});
afterAll(() => Promise.all(opened.map((engine) => engine.close())));

/** Plaintexts, and their encryptions. */
const seen: { readonly message: Uint8Array; readonly sealed: Uint8Array }[] = [];

function watched(epoch: string): Seal {
  const seal = sealOf(crewKey, epoch);
  return {
    seal(subject, ...parts) {
      const sealed = seal.seal(subject, ...parts);
      seen.push({ message: Buffer.concat(parts), sealed });
      return sealed;
    },
    open: (subject, sealed) => seal.open(subject, sealed),
  };
}

async function engineOf({ url, users, authority }: NatsServer, user: string, isParty: boolean): Promise<Engine> {
  const { certificate, key: own } = users.get(user) ?? { certificate: "", key: "" };
  const engine = await openNatsEngine({
    servers: [url],
    crew: "shop",
    client: user,
    tls: { certificate, key: own, authority },
    patienceMs: 10_000,
    keeping: isParty ? { store: "file", replicas: 1, leaseMs, statusMs: 3000 } : undefined,
  });
  opened.push(engine);
  return engine;
}

async function work(to: NatsServer, id: string): Promise<void> {
  const stop = new AbortController();
  stops.push(stop);
  const engine = await engineOf(to, "shop-worker", false);
  const files = new BlockFiles(diskStorage, blocks);
  const worker = new Worker({ id, engine, sealOf: watched, files, version: "1", threads: 1, schemeNamed });
  running.push(worker.run(stop.signal));
}

async function expectTheSame(to: NatsServer, job: Omit<TestJob, "kernel" | "key">): Promise<void> {
  const engine = await engineOf(to, "shop-party", true);
  await Promise.all([work(to, "w1"), work(to, "w2")]);
  const crew = new RemoteCrew({
    engine,
    sealOf: watched,
    files: new BlockFiles(diskStorage, blocks),
    version: "1",
    leaseMs,
    blockRows: 16,
    workersMin: 2,
    patienceMs: 30_000,
  });
  const passiveScheme = () => (job.scheme ?? paillier).passive({ threads: 1, crew });
  const whole = { kernel, key, ...job };
  const { model } = await trainFederated({ ...whole, passiveScheme });
  expect(firstDifference(model, await trainInOnePlace(whole))).toBeNull();
}

const table = randomTable("over a server", { rows: 60, features: [1, 2], missingFraction: 0.1 });
const training = { num_round: 2, max_depth: 2 };

function kept(folder: string): Buffer {
  const files = readdirSync(join(folder, "jetstream"), { recursive: true, withFileTypes: true });
  return Buffer.concat(files.filter((e) => e.isFile()).map((e) => readFileSync(join(e.parentPath, e.name))));
}

describe.skipIf(server === null)("a crew over nats-server", () => {
  if (server === null) return;

  test("Paillier; the engine's folder has nothing of what was sealed, nor the key", async () => {
    const folders: Buffer[] = [];
    await expectTheSame(server, { table, training, look: { treeFinished: () => folders.push(kept(server.folder)) } });
    const folder = Buffer.concat(folders);
    expect(folder.length).toBeGreaterThan(10_000);
    const parts = seen.filter(({ message }) => message.length >= 48);
    expect(parts.length).toBeGreaterThan(20);
    const found = parts.filter(({ sealed }) => folder.includes(Buffer.from(sealed.subarray(0, 48))));
    expect(found.length, "the search finds what is there").toBeGreaterThan(10);
    for (const { message } of parts) expect(folder.includes(Buffer.from(message.subarray(-24)))).toBe(false);
    const modulus = Buffer.from(key.publicKey.n.toString(16).padStart(128, "0"), "hex");
    for (const secret of [Buffer.from(crewKey), Buffer.from(Buffer.from(crewKey).toString("hex")), modulus])
      expect(folder.includes(secret)).toBe(false);
    expect(folder.includes(Buffer.from(modulus).reverse())).toBe(false);
  });

  test("lattices, with a server that is killed in the middle and comes back with its files", async () => {
    let restarted: Promise<void> | null = null;
    const restart = async (): Promise<void> => {
      await server.stop();
      await server.start();
    };
    await expectTheSame(server, {
      table,
      training,
      scheme: lattice,
      look: { treeFinished: () => void (restarted ??= restart()) },
    });
    await (restarted as Promise<void> | null);
  });
});
