/** A partner's daily budget: limited, stored before a request is answered, and never reset too early. */
import { expect, test } from "vitest";
import { expectError } from "../../test/support/expect-error.ts";
import { MemoryDisk } from "../../test/support/memory-disk.ts";
import type { Storage } from "../base/files/storage.ts";
import type { PartyEvent } from "../record/events.ts";
import { DailyBudgets, type DailyLimits } from "./daily-budget.ts";

const noon = Date.UTC(2100, 0, 31, 12);
const hourMs = 3_600_000;
const limits = { ids: 20_000, alignments: 5, jobs: 10, attempts: 50, histogram_requests: 30_000 };

class Disk {
  readonly files = new MemoryDisk();
  readonly events: PartyEvent[] = [];
  writes = 0;
  isFull = false;
  now = noon;
  rows = 0;

  budgets(changes: Partial<DailyLimits> = {}): DailyBudgets {
    const storage: Storage = {
      ...this.files.storage(),
      write: async (path, contents) => {
        await new Promise((resolve) => setImmediate(resolve));
        if (this.isFull) throw new Error("no room");
        this.writes++;
        this.files.put(path, contents);
      },
    };
    return new DailyBudgets({
      party: "shop",
      directory: "jobs",
      limits: { ...limits, ...changes },
      storage,
      ownFiles: (work) => work(),
      rowCount: () => this.rows,
      now: () => this.now,
      emit: (event) => this.events.push(event),
    });
  }

  get alarms(): string[] {
    return this.events.flatMap((event) => (event.type === "alarm" ? [`${event.peer}: ${event.words}`] : []));
  }

  /** What the file says of ids. */
  get storedIds(): number {
    return Number(/"ids":(\d+)/.exec(this.files.allText)?.[1] ?? 0);
  }
}

test("over the limit: the field, what is used, requested and allowed, and when it resets", async () => {
  const budgets = new Disk().budgets();
  await budgets.charge("bank", { ids: 19_990, alignments: 1 }, "PSI run");
  await expectError(
    () => budgets.charge("bank", { ids: 11, alignments: 1 }, "PSI run"),
    "POLICY",
    /PSI run today: budget\.daily\.ids: 19990 used, 11 requested, 20000 allowed; it resets at 2100-02-01 00:00 UTC$/,
  );
  await budgets.charge("bank", { ids: 10 }, "request");
  await expectError(() => budgets.check("bank", { ids: 1 }, "request"), "POLICY", /20000 used, 1 requested/);
  await budgets.charge("telecom", { ids: 20_000 }, "request"); // has a budget of its own
  expect(budgets.spent("bank")).toEqual({
    day: "2100-01-31",
    used: { ids: 20_000, alignments: 1, jobs: 0, attempts: 0, histogram_requests: 0 },
    limits,
  });
  expect(budgets.spent("unknown")).toBeNull();
});

test("the next day is fresh, a clock that was set back is not: not in this process, not in another", async () => {
  const disk = new Disk();
  const budgets = disk.budgets();
  await budgets.charge("bank", { ids: 20_000 }, "request");
  disk.now = noon - 48 * hourMs;
  for (const asked of [budgets, disk.budgets()])
    await expectError(() => asked.charge("bank", { ids: 1 }, "request"), "POLICY", /20000 used/);
  disk.now = noon + 12 * hourMs;
  await budgets.charge("bank", { ids: 20_000 }, "request");
  disk.now = noon; // yesterday is over for good
  for (const asked of [budgets, disk.budgets()])
    await expectError(() => asked.charge("bank", { ids: 1 }, "request"), "POLICY", /it resets at 2100-02-02/);
});

test("frequent requests are stored in advance: few writes, and a crash counts slightly too much", async () => {
  const disk = new Disk();
  const budgets = disk.budgets();
  for (let request = 0; request < 1000; request++) {
    await budgets.charge("bank", { ids: 3 }, "request");
    expect(disk.storedIds).toBeGreaterThanOrEqual(3 * (request + 1));
  }
  for (let node = 0; node < 10_000; node++) await budgets.charge("bank", { histogram_requests: 1 }, "node");
  expect(disk.writes).toBeLessThan(60);
  const after = disk.budgets();
  await after.charge("bank", { ids: 1 }, "request");
  expect(after.spent("bank")?.used.ids).toBeGreaterThanOrEqual(3001);
  expect(after.spent("bank")?.used.ids).toBeLessThanOrEqual(3001 + 200);
  expect(after.spent("bank")?.used.histogram_requests).toBeLessThanOrEqual(10_000 + 300);
});

