/** A bank and a shop with workers over a real server: the same model, and nothing of the bank's is ever on its disk. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { scratchDirectory } from "../../../test/support/command.ts";
import { trainFederated, trainInOnePlace } from "../../../test/support/in-memory-job.ts";
import { hasNatsServer, type NatsServer, startNatsServer } from "../../../test/support/nats-server.ts";
import { randomTable } from "../../../test/support/tables.ts";
import { diskStorage } from "../../base/files/storage.ts";
import { generateKey, selectKernel, serialisePrivateKey } from "../../crypto/paillier/index.ts";
import { integerBytes } from "../../crypto/integers.ts";
import { firstDifference } from "../../gbdt/tree/model-compare.ts";
import { PaillierActive } from "../../scheme/paillier/active.ts";
import { NonceDraws } from "../../scheme/paillier/nonce-draws.ts";
import { paillier } from "../../scheme/paillier/paillier.ts";
import { schemeNamed } from "../../scheme/registry.ts";
import { BlockFiles } from "../block-files.ts";
import type { Engine } from "../engine.ts";
import { openNatsEngine } from "../nats-engine.ts";
import { RemoteCrew } from "../remote-crew.ts";
import { type Seal, sealOf } from "../seal.ts";
import { Worker } from "../worker.ts";

const server = hasNatsServer ? await startNatsServer(["bank", "shop"]) : null;
const kernel = selectKernel();
const key = await generateKey({ bits: 512, insecure: true });
const leaseMs = 2000;
const opened: Engine[] = [];
const running: Promise<void>[] = [];
const stop = new AbortController();
afterAll(async () => {
  stop.abort();
  await Promise.all(running);
  for (const engine of opened) await engine.close();
});

interface Sealed {
  readonly subject: string;
  readonly message: Uint8Array;
  readonly sealed: Uint8Array;
}

/** One company's party and its workers; what they seal is noted. */
class Company {
  readonly seen: Sealed[] = [];
  readonly workers: Worker[] = [];
  readonly said: unknown[] = [];
  readonly #server: NatsServer;
  readonly #name: string;
  readonly #files = new BlockFiles(diskStorage, scratchDirectory());

  constructor(at: NatsServer, name: string) {
    this.#server = at;
    this.#name = name;
  }

  async #engine(user: string, isParty: boolean): Promise<Engine> {
    const { url, users, authority } = this.#server;
    const { certificate, key: own } = users.get(user) ?? { certificate: "", key: "" };
    const engine = await openNatsEngine({
      servers: [url],
      crew: this.#name,
      client: user,
      tls: { certificate, key: own, authority },
      patienceMs: 10_000,
      keeping: isParty ? { store: "file", replicas: 1, leaseMs, boardMs: 3000 } : undefined,
    });
    opened.push(engine);
    return engine;
  }

  readonly #sealOf = (epoch: string): Seal => {
    const seal = sealOf(new Uint8Array(32).fill(this.#name.length), epoch);
    const note = (subject: string, message: Uint8Array): Uint8Array => {
      const sealed = seal.seal(subject, message);
      this.seen.push({ subject, message, sealed });
      return sealed;
    };
    return { seal: note, open: (subject, sealed) => seal.open(subject, sealed) };
  };

  async crew(): Promise<RemoteCrew> {
    const engine = await this.#engine(`${this.#name}-party`, true);
    const common = { sealOf: this.#sealOf, files: this.#files, version: "1" };
    for (const id of ["w1", "w2"]) {
      const worker = new Worker({
        ...common,
        id,
        engine: await this.#engine(`${this.#name}-worker`, false),
        threads: 1,
        schemeNamed,
        onTrouble: (...trouble) => this.said.push(trouble),
      });
      this.workers.push(worker);
      running.push(worker.run(stop.signal));
    }
    const on = (event: unknown): void => void this.said.push(event);
    return new RemoteCrew({ ...common, engine, leaseMs, blockRows: 32, workersMin: 2, patienceMs: 30_000, on });
  }
}

function kept(folder: string): Buffer {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true });
  return Buffer.concat(files.filter((e) => e.isFile()).map((e) => readFileSync(join(e.parentPath, e.name))));
}

describe.skipIf(server === null)("tasks over nats-server", () => {
  if (server === null) return;

  test("both companies' workers; no key, gradient or sealed message of the bank is on the engine's disk", async () => {
    const [bank, shop] = [new Company(server, "bank"), new Company(server, "shop")];
    const [bankCrew, shopCrew] = [await bank.crew(), await shop.crew()];
    const table = randomTable("tasks over a server", { rows: 60, features: [1, 2], missingFraction: 0.1 });
    const job = { table, kernel, key, training: { num_round: 2, max_depth: 2 } };
    const folders: Buffer[] = [];
    const never = (): Promise<void> => new Promise(() => {});
    const { model } = await trainFederated({
      ...job,
      look: { treeFinished: () => folders.push(kept(server.folder)) },
      activeScheme: (...given) =>
        new PaillierActive(given[0], given[1], 1, given[2], never, new NonceDraws(), bankCrew),
      passiveScheme: () => paillier.passive({ threads: 1, crew: shopCrew }),
    });
    expect(firstDifference(model, await trainInOnePlace(job))).toBeNull();
    expect([bank, shop].map(({ workers }) => workers.some(({ taskCount }) => taskCount > 0))).toEqual([true, true]);

    const folder = Buffer.concat(folders);
    const isThere = ({ sealed }: Sealed): boolean => folder.includes(Buffer.from(sealed.subarray(0, 48)));
    const of = ({ seen }: Company, ...kinds: string[]): Sealed[] =>
      seen.filter(({ subject, message }) => kinds.includes(subject.split(".")[0]) && message.length >= 48);
    expect(of(shop, "log").filter(isThere).length, "the search finds what is there").toBeGreaterThan(2);
    const secret = of(bank, "task", "done", "terms");
    expect(new Set(secret.map(({ subject }) => subject.split(".")[0])).size).toBe(3);
    expect(secret.filter(isThere)).toEqual([]);
    expect(of(shop, "terms").filter(isThere)).toEqual([]);
    const said = Buffer.from(JSON.stringify([bank.said, shop.said]));
    for (const where of [folder, said]) {
      for (const { message } of secret) expect(where.includes(Buffer.from(message.subarray(-24)))).toBe(false);
      for (const prime of [key.p, key.q]) {
        const bytes = Buffer.from(integerBytes(prime, 32));
        for (const text of [bytes, Buffer.from(bytes).reverse(), Buffer.from(prime.toString(16))])
          expect(where.includes(text)).toBe(false);
      }
    }
    expect(serialisePrivateKey(key)).toContain(key.p.toString(16)); // what the terms have
    const boards = [...of(bank, "epoch"), ...of(bank, "worker")].map(({ message }) => Buffer.from(message));
    for (const board of boards) expect(board.includes(Buffer.from(key.p.toString(16)))).toBe(false);
  });
});
