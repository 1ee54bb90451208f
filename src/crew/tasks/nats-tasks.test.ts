/** A bank and a shop with workers over a real server: the same model, and no data of the bank on the server's disk.
 * */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { scratchDirectory } from "../../../test/support/command.ts";
import { trainFederated, trainInOnePlace } from "../../../test/support/in-memory-job.ts";
import { hasNatsServer, type NatsServer, startNatsServer } from "../../../test/support/nats-server.ts";
import { randomTable } from "../../../test/support/tables.ts";
import { diskStorage } from "../../base/files/storage.ts";
import { generateKey, selectKernel } from "../../crypto/paillier/index.ts";
import { integerBytes } from "../../crypto/integers.ts";
import { firstDifference } from "../../gbdt/tree/model-compare.ts";
import { PaillierActive } from "../../scheme/paillier/active.ts";
import { paillier } from "../../scheme/paillier/paillier.ts";
import { schemeNamed } from "../../scheme/registry.ts";
import { BlockFiles } from "../block-files.ts";
import type { Engine, Epoch } from "../engine.ts";
import { openNatsEngine } from "../nats-engine.ts";
import { RemoteCrew } from "../remote-crew.ts";
import { sealOf } from "../seal.ts";
import { Worker, type WorkerOptions } from "../worker.ts";

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

interface Sent {
  readonly subject: string;
  readonly message: Uint8Array;
}

/** One company's party and its workers; records what they send, and which terms workers receive. */
class Company {
  readonly sent: Sent[] = [];
  readonly secrets: Uint8Array[] = [];
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
      keeping: isParty ? { store: "file", replicas: 1, leaseMs, statusMs: 3000 } : undefined,
    });
    opened.push(engine);
    const { statusTable } = engine;
    return changed<Engine>(engine, {
      statusTable: changed(statusTable, {
        put: (key, message, lasting) => {
          this.sent.push({ subject: `board.${key}`, message });
          return statusTable.put(key, message, lasting);
        },
      }),
      begin: async (epoch, inMemory) => this.#noted(await engine.begin(epoch, inMemory)),
      join: async (epoch) => {
        const joined = await engine.join(epoch);
        return joined && this.#noted(joined);
      },
    });
  }

  #noted(epoch: Epoch): Epoch {
    const note = (subject: string, message: Uint8Array): void => void this.sent.push({ subject, message });
    return changed(epoch, {
      append: (subject, message) => {
        note(subject, message);
        return epoch.append(subject, message);
      },
      offer: (queue, message) => {
        note(queue, message);
        return epoch.offer(queue, message);
      },
      say: (subject, message) => {
        note(subject, message);
        epoch.say(subject, message);
      },
    });
  }

  /** The scheme's task work, with recording. */
  readonly #schemeNamed: WorkerOptions["schemeNamed"] = (name) => {
    const { task, ...others } = schemeNamed(name);
    return {
      ...others,
      task: async (terms, options) => {
        const work = await task?.(terms, options);
        if (work === undefined) throw new Error("a scheme with tasks");
        this.secrets.push(terms);
        const doing = async (given: Uint8Array): Promise<Uint8Array> => {
          const result = await work.do(given);
          this.secrets.push(given, result);
          return result;
        };
        return { do: doing };
      },
    };
  };

  async crew(): Promise<RemoteCrew> {
    const engine = await this.#engine(`${this.#name}-party`, true);
    const crewKey = new Uint8Array(32).fill(this.#name.charCodeAt(0));
    const common = { sealOf: (epoch: string) => sealOf(crewKey, epoch), files: this.#files, version: "1" };
    for (const id of ["w1", "w2"]) {
      const worker = new Worker({
        ...common,
        id,
        engine: await this.#engine(`${this.#name}-worker`, false),
        threads: 1,
        schemeNamed: this.#schemeNamed,
        onTrouble: (...trouble) => this.said.push(trouble),
      });
      this.workers.push(worker);
      running.push(worker.run(stop.signal));
    }
    const on = (event: unknown): void => void this.said.push(event);
    return new RemoteCrew({ ...common, engine, leaseMs, blockRows: 32, workersMin: 2, patienceMs: 30_000, on });
  }
}

/** An object with some of its methods replaced. */
function changed<T extends object>(object: T, methods: Partial<T>): T {
  return new Proxy(object, {
    get(target, name) {
      if (name in methods) return Reflect.get(methods, name) as unknown;
      const value: unknown = Reflect.get(target, name);
      return typeof value === "function" ? (value.bind(target) as unknown) : value;
    },
  });
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
      activeScheme: (...given) => new PaillierActive(given[0], given[1], 1, given[2], never, undefined, bankCrew),
      passiveScheme: () => paillier.passive({ threads: 1, crew: shopCrew }),
    });
    expect(firstDifference(model, await trainInOnePlace(job))).toBeNull();
    expect([bank, shop].map(({ workers }) => workers.some(({ taskCount }) => taskCount > 0))).toEqual([true, true]);

    const folder = Buffer.concat(folders);
    const isThere = ({ message }: Sent): boolean => folder.includes(Buffer.from(message.subarray(0, 48)));
    const of = ({ sent }: Company, ...kinds: string[]): Sent[] =>
      sent.filter(({ subject, message }) => kinds.includes(subject.split(".")[0]) && message.length >= 48);
    expect(of(shop, "log").filter(isThere).length, "the search finds what is there").toBeGreaterThan(2);
    const sealed = of(bank, "task", "done", "terms");
    expect(new Set(sealed.map(({ subject }) => subject.split(".")[0])).size).toBe(3);
    expect([...sealed, ...of(shop, "terms")].filter(isThere)).toEqual([]);
    expect(bank.secrets.length).toBeGreaterThan(10);
    const said = Buffer.from(JSON.stringify([bank.said, shop.said]));
    for (const where of [folder, said]) {
      for (const secret of bank.secrets) expect(where.includes(Buffer.from(secret.subarray(-24)))).toBe(false);
      for (const prime of [key.p, key.q]) {
        const bytes = Buffer.from(integerBytes(prime, 32));
        for (const text of [bytes, Buffer.from(bytes).reverse(), Buffer.from(prime.toString(16))])
          expect(where.includes(text)).toBe(false);
      }
    }
    const prime = Buffer.from(key.p.toString(16));
    expect(bank.secrets.some((secret) => Buffer.from(secret).includes(prime))).toBe(true); // workers received it
    const sentByBank = Buffer.concat(bank.sent.map(({ message }) => message));
    expect(sentByBank.includes(prime), "nor in the status table, nor in transit").toBe(false);
  });
});
