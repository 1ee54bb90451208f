/** A worker that is alive, renews its leases, and makes no progress. */
import { afterEach, expect, test } from "vitest";
import { TestCrew, type TestWorker } from "../../test/support/crews.ts";
import { expectError } from "../../test/support/expect-error.ts";
import { type BlockData, type BlockWork, bytesAnswer, nothing } from "../scheme/blocks/block.ts";
import type { Blocks } from "../scheme/blocks/crew.ts";
import { Holders } from "./holders.ts";
import { TickingClock } from "../../test/world/crews/ticking-clock.ts";
import { turnMsMax, WatchedTurns } from "./watched-turns.ts";

const never = new Promise<never>(() => {});
const rowCount = 21;
const job = {
  scheme: "first row",
  terms: nothing,
  rowCount,
  columns: { bins: [new Uint16Array(rowCount)], binCounts: Uint32Array.of(1) },
};
const question = { head: nothing, payload: nothing };

/** Answers with its first row, or not at all if it is stuck. */
function schemeOf(isStuck: () => boolean): () => { block: (data: BlockData) => BlockWork } {
  return () => ({
    block: ({ firstRow }) => ({
      begin: () => {},
      take: async () => {},
      answer: async () => (isStuck() ? never : bytesAnswer(Uint8Array.of(firstRow))),
    }),
  });
}

let crew: TestCrew;
afterEach(() => crew.stop());

function twoWorkers(isStuck: () => boolean): TestWorker[] {
  // Minutes of simulated time pass, and messages need iterations of the event loop meanwhile.
  crew = new TestCrew({ clock: new TickingClock(500), leaseMs: 60_000, statusMs: 180_000 });
  return [
    crew.work("stuck", { schemeNamed: schemeOf(isStuck) }),
    crew.work("other", { schemeNamed: schemeOf(() => false) }),
  ];
}

async function firstRows(blocks: Blocks): Promise<number[]> {
  await blocks.begin();
  const answers = await blocks.ask(Array.from({ length: 3 }, () => question));
  return Promise.all(answers.map(async (answer) => (await answer?.bytes())?.[0] ?? -1));
}

test("others get its blocks when one operation takes too long, and it says why it takes no more", async () => {
  let isStuck = false;
  const [stuck, other] = twoWorkers(() => isStuck);
  const blocks = await crew.crew({ workersMin: 2, patienceMs: 600_000 }).open(job);
  expect(await firstRows(blocks)).toEqual([0, 7, 14]);
  await crew.until(() => stuck.worker.blockCount > 0);
  isStuck = true;
  expect(await firstRows(blocks)).toEqual([0, 7, 14]);
  expect(crew.moves).toBeGreaterThan(0);
  expect(stuck.troubles).toEqual([
    expect.stringMatching(/^worker stuck has worked on block \d for 60\d s, and takes no more. Restart it$/) as string,
  ]);
  expect([stuck, other].map(({ worker }) => worker.blockCount)).toEqual([0, 3]);
});

test("all are stuck: the party's error has their message", async () => {
  crew = new TestCrew({ clock: new TickingClock(500), leaseMs: 60_000, statusMs: 180_000 });
  crew.work("only", { schemeNamed: schemeOf(() => true) });
  const blocks = await crew.crew({ patienceMs: 100_000 }).open(job);
  await expectError(
    () => firstRows(blocks),
    "WORKERS_MISSING",
    /^no worker holds block \d; worker only has worked on block \d/,
  );
});

test("the time limit grows with the block; a finished computation is not stuck", async () => {
  expect(turnMsMax({ rowCount: 2 ** 20, binCounts: new Array<number>(100).fill(32) })).toBeGreaterThan(2_000_000);
  const clock = new TickingClock(1000);
  const turns = new WatchedTurns(clock);
  const hold = { block: 4, rowCount: 1, binCounts: [1] } as Parameters<WatchedTurns["run"]>[0];
  await turns.run(hold, () => {});
  let end = (): void => {};
  const long = turns.run(hold, () => new Promise<void>((resolve) => (end = resolve)));
  expect(turns.stuck).toBeNull();
  await new Promise<void>((resolve) => clock.after(700_000, resolve));
  expect(turns.stuck).toMatchObject({ block: 4 });
  end();
  await long;
  expect([turns.stuck, turns.ended]).toEqual([null, 2]);
});

test("a party waits for a worker that makes progress, and not for one that only responds", () => {
  const holders = new Holders();
  const patience = { unheldMs: 10, stuckMs: 50 };
  const hear = (now: number, turns: number, deliveries = 1): boolean =>
    holders.hear(0, { worker: "w", deliveries, turns } as Parameters<Holders["hear"]>[1], now);
  expect(holders.late([0], 0, 11, patience)).toEqual({ block: 0, stuck: null });
  expect([hear(20, 1), hear(40, 2), hear(60, 2)]).toEqual([true, false, false]);
  expect(holders.late([0], 0, 61, patience)).toBeNull();
  hear(95, 2);
  expect(holders.late([0], 0, 96, patience)).toEqual({ block: 0, stuck: { worker: "w", forMs: 56 } });
  expect(holders.late([0], 90, 96, patience), "it had nothing to do before").toBeNull();
  expect(holders.late([], 0, 96, patience)).toBeNull();
  expect(hear(96, 0, 2), "another worker holds it").toBe(true);
  expect(hear(97, 9, 1), "a former holder is ignored").toBe(false);
  expect(holders.late([0], 0, 100, patience)).toBeNull();
});
