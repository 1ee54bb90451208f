/** Faults of workers and engine: answers equal those of one process, or the attempt ends with a known error. */
import { createHash } from "node:crypto";
import { afterEach, expect, test } from "vitest";
import { TestCrew, type TestWorker } from "../../test/support/crews.ts";
import { expectError } from "../../test/support/expect-error.ts";
import type { LineFault, LineTrouble } from "../../test/world/crews/memory-lines.ts";
import { TandemError } from "../base/error.ts";
import { SeededRandom } from "../base/random.ts";
import { type Answer, type BlockData, type BlockWork, bytesAnswer, type Entry } from "../scheme/blocks/block.ts";
import type { Blocks } from "../scheme/blocks/crew.ts";
import { EmbeddedCrew } from "../scheme/blocks/embedded-crew.ts";
import { sealOf } from "./seal.ts";

/** Answers with a digest of all its input, so that losses, duplicates and reordering are detected. */
class Echo implements BlockWork {
  readonly #data: BlockData;
  #entries: string[] = [];

  constructor(data: BlockData) {
    this.#data = data;
  }

  begin(): void {
    this.#entries = [];
  }

  async take({ head, payload }: Entry): Promise<void> {
    if (payload[0] === 255) throw new TandemError("CIPHERTEXT_RANGE", "a payload that begins with 255");
    this.#entries.push(digestOf(head), digestOf(payload));
  }

