/** The contract of an engine: the same tests for every implementation. */
import { setTimeout as pause } from "node:timers/promises";
import { expect, test } from "vitest";
import {
  type Engine,
  type Epoch,
  type Lease,
  messageBytesMax,
  resultsKept,
  type StoredMessage,
} from "../../src/crew/engine.ts";
import { expectError } from "./expect-error.ts";

/** One crew on one engine. */
export interface EngineWorld {
  readonly leaseMs: number;
  /** For how long a worker's line stays in the status table. */
  readonly statusMs: number;
  party(): Promise<Engine>;
  worker(): Promise<Engine>;
}

const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);
const bytes = (words: string): Uint8Array => new TextEncoder().encode(words);

let epochCount = 0;

/** Within a `describe`. @param open the same world for all tests: an epoch each is enough */
export function engineContract(open: () => Promise<EngineWorld>): void {
  async function begun(): Promise<{ world: EngineWorld; party: Engine; worker: Engine; mine: Epoch; theirs: Epoch }> {
    const world = await open();
    const [party, worker] = await Promise.all([world.party(), world.worker()]);
    const mine = await party.begin(`e${epochCount++}`);
    const theirs = await worker.join(mine.name);
    if (theirs === null) throw new Error("an epoch that has begun can be joined");
    return { world, party, worker, mine, theirs };
  }

  test("what is stored is followed, and then what is still to come, from any position", async () => {
    const { mine, theirs } = await begun();
    await mine.append("log.0", bytes("a"));
    await mine.append("log.1", bytes("of another block"));
    await mine.append("log.0", bytes("b"));
    const reading = firstOf(theirs, "log.0", -1, 3);
    await mine.append("log.0", bytes("c"));
    const read = await reading;
    expect(read.map(({ message }) => text(message))).toEqual(["a", "b", "c"]);
    expect(read.every(({ subject }) => subject === "log.0")).toBe(true);
    expect(read[0].position).toBeLessThan(read[1].position);
    const later = await firstOf(theirs, "log.0", read[0].position, 2);
    expect(later.map(({ message }) => text(message))).toEqual(["b", "c"]);
    const all = await firstOf(theirs, "log.>", -1, 4);
    expect(all.map(({ subject }) => subject).toSorted()).toEqual(["log.0", "log.0", "log.0", "log.1"]);
  });

  test("many unconfirmed messages all arrive", async () => {
    const { mine, theirs } = await begun();
    const words = Array.from({ length: 60 }, (_, i) => `m${i}`);
    await Promise.all(words.map((word) => theirs.append(`sum.0.${word}`, bytes(word))));
    const read = await firstOf(mine, "sum.>", -1, words.length);
    expect(read.map(({ message }) => text(message)).toSorted()).toEqual(words.toSorted());
    expect(await mine.stored("sum.>")).toBe(words.length);
  });

  test("the longest message passes, and a longer one is an assertion failure", async () => {
    const { mine, theirs } = await begun();
    const longest = new Uint8Array(messageBytesMax).fill(7);
    await mine.append("log.0", longest);
    const [{ message }] = await firstOf(theirs, "log.0", -1, 1);
    expect(Buffer.compare(message, longest)).toBe(0);
    const longer = new Uint8Array(messageBytesMax + 1);
    await expectError(async () => mine.append("log.0", longer), "INTERNAL", /1 MB/);
    await expectError(async () => mine.offer("hold", longer), "INTERNAL", /1 MB/);
    await expectError(async () => mine.say("held.0", longer), "INTERNAL", /1 MB/);
  });

  test("purged messages are gone, and positions continue", async () => {
    const { mine, theirs } = await begun();
    await mine.append("log.0", bytes("a"));
    await mine.append("log.1", bytes("b"));
    const [{ position }] = await firstOf(theirs, "log.0", -1, 1);
    expect([await mine.stored("log.>"), await mine.stored("log.0"), await mine.stored("sum.>")]).toEqual([2, 1, 0]);
    await mine.purge("log.0");
    expect([await mine.stored("log.>"), await mine.stored("log.0")]).toEqual([1, 0]);
    await mine.append("log.0", bytes("c"));
    const [next] = await firstOf(theirs, "log.0", position, 1);
    expect(text(next.message)).toBe("c");
    expect(next.position).toBeGreaterThan(position);
    await mine.purge("log.>");
    expect(await mine.stored("log.>")).toBe(0);
  });

  test("an offer has one holder at a time, for as long as it renews its lease", async () => {
    const { world, mine, theirs } = await begun();
    await mine.offer("hold", bytes("block 0"));
    const held = await taken(theirs, "hold");
    expect([text(held.message), held.deliveries]).toEqual(["block 0", 1]);
    const other = new AbortController();
    const waiting = mine.take("hold", other.signal);
    const renewed = async (times: number): Promise<void> => {
      for (let i = 0; i < times; i++) {
        await pause(world.leaseMs / 4);
        held.renew();
      }
    };
    await renewed(6);
    other.abort();
    expect(await waiting, "it was held all the time").toBeNull();
    // An engine may remember for a while who has asked: were the lease over by then, it would count that one too.
    await renewed(10);
    const next = await taken(mine, "hold");
    expect([text(next.message), next.deliveries], "after the lease").toEqual(["block 0", 2]);
    await next.done();
    await expectNothing(theirs, "hold", world.leaseMs * 1.5);
  });

  test("a returned offer goes to the next worker at once", async () => {
    const { world, mine, theirs } = await begun();
    await mine.offer("hold", bytes("block 0"));
    await mine.offer("hold", bytes("block 1"));
    const [one, two] = [await taken(theirs, "hold"), await taken(theirs, "hold")];
    expect([text(one.message), text(two.message)].toSorted()).toEqual(["block 0", "block 1"]);
    const beat = setInterval(() => two.renew(), world.leaseMs / 4);
    one.giveBack();
    const again = await taken(mine, "hold");
    clearInterval(beat);
    expect([text(again.message), again.deliveries]).toEqual([text(one.message), 2]);
    await Promise.all([two.done(), again.done()]);
  });

  test("queues are apart", async () => {
    const { world, mine, theirs } = await begun();
    await mine.offer("hold", bytes("block 0"));
    await mine.offer("task.pack", bytes("task 0"));
    const task = await taken(theirs, "task.pack");
    expect(text(task.message)).toBe("task 0");
    await task.done();
    await expectNothing(theirs, "task.pack", world.leaseMs / 4);
  });

  test("tasks are counted until they are done, and many are out at a time", async () => {
    const { mine, theirs } = await begun();
    const words = Array.from({ length: 12 }, (_, i) => `t${i}`);
    await Promise.all(words.map((word) => mine.offer("task", bytes(word))));
    await mine.offer("hold", bytes("block 0"));
    expect([await mine.offered("task"), await mine.offered("hold")]).toEqual([12, 1]);
    const leases = await Promise.all(words.map(() => taken(theirs, "task")));
    expect(leases.map(({ message }) => text(message)).toSorted()).toEqual(words.toSorted());
    expect(await mine.offered("task"), "who has one has not done it").toBe(12);
    await Promise.all(leases.slice(0, 5).map((lease) => lease.done()));
    await theirs.append("done.0", bytes("a result"));
    expect([await mine.offered("task"), await mine.stored("done.>")]).toEqual([7, 1]);
    await mine.end();
    await expectError(() => mine.offered("task"), "ENGINE_LOST");
    await expectError(() => mine.offer("task", bytes("late")), "ENGINE_LOST");
    await expectError(() => theirs.take("task", AbortSignal.timeout(5000)), "ENGINE_LOST");
  });

  test("of results the last ones are kept, and followed without a gap", async () => {
    const { mine, theirs } = await begun();
    const stop = new AbortController();
    const read: number[] = [];
    const reading = (async () => {
      for await (const { subject } of mine.follow("done.>", -1, stop.signal)) read.push(Number(subject.slice(5)));
    })();
    const count = resultsKept + 60;
    for (let first = 0; first < count; first += 20) {
      const some = Array.from({ length: Math.min(20, count - first) }, (_, i) => first + i);
      await Promise.all(some.map((id) => theirs.append(`done.${id}`, bytes("r"))));
      while (read.length < first + some.length) await pause(2);
    }
    expect(new Set(read).size).toBe(count);
    expect(await mine.stored("done.>")).toBe(resultsKept);
    stop.abort();
    await reading;
  });

  test("an epoch in memory does what others do", async () => {
    const { party, worker } = await begun();
    const mine = await party.begin(`e${epochCount++}`, true);
    const theirs = await worker.join(mine.name);
    await mine.offer("task", bytes("task 0"));
    if (theirs === null) throw new Error("an epoch that has begun can be joined");
    await theirs.append("done.0", bytes("a result"));
    expect(text((await firstOf(mine, "done.>", -1, 1))[0].message)).toBe("a result");
    await (await taken(theirs, "task")).done();
    await mine.end();
  });

  test("broadcasts reach current listeners only", async () => {
    const { mine, theirs } = await begun();
    const stop = new AbortController();
    const [held, all] = [theirs.hear("held.3", stop.signal), theirs.hear("held.>", stop.signal)];
    await pause(100); // a question takes its way
    mine.say("held.2", bytes("x"));
    mine.say("held.3", bytes("y"));
    const received = async (messages: typeof all, count: number): Promise<string[]> => {
      const seen: string[] = [];
      for await (const { subject, message } of messages) {
        seen.push(`${subject} ${text(message)}`);
        if (seen.length === count) break;
      }
      return seen;
    };
    expect(await received(held, 1)).toEqual(["held.3 y"]);
    expect(await received(all, 2)).toEqual(["held.2 x", "held.3 y"]);
    stop.abort();
    const ended = new AbortController();
    const late = theirs.hear("held.>", ended.signal);
    setTimeout(() => ended.abort(), 100);
    expect(await received(late, 1)).toEqual([]);
  });

  test("the status table shows lasting entries, and workers seen recently", async () => {
    const { world, party, worker } = await begun();
    await party.statusTable.put("epoch", bytes("e1"), true);
    await worker.statusTable.put("worker.w1", bytes("2 threads"));
    await worker.statusTable.put("worker.w2", bytes("4 threads"));
    await worker.statusTable.put("worker.w2", bytes("8 threads"));
    const shown = async (engine: Engine): Promise<string[]> =>
      [...(await engine.statusTable.entries())].map(([key, value]) => `${key} ${text(value)}`).toSorted();
    const everything = ["epoch e1", "worker.w1 2 threads", "worker.w2 8 threads"];
    expect(await shown(party)).toEqual(everything);
    expect(await shown(worker)).toEqual(everything);
    await worker.statusTable.remove("worker.w1");
    await worker.statusTable.remove("worker.w7");
    expect(await shown(party)).toEqual(["epoch e1", "worker.w2 8 threads"]);
    await pause(world.statusMs * 1.6);
    expect(await shown(party)).toEqual(["epoch e1"]);
    await party.statusTable.put("epoch", bytes("e2"), true);
    expect(await shown(worker)).toEqual(["epoch e2"]);
    await party.statusTable.remove("epoch");
    expect(await shown(worker)).toEqual([]);
  });

  test("an epoch ends with the next, or by itself, and says that it is no more", async () => {
    const { party, worker, mine, theirs } = await begun();
    await mine.append("log.0", bytes("a"));
    await mine.offer("hold", bytes("block 0"));
    const next = await party.begin(`e${epochCount++}`);
    expect(await worker.join(mine.name)).toBeNull();
    await expectError(() => mine.append("log.0", bytes("b")), "ENGINE_LOST");
    await expectError(() => theirs.append("sum.0", bytes("b")), "ENGINE_LOST");
    await expectError(() => mine.stored("log.>"), "ENGINE_LOST");
    expect(await next.stored("log.>")).toBe(0);
    await next.append("log.0", bytes("c"));
    await next.end();
    expect(await worker.join(next.name)).toBeNull();
    await expectError(() => next.stored("log.>"), "ENGINE_LOST");
    await next.end();
  });
}

/** The first messages, doubles left out. */
async function firstOf(epoch: Epoch, filter: string, after: number, count: number): Promise<StoredMessage[]> {
  const stop = new AbortController();
  const seen = new Map<number, StoredMessage>();
  for await (const message of epoch.follow(filter, after, stop.signal)) {
    seen.set(message.position, message);
    if (seen.size === count) break;
  }
  stop.abort();
  return [...seen.values()];
}

async function taken(epoch: Epoch, queue: string): Promise<Lease> {
  const lease = await epoch.take(queue, new AbortController().signal);
  if (lease === null) throw new Error("nothing was taken, and the signal was not aborted");
  return lease;
}

async function expectNothing(epoch: Epoch, queue: string, waitMs: number): Promise<void> {
  expect(await epoch.take(queue, AbortSignal.timeout(waitMs))).toBeNull();
}
