/** Faults of tasks: each has one result, which is its own; or the attempt ends with a known error. */
import { afterEach, expect, test } from "vitest";
import { TestCrew, testKey, type TestWorker } from "../../../test/support/crews.ts";
import { expectError } from "../../../test/support/expect-error.ts";
import { TandemError } from "../../base/error.ts";
import type { OpenTasks, TaskWork } from "../../scheme/tasks/tasks.ts";
import { CrewDoneSchema, CrewTaskTermsSchema } from "../../wire/generated/tandem/v1/crew_pb.ts";
import type { Engine, Epoch, HeardMessage, StoredMessage } from "../engine.ts";
import { SealedMessages } from "../sealed-messages.ts";
import { sealOf } from "../seal.ts";

const terms = Uint8Array.from({ length: 32 }, (_, i) => 40 + i);
const job = { scheme: "echo", terms };

let crew: TestCrew;
let made: number;
let done: number;
afterEach(() => crew.stop());

/** Returns its terms and task, and a number that is new each time. */
class Echo implements TaskWork {
  async do(task: Uint8Array): Promise<Uint8Array> {
    if (task[0] === 255) throw new TandemError("CIPHERTEXT_RANGE", "a task that begins with 255");
    await new Promise((resolve) => setImmediate(resolve));
    return Uint8Array.of(...task, done++ >> 8, done & 255);
  }
}

const task = async (given: Uint8Array): Promise<TaskWork> => {
  expect([...given]).toEqual([...terms]);
  made++;
  return new Echo();
};
const schemeNamed = (): { task: typeof task } => ({ task });

function workers(count: number, options: ConstructorParameters<typeof TestCrew>[0] = { seed: "tasks" }): TestWorker[] {
  crew = new TestCrew(options);
  [made, done] = [0, 0];
  return Array.from({ length: count }, (_, i) => crew.work(`w${i}`, { schemeNamed }));
}

const taskOf = (i: number): Uint8Array => Uint8Array.of(1, i & 255, i >> 8);

/** Many at once. @param at is called before each */
async function drive(tasks: OpenTasks, count = 150, at: (i: number) => void = () => {}): Promise<void> {
  const results = Array.from({ length: count }, (_, i) => {
    at(i);
    return tasks.run(taskOf(i));
  });
  const said = await Promise.all(results);
  expect(said.map((result) => [...result.subarray(0, 3)])).toEqual(said.map((_, i) => [...taskOf(i)]));
  expect(new Set(said.map((result) => result.join())).size, "no result is used twice").toBe(count);
}

const offered = (): number => crew.engine.epoch?.offered.size ?? 0;

test.each([1, 2, 3])("results are duplicated, delayed and reordered: seed %i", async (seed) => {
  const all = workers(3, { seed: `order ${seed}` });
  const tasks = await crew.crew({ workersMin: 3 }).openTasks(job);
  let most = 0;
  crew.engine.limits.onStored = () => (most = Math.max(most, offered()));
  await drive(tasks);
  expect(all.every(({ worker }) => worker.taskCount > 0)).toBe(true);
  expect(most, "not all are pending at once").toBeLessThan(150);
  expect(made, "each worker asks once").toBe(3);
  await tasks.close();
  expect(crew.engine.epoch?.isOver).toBe(true);
  expect(crew.engine.statusTable.has("epoch")).toBe(false);
});

test("a worker is killed, or suspended for longer than its lease: others run its tasks", async () => {
  const [first, second, third] = workers(3);
  const tasks = await crew.crew({ workersMin: 3 }).openTasks(job);
  const driven = drive(tasks);
  await crew.until(() => first.worker.taskCount > 5);
  first.kill();
  crew.clock.after(3000, second.connection.freeze());
  await driven;
  await drive(tasks);
  expect(third.worker.taskCount).toBeGreaterThan(100);
});

test("a worker that is asked to stop returns its tasks at once", async () => {
  const [first] = workers(2, {});
  const tasks = await crew.crew({ workersMin: 2 }).openTasks(job);
  const driven = drive(tasks);
  await crew.until(() => first.worker.taskCount > 5);
  const before = crew.clock.now();
  await first.stop();
  await driven;
  expect(crew.clock.now() - before, "less than a lease").toBeLessThan(1000);
});