test("requests at the same time are all counted, and none is answered before its number is stored", async () => {
  const disk = new Disk();
  const budgets = disk.budgets({ ids: 500 });
  let answered = 0;
  const outcomes = await Promise.allSettled(
    Array.from({ length: 600 }, async () => {
      await budgets.charge("bank", { ids: 1 }, "request");
      answered++;
      expect(disk.storedIds).toBeGreaterThanOrEqual(answered);
    }),
  );
  expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(500);
  expect(budgets.spent("bank")?.used.ids).toBe(500);
});

test("what cannot be stored is not answered, and counts", async () => {
  const disk = new Disk();
  disk.isFull = true;
  const budgets = disk.budgets();
  await expect(budgets.charge("bank", { ids: 100 }, "request")).rejects.toThrow("no room");
  await expect(budgets.charge("bank", { ids: 1 }, "request")).rejects.toThrow("no room");
  disk.isFull = false;
  await budgets.charge("bank", { ids: 1 }, "request");
  expect(budgets.spent("bank")?.used.ids).toBe(102);
});

test("a job that begins again before it was stored counts once", async () => {
  const disk = new Disk();
  for (let crash = 0; crash < 30; crash++) await disk.budgets().chargeJob("bank", "spring/aa");
  const budgets = disk.budgets();
  for (let job = 0; job < 9; job++) await budgets.chargeJob("bank", `summer/${job}`);
  await expectError(() => budgets.chargeJob("bank", "autumn/aa"), "POLICY", /jobs: 10 used, 1 requested, 10 allowed/);
});

test("a limit that is nearly used up is reported once a day, across restarts", async () => {
  const disk = new Disk();
  await disk.budgets().charge("bank", { ids: 15_999 }, "request");
  expect(disk.alarms).toEqual([]);
  for (let restart = 0; restart < 3; restart++) await disk.budgets().charge("bank", { ids: 200 }, "request");
  expect(disk.alarms).toHaveLength(1);
  expect(disk.alarms[0]).toMatch(
    /^bank: budget\.daily\.ids is nearly used up: \d+ of 20000 requested ids on 2100-01-31 \(UTC\)$/,
  );
  for (let attempt = 0; attempt < 45; attempt++) await disk.budgets().charge("bank", { attempts: 1 }, "job");
  expect(disk.alarms).toHaveLength(2);
  disk.now += 24 * hourMs;
  await disk.budgets().charge("bank", { ids: 16_000 }, "request");
  expect(disk.alarms).toHaveLength(3);
});

test("without a line in the config the ids follow the own table", async () => {
  const disk = new Disk();
  const { ids: _ids, ...others } = limits;
  const budgets = new DailyBudgets({
    party: "shop",
    directory: "jobs",
    limits: others,
    storage: new MemoryDisk().storage(),
    ownFiles: (work) => work(),
    rowCount: () => disk.rows,
    now: () => noon,
    emit: () => {},
  });
  await budgets.charge("bank", { ids: 10_000 }, "request");
  await expectError(() => budgets.check("bank", { ids: 1 }, "request"), "POLICY", / 10000 allowed/);
  disk.rows = 10_000;
  await budgets.charge("bank", { ids: 190_000 }, "request");
  await expectError(() => budgets.check("bank", { ids: 1 }, "request"), "POLICY", /200000 allowed/);
});

test("a modified file is rejected", async () => {
  const disk = new Disk();
  await disk.budgets().charge("bank", { ids: 20_000 }, "request");
  disk.files.edit((text) => text.replace('"ids":20000', '"ids":0'));
  await expectError(() => disk.budgets().charge("bank", { ids: 1 }, "request"), "CHECKPOINT", /checksum/);
});