  async answer({ head }: Entry): Promise<Answer> {
    const { terms, firstRow, columns } = this.#data;
    const bins = columns.bins.map((column) => column.join(" "));
    const said = digestOf(JSON.stringify([digestOf(terms), firstRow, bins, this.#entries, digestOf(head)]));
    // Longer than one message.
    return bytesAnswer(Buffer.from(said.repeat(head.length > 1 ? 20_000 : 1)));
  }
}

const digestOf = (value: string | Uint8Array): string => createHash("sha256").update(value).digest("hex");
const schemeNamed = (): { block: (data: BlockData) => BlockWork } => ({ block: (data) => new Echo(data) });
const rowCount = 30;
const job = {
  scheme: "echo",
  terms: Uint8Array.of(1, 2, 3),
  rowCount,
  columns: {
    bins: [3, 300].map((bins) => Uint16Array.from({ length: rowCount }, (_, i) => (i * i) % bins)),
    binCounts: Uint32Array.of(3, 300),
  },
};
const entry = (...payload: number[]): Entry => ({ head: Uint8Array.of(1), payload: Uint8Array.from(payload) });

/** Two rounds of entries and questions. @param at is called in the middle of each */
async function drive(blocks: Blocks, at: (place: string) => unknown = () => {}): Promise<string[]> {
  const said: string[] = [];
  const count = blocks.bounds.length - 1;
  for (let round = 0; round < 2; round++) {
    await blocks.begin();
    for (let step = 0; step < 3; step++) {
      for (let i = 0; i < 6; i++)
        for (let block = 0; block < count; block++) await blocks.append(block, entry(i, step));
      await at(`${round} loading ${step}`);
      const asked = blocks.ask(Array.from({ length: count }, (_, block) => (block === step ? null : entry())));
      asked.catch(() => {}); // seen below
      await at(`${round} asking ${step}`);
      const answers = await asked;
      for (const answer of answers) said.push(answer === null ? "" : Buffer.from(await answer.bytes()).toString());
    }
  }
  return said;
}

const expected = async (): Promise<string[]> => drive(await new EmbeddedCrew((data) => new Echo(data), 7).open(job));

let crew: TestCrew;
afterEach(() => crew.stop());

function workers(count: number, options: ConstructorParameters<typeof TestCrew>[0] = { seed: "faults" }): TestWorker[] {
  crew = new TestCrew(options);
  return Array.from({ length: count }, (_, i) => crew.work(`w${i}`, { schemeNamed }));
}

test.each([1, 2, 3])("messages are duplicated and reordered: seed %i", async (seed) => {
  const all = workers(3, { seed: `order ${seed}` });
  const blocks = await crew.crew({ workersMin: 3 }).open(job);
  expect(await drive(blocks)).toEqual(await expected());
  await crew.until(() => all.every(({ worker }) => worker.blockCount > 0));
  expect(all.map(({ worker }) => worker.blockCount).toSorted((a, b) => a - b)).toEqual([1, 2, 2]);
  await blocks.close();
  await crew.until(() => all.every(({ worker }) => worker.blockCount === 0));
  expect(crew.disk.paths).toEqual([]);
  expect(crew.engine.epoch?.isOver).toBe(true);
});

test.each(["0 loading 0", "0 asking 1", "1 loading 2", "1 asking 2"])("a worker is killed at %s", async (place) => {
  const [first] = workers(2);
  const blocks = await crew.crew({ workersMin: 2 }).open(job);
  const said = await drive(blocks, async (at) => {
    if (at !== place) return;
    await crew.until(() => first.worker.blockCount > 0);
    first.kill();
  });
  expect(said).toEqual(await expected());
  expect(crew.moves).toBeGreaterThan(0);
});

test("a worker that is suspended for longer than its lease drops blocks that others have taken", async () => {
  const all = workers(2);
  const [first] = all;
  const blocks = await crew.crew({ workersMin: 2 }).open(job);
  let thaw = (): void => {};
  const said = await drive(blocks, async (at) => {
    if (at === "0 loading 1") await crew.until(() => first.worker.blockCount > 0);
    if (at === "0 loading 1") thaw = first.connection.freeze();
    if (at === "1 loading 1") thaw();
  });
  expect(said).toEqual(await expected());
  expect(crew.moves).toBeGreaterThan(0);
  await crew.until(() => all.reduce((sum, { worker }) => sum + worker.blockCount, 0) === 5);
});

test("all workers leave, and others join", async () => {
  const all = workers(2);
  const blocks = await crew.crew({ workersMin: 2 }).open(job);
  const said = await drive(blocks, (at) => {
    if (at !== "0 asking 1") return;
    for (const worker of all) worker.kill();
    crew.work("new", { schemeNamed });
  });
  expect(said).toEqual(await expected());
});

test("all workers leave: WORKERS_MISSING after a while; the same with too few before a job", async () => {
  const [only] = workers(1);
  const blocks = await crew.crew().open(job);
  await expectError(
    () => drive(blocks, (at) => (at === "0 loading 1" ? only.kill() : null)),
    "WORKERS_MISSING",
    /no worker holds block/,
  );
  await blocks.close();
  await expectError(
    () => crew.crew().open(job),
    "WORKERS_MISSING",
    /0 workers are available, 1 needed .*'tandem worker'/,
  );
});

test("a party may be idle for longer than its patience", async () => {
  const [only] = workers(1);
  const blocks = await crew.crew({ patienceMs: 3000 }).open(job);
  const said = await drive(blocks, async (at) => {
    const from = crew.clock.now();
    if (at === "0 loading 1") await crew.until(() => crew.clock.now() > from + 10_000);
    if (at === "0 loading 1") crew.clock.after(2500, only.connection.freeze()); // long enough for it to be asked for
  });
  expect(said).toEqual(await expected());
});

test("a worker that is asked to stop returns its blocks at once", async () => {
  const [first] = workers(2, {});
  const blocks = await crew.crew({ workersMin: 2 }).open(job);
  let before = 0;
  const said = await drive(blocks, async (at) => {
    if (at !== "1 loading 0") return;
    await crew.until(() => first.worker.blockCount > 0);
    before = crew.clock.now();
    await first.stop();
    await blocks.ask(Array.from({ length: 5 }, () => entry()));
    expect(crew.clock.now() - before).toBeLessThan(1000); // the clock's own milliseconds: less than a lease
  });
  expect(said).toEqual(await expected());
});

test("the engine forgets everything: ENGINE_LOST, and the next attempt continues with the same workers", async () => {
  workers(2);
  const party = crew.crew();
  const blocks = await party.open(job);
  await expectError(
    () => drive(blocks, (at) => (at === "1 asking 0" ? crew.engine.forget() : null)),
    "ENGINE_LOST",
    /has lost/,
  );
  await blocks.close();
  await expectError(() => blocks.append(0, entry(1)), "ENGINE_LOST");
  expect(await drive(await party.open(job))).toEqual(await expected());
});

test("the engine loses confirmed messages: ENGINE_LOST", async () => {
  const [only] = workers(1, {});
  const blocks = await crew.crew().open(job);
  const lose = (at: string): void => {
    if (at === "0 loading 1") only.kill();
    if (at === "0 asking 1") crew.engine.epoch?.messages.splice(3, 1);
  };
  await expectError(() => drive(blocks, lose), "ENGINE_LOST", /has lost 1 of/);
});

test("a full engine makes the party wait; one that stays full ends the attempt: ENGINE_FULL", async () => {
  workers(1, {});
  const blocks = await crew.crew().open(job);
  crew.engine.limits.bytesMax = 0;
  const driven = drive(blocks);
  const before = crew.clock.now();
  await crew.until(() => crew.clock.now() > before + 5000);
  expect(crew.events.filter(({ kind }) => kind === "engine-awaited")).toEqual([
    { kind: "engine-awaited", why: expect.stringMatching(/no room/) as string },
  ]);
  crew.engine.limits.bytesMax = Infinity;
  expect(await driven).toEqual(await expected());
  crew.engine.limits.bytesMax = 0;
  await expectError(() => drive(blocks), "ENGINE_FULL", /no room/);
});

test("the remains of an older attempt are deleted, and its party detects it", async () => {
  workers(1);
  const older = await crew.crew().open(job);
  await older.begin();
  const newer = await crew.crew().open(job);
  expect(await drive(newer)).toEqual(await expected());
  await expectError(() => drive(older), "ENGINE_LOST");
  await older.close();
  expect(crew.disk.paths.filter((path) => path.endsWith(".bins"))).toHaveLength(newer.bounds.length - 1);
  expect(await drive(newer)).toEqual(await expected());
});

test("an attempt that waits for workers gives way to the next", async () => {
  workers(0);
  const party = crew.crew();
  const older = expectError(() => party.open(job), "PROTOCOL_STATE", /another attempt has begun/);
  const newer = party.open(job);
  await older;
  crew.work("late", { schemeNamed });
  expect(await drive(await newer)).toEqual(await expected());
});

test("an error of a block is returned to every question until the next round", async () => {
  workers(2);
  const blocks = await crew.crew().open(job);
  await blocks.begin();
  await blocks.append(3, entry(255));
  await blocks.append(3, entry(1));
  const all = Array.from({ length: 5 }, () => entry());
  for (let i = 0; i < 2; i++)
    await expectError(() => blocks.ask(all), "CIPHERTEXT_RANGE", /^a payload that begins with 255$/);
  await blocks.ask(all.map((question, block) => (block === 3 ? null : question)));
  expect(await drive(blocks)).toEqual(await expected());
});

test("entries and answers longer than one message", async () => {
  workers(1);
  const embedded = await new EmbeddedCrew((data) => new Echo(data), 7).open(job);
  const long = { head: Uint8Array.of(1, 1), payload: new Uint8Array(1_200_000).fill(9) };
  const answersOf = async (blocks: Blocks): Promise<string> => {
    await blocks.begin();
    await blocks.append(0, long);
    const [answer] = await blocks.ask([long, null, null, null, null]);
    return Buffer.from((await answer?.bytes()) ?? []).toString();
  };
  const said = await answersOf(await crew.crew().open(job));
  expect(said.length).toBeGreaterThan(1_000_000);
  expect(said).toBe(await answersOf(embedded));
});

test("a worker of another version, or with another key, takes no blocks and says why", async () => {
  workers(0);
  const other = crew.work("other", { schemeNamed, version: "2" });
  const outsider = crew.work("outsider", {
    schemeNamed,
    sealOf: (epoch) => sealOf(new Uint8Array(32).fill(8), epoch),
  });
  await expectError(() => crew.crew().open(job), "WORKERS_MISSING", /a different crew.key/);
  const able = crew.work("able", { schemeNamed });
  const blocks = await crew.crew().open(job);
  expect(await drive(blocks)).toEqual(await expected());
  expect(other.troubles).toContain("a worker has version 2 of Tandem, its party 1");
  expect(outsider.troubles.join()).toMatch(/a different crew.key/);
  expect([other, outsider, able].map(({ worker }) => worker.blockCount)).toEqual([0, 0, 5]);
});

test("a worker with another key that joins first does not block the others", async () => {
  workers(0);
  const outsider = crew.work("outsider", {
    schemeNamed,
    sealOf: (epoch) => sealOf(new Uint8Array(32).fill(8), epoch),
  });
  const able = crew.work("able", { schemeNamed });
  await crew.until(() => able.troubles.length > 0 && outsider.troubles.length > 0);
  const since = crew.clock.now();
  await crew.until(() => crew.clock.now() > since + 2000); // its entry is written again meanwhile
  expect(await drive(await crew.crew().open(job))).toEqual(await expected());
  expect([outsider, able].map(({ worker }) => worker.blockCount)).toEqual([0, 5]);
});

test("foreign messages are ignored: junk, and the crew's own messages under other subjects", async () => {
  const all = workers(2);
  const blocks = await crew.crew({ workersMin: 2 }).open(job);
  const meddle = async (): Promise<void> => {
    const epoch = await crew.engine.connect().join(crew.engine.epoch?.name ?? "");
    const stored = crew.engine.epoch?.messages ?? [];
    const copies = stored.map(({ message }) => message);
    for (const message of [Uint8Array.of(1), new Uint8Array(100), ...copies.slice(0, 20)]) {
      for (const subject of ["log.4", "sum.1.1.0.0", "sum.1.2.1.0", "sum.9.9.9.9"]) {
        if (stored.some((own) => own.subject === subject && own.message === message)) continue;
        await epoch?.append(subject, message);
      }
      for (const subject of ["held.0", "who-holds", "round"]) epoch?.say(subject, message);
    }
    await epoch?.offer("hold", Uint8Array.of(1));
    await crew.engine.connect().statusTable.put("worker.junk", Uint8Array.of(1));
  };
  const said = await drive(blocks, async (at) => {
    if (at.startsWith("0")) await meddle();
  });
  expect(said).toEqual(await expected());
  expect(all.flatMap(({ troubles }) => troubles)).toEqual([]);
});

test.each(["changed", "missing"])(
  "the bins of a block are %s: the attempt ends at once, and says which",
  async (how) => {
    const [only] = workers(1);
    const blocks = await crew.crew().open(job);
    for (const path of crew.disk.paths) {
      if (!path.endsWith("/2.bins")) continue;
      if (how === "changed") crew.disk.put(path, "AAA");
      else crew.disk.remove(path);
    }
    const before = crew.clock.now();
    await expectError(() => drive(blocks), "CHECKPOINT", /^the bins of block 2 are no longer .* as they were written/);
    expect(crew.clock.now() - before, "the clock's own milliseconds: not the patience").toBeLessThan(10_000);
    expect(only.troubles.join()).toMatch(/^block 2: the bins of a block are not/);
    await blocks.close();
    expect(await drive(await crew.crew().open(job)), "the next attempt writes them again").toEqual(await expected());
  },
);

test("a worker that sees another folder takes no more blocks; the others continue", async () => {
  workers(0);
  const elsewhere = new TestCrew({});
  const astray = crew.work("astray", { schemeNamed, files: elsewhere.blockFiles() });
  const alone = await crew.crew({ patienceMs: 5000 }).open(job);
  await expectError(
    () => drive(alone),
    "WORKERS_MISSING",
    /no worker holds .*; block \d: .* not in the folder of the crew/,
  );
  const hindered = crew.events.flatMap((event) => (event.kind === "worker-hindered" ? [event] : []));
  expect(hindered[0]).toMatchObject({ worker: "astray", why: expect.stringMatching(/Compare folder in worker\.yaml/) });
  await alone.close();
  crew.work("right", { schemeNamed });
  expect(await drive(await crew.crew({ workersMin: 2 }).open(job))).toEqual(await expected());
  expect(astray.worker.blockCount).toBe(0);
});

/** Happens to a third of what it can happen to, from a seed. */
function troubles(seed: string): { readonly trouble: LineTrouble; readonly seen: Set<LineFault> } {
  const random = new SeededRandom(seed);
  const seen = new Set<LineFault>();
  const trouble: LineTrouble = (fault) => {
    const happens = random.uniform() < 0.33;
    if (happens) seen.add(fault);
    return happens;
  };
  return { trouble, seen };
}

/** What the engine stores of payloads. */
const large = (fill: number): Entry => ({ head: Uint8Array.of(1), payload: Buffer.alloc(4000, fill) });
async function driveLarge(blocks: Blocks, at: (place: string) => unknown = () => {}): Promise<string[]> {
  const append = blocks.append.bind(blocks);
  let fill = 0;
  return drive(Object.assign(blocks, { append: (block: number) => append(block, large(++fill % 200)) }), at);
}
const expectedLarge = async (): Promise<string[]> =>
  driveLarge(await new EmbeddedCrew((data) => new Echo(data), 7).open(job));

test("payloads go past the engine, and the party forgets them when the next round begins", async () => {
  workers(2);
  const stored: number[] = [];
  const blocks = await crew.crew({ workersMin: 2 }).open(job);
  const said = await driveLarge(blocks, () => {
    for (const { subject, message } of crew.engine.epoch?.messages ?? [])
      if (subject.startsWith("log.")) stored.push(message.length);
  });
  expect(said).toEqual(await expectedLarge());
  expect(stored.length).toBeGreaterThan(100);
  expect(Math.max(...stored)).toBeLessThan(200);
});

test.each([1, 2, 3, 4])("lines are refused, cut and deliver other bytes: seed %i", async (seed) => {
  const { trouble, seen } = troubles(`lines ${seed}`);
  const [first] = workers(3, { seed: `lines ${seed}`, lineTrouble: trouble });
  const blocks = await crew.crew({ workersMin: 3 }).open(job);
  const said = await driveLarge(blocks, async (at) => {
    if (at === "1 loading 1") first.kill();
  });
  expect(said).toEqual(await expectedLarge());
  expect([...seen].toSorted()).toEqual(["line changed bytes", "line cut", "line refused"]);
});

test("workers without a line get everything from the engine, also one that replaces a worker with one", async () => {
  const [first] = workers(1);
  const troubles: (string | null)[] = [];
  const dial = async (): Promise<never> => {
    throw new Error("a firewall");
  };
  const blocks = await crew.crew().open(job);
  const said = await driveLarge(blocks, async (at) => {
    if (at !== "0 loading 1") return;
    await crew.until(() => first.worker.blockCount > 0);
    first.kill();
    crew.work("none", { schemeNamed, dial: undefined });
    crew.work("firewall", { schemeNamed, dial, onLine: (why) => troubles.push(why) });
  });
  expect(said).toEqual(await expectedLarge());
  expect(crew.moves).toBeGreaterThan(0);
  expect(troubles).toEqual(["party:1: a firewall"]);
});

test("what exceeds the party's bound goes through the engine", async () => {
  workers(2, { seed: "bound", keptBytesMax: 30_000 });
  let largest = 0;
  const blocks = await crew.crew({ workersMin: 2 }).open(job);
  const said = await driveLarge(blocks, () => {
    for (const { subject, message } of crew.engine.epoch?.messages ?? [])
      if (subject.startsWith("log.")) largest = Math.max(largest, message.length);
  });
  expect(said).toEqual(await expectedLarge());
  expect(largest).toBeGreaterThan(4000);
});

test("a party that does not listen has workers all the same", async () => {
  workers(2);
  const blocks = await crew.crew({ workersMin: 2, lines: undefined }).open(job);
  expect(await driveLarge(blocks)).toEqual(await expectedLarge());
  expect(crew.lines.opened).toBe(0);
});

test("a party dies after it has deleted its blocks: workers that miss them serve its next process", async () => {
  const [first, second] = workers(2);
  await crew.crew({ workersMin: 2 }).open(job);
  await crew.until(() => first.worker.blockCount + second.worker.blockCount === 5);
  await crew.blockFiles().begin("another");
  second.kill();
  await crew.until(() => first.troubles.some((trouble) => trouble.includes("are not in the folder")));
  const blocks = await crew.crew().open(job);
  expect(await drive(blocks)).toEqual(await expected());
});