test("all workers leave: WORKERS_MISSING after a while, and before a job; new workers continue", async () => {
  const [only] = workers(1);
  const party = crew.crew();
  const tasks = await party.openTasks(job);
  only.kill();
  const waiting = drive(tasks, 3);
  const from = crew.clock.now();
  await crew.until(() => crew.clock.now() > from + 10_000);
  const next = crew.work("next", { schemeNamed });
  await waiting;
  crew.events.length = 0;
  next.kill();
  await expectError(() => drive(tasks), "WORKERS_MISSING", /no task was done for 2\d s/);
  expect(party.failure?.code).toBe("WORKERS_MISSING");
  expect(crew.events.map(({ kind }) => kind)).toEqual(["waiting-for-workers", "epoch-lost"]);
  await expectError(() => tasks.run(taskOf(1)), "WORKERS_MISSING");
  await tasks.close();
  await expectError(() => party.ready(), "WORKERS_MISSING", /0 workers are available, 1 needed .*'tandem worker'/);
  expect(party.failure).toBeNull();
});

test("the engine forgets everything: ENGINE_LOST, and the next attempt continues with the same workers", async () => {
  workers(2);
  const party = crew.crew();
  const tasks = await party.openTasks(job);
  await drive(tasks, 10);
  const driven = drive(tasks);
  crew.engine.forget();
  await expectError(() => driven, "ENGINE_LOST", /has lost/);
  expect(party.failure?.code).toBe("ENGINE_LOST");
  await tasks.close();
  await party.ready();
  await drive(await party.openTasks(job));
  expect(party.failure).toBeNull();
});

test("the engine loses a task, or a result, that it had confirmed: ENGINE_LOST", async () => {
  const [only] = workers(1, {});
  const party = crew.crew();
  const tasks = await party.openTasks(job);
  await drive(tasks, 1);
  only.kill(); // no worker is left
  const driven = drive(tasks, 5);
  driven.catch(() => {}); // seen below
  await crew.until(() => offered() === 5);
  for (const one of [...(crew.engine.epoch?.offered ?? [])].slice(0, 2)) crew.engine.epoch?.offered.delete(one);
  await expectError(() => driven, "ENGINE_LOST", /has lost 2 of 5 tasks/);
});

/** An object with some methods replaced. */
function changed<T extends object>(object: T, methods: Partial<T>): T {
  const get = (target: T, name: string | symbol): unknown => {
    const value: unknown = Reflect.get(name in methods ? methods : target, name);
    return typeof value === "function" ? value.bind(target) : value;
  };
  return new Proxy(object, { get });
}

test("an engine that has results but sends none is queried again", async () => {
  workers(1, {});
  const engine = crew.engine.connect();
  let follows = 0;
  const begin = async (name: string): Promise<Epoch> => {
    const epoch = await engine.begin(name);
    async function* follow(...given: Parameters<Epoch["follow"]>): AsyncGenerator<StoredMessage> {
      follows++;
      let sent = 0;
      for await (const message of epoch.follow(...given)) if (follows > 1 || ++sent < 20) yield message;
    }
    return changed<Epoch>(epoch, { follow });
  };
  await drive(await crew.crew({ engine: changed<Engine>(engine, { begin }) }).openTasks(job));
  expect(follows).toBe(2);
});

test("an attempt that begins during the clean-up of the previous one stays in the status table", async () => {
  workers(1, {});
  const engine = crew.engine.connect();
  const { statusTable } = engine;
  const remove = async (key: string): Promise<void> => {
    await new Promise<void>((resolve) => void crew.clock.after(3000, resolve));
    await statusTable.remove(key);
  };
  const party = crew.crew({ engine: changed<Engine>(engine, { statusTable: { ...statusTable, remove } }) });
  const older = await party.openTasks(job);
  await drive(older, 5);
  void older.close();
  const tasks = await party.openTasks(job);
  await drive(tasks, 5);
  const from = crew.clock.now();
  await crew.until(() => crew.clock.now() > from + 5000);
  expect(crew.engine.statusTable.has("epoch")).toBe(true);
  await drive(tasks, 5);
});

test("a full engine makes the party wait; one that stays full ends the attempt: ENGINE_FULL", async () => {
  workers(1, {});
  const tasks = await crew.crew().openTasks(job);
  crew.engine.limits.bytesMax = 0;
  const driven = drive(tasks, 3);
  const from = crew.clock.now();
  await crew.until(() => crew.clock.now() > from + 5000);
  crew.engine.limits.bytesMax = Infinity;
  await driven;
  crew.engine.limits.bytesMax = 0;
  await expectError(() => drive(tasks), "ENGINE_FULL", /no room/);
});

test("the error of a worker is reported, and the next task succeeds", async () => {
  workers(2);
  const tasks = await crew.crew().openTasks(job);
  await expectError(() => tasks.run(Uint8Array.of(255)), "CIPHERTEXT_RANGE", /^a task that begins with 255$/);
  await drive(tasks, 3);
});

test("a worker that cannot run tasks reports it, and leaves them to others", async () => {
  workers(1, {});
  const broken = crew.work("broken", { schemeNamed: () => ({ task: () => Promise.reject(new Error("no memory")) }) });
  const tasks = await crew.crew({ workersMin: 2 }).openTasks(job);
  await drive(tasks);
  await crew.until(() => broken.troubles.length > 0);
  expect(broken.troubles).toEqual(["a worker failed; its own log says why"]);
  expect(broken.worker.taskCount).toBe(0);
});

test("a party that is silent for long: its worker discards the terms, and requests them again", async () => {
  workers(1, {});
  const tasks = await crew.crew().openTasks(job);
  await drive(tasks, 3);
  const from = crew.clock.now();
  await crew.until(() => crew.clock.now() > from + 70_000);
  await drive(tasks, 3);
  expect(made).toBe(2);
});

test("foreign messages are ignored: junk, results under other subjects or of an older epoch", async () => {
  const all = workers(2);
  const party = crew.crew();
  const older = await party.openTasks(job);
  const copies: Uint8Array[] = [];
  crew.engine.limits.onStored = () => copies.push(...(crew.engine.epoch?.messages ?? []).map(({ message }) => message));
  await drive(older, 20);
  await older.close();
  const tasks = await party.openTasks(job);
  const meddler = await crew.engine.connect().join(crew.engine.epoch?.name ?? "");
  const forged = new SealedMessages(sealOf(testKey, "another epoch"));
  const put = async (): Promise<void> => {
    for (const message of [Uint8Array.of(1), new Uint8Array(100), ...copies.slice(0, 8), ...copies.slice(-8)])
      for (const id of [1, 5, 30, 9999]) await meddler?.append(`done.${id}`, message);
    await meddler?.append("done.7", forged.seal(CrewDoneSchema, "done.7", { id: 7, result: Uint8Array.of(1, 1, 1) }));
    await meddler?.offer("task", Uint8Array.of(1));
    const stolen = forged.seal(CrewTaskTermsSchema, "terms.w0", { scheme: "echo", terms: Uint8Array.of(6) });
    for (const message of [Uint8Array.of(1), stolen])
      for (const subject of ["terms.w0", "terms.w1", "terms-wanted"]) meddler?.say(subject, message);
  };
  await put();
  const driven = drive(tasks, 60);
  await put();
  await driven;
  expect(all.flatMap(({ troubles }) => troubles)).toEqual([]);
});

test("terms are sent on request and never stored; crew.key alone decrypts neither them nor tasks", async () => {
  workers(2, {});
  const kept: { readonly subject: string; readonly message: Uint8Array }[] = [];
  const keep = (): void => {
    const { messages = [], offered: queued = [] } = crew.engine.epoch ?? {};
    for (const { message } of queued) kept.push({ subject: "task", message });
    kept.push(...messages);
  };
  crew.engine.limits.onStored = keep;
  const tasks = await crew.crew({ workersMin: 2 }).openTasks(job);
  const { epoch } = crew.engine;
  const received: HeardMessage[] = [];
  epoch?.ears.add((message) => received.push(message));
  await drive(tasks);
  expect(new Set(kept.map(({ subject }) => subject.split(".")[0]))).toEqual(new Set(["done", "task"]));
  expect(new Set(received.map(({ subject }) => subject))).toEqual(new Set(["terms-wanted", "terms.w0", "terms.w1"]));
  const seal = sealOf(testKey, epoch?.name ?? "");
  for (const { subject, message } of kept) expect(() => seal.open(subject, message)).toThrow(/cannot be decrypted/);
  for (const { subject, message } of received)
    expect(Buffer.from(seal.open(subject, message)).includes(Buffer.from(terms))).toBe(false);
});
