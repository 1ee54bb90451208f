import { describe, expect, test } from "vitest";
import { expectError } from "../../../test/support/expect-error.ts";
import { idleMs, JobQueue, keepMs, type QueuedJob, type QueueOptions, waitingPerPartnerMax } from "./job-queue.ts";

/** A queue with a clock that a test moves. */
function queueWith(options: Partial<QueueOptions> = {}) {
  let now = 0;
  const alarms = new Set<{ readonly at: number; readonly ring: () => void }>();
  const queue = new JobQueue({
    party: "shop",
    jobsMax: 1,
    bytesMax: 100,
    partners: 2,
    now: () => now,
    alarm: (ms, ring) => {
      const alarm = { at: now + ms, ring };
      alarms.add(alarm);
      return () => alarms.delete(alarm);
    },
    ...options,
  });
  const pass = (ms: number): void => {
    for (const end = now + ms; now < end;) {
      const next = [...alarms].reduce((min, { at }) => Math.min(min, at), end);
      now = Math.max(now, next);
      for (const alarm of alarms) {
        if (alarm.at > now) continue;
        alarms.delete(alarm);
        alarm.ring();
      }
    }
  };
  const enter = (partner: string, job: string, bytes = 10, holder: object = {}): QueuedJob =>
    queue.enter({ partner, job, bytes, holder });
  const running = (): string[] => queue.jobs.filter(({ isRunning }) => isRunning).map(({ job }) => job);
  const waiting = (): string[] => queue.jobs.filter(({ isRunning }) => !isRunning).map(({ job }) => job);
  return { queue, enter, pass, running, waiting };
}

const lose = (queue: JobQueue, job: QueuedJob, trees?: number): void => queue.left(job, job.holder ?? {}, trees);

describe("turns", () => {
  test("partners alternate, whatever the order in which their jobs came", () => {
    const { queue, enter, waiting, running } = queueWith();
    let [current] = ["a1", "a2", "a3", "b1", "b2"].map((job) => enter(job[0], job));
    expect(waiting()).toEqual(["b1", "a2", "b2", "a3"]);
    const order: string[] = [];
    for (; running().length > 0; current = queue.jobs[0]) {
      order.push(...running());
      queue.over(current);
    }
    expect(order).toEqual(["a1", "b1", "a2", "b2", "a3"]);
  });

  test("every change is announced, with places", async () => {
    const { queue, enter } = queueWith();
    const first = enter("a", "a1");
    const second = enter("b", "b1");
    const third = enter("a", "a2");
    expect([first, second, third].map((job) => queue.placeOf(job))).toEqual([0, 1, 2]);
    const { changed } = queue;
    queue.over(first);
    await changed;
    expect([first, second, third].map((job) => queue.placeOf(job))).toEqual([null, 0, 1]);
  });

  test("of several partners none has all places; a single one has", () => {
    const several = queueWith({ jobsMax: 3 });
    for (const job of ["a1", "a2", "a3"]) several.enter("a", job);
    expect(several.running()).toEqual(["a1", "a2"]);
    several.enter("b", "b1");
    expect(several.running()).toEqual(["a1", "a2", "b1"]);
    const single = queueWith({ jobsMax: 3, partners: 1 });
    for (const job of ["a1", "a2", "a3"]) single.enter("a", job);
    expect(single.running()).toHaveLength(3);
  });

  test("a partner's waiting jobs are bounded; those of the others are not affected", async () => {
    const { enter } = queueWith();
    for (let i = 0; i <= waitingPerPartnerMax; i++) enter("a", `a${i}`);
    await expectError(async () => enter("a", "one more"), "PARTY_BUSY", /4 jobs of this party waiting/);
    enter("a", "a2"); // it has a place
    enter("b", "b1");
  });
});

describe("memory", () => {
  test("jobs run within the bound, and a large one is not overtaken", () => {
    const { queue, enter, running, waiting } = queueWith({ jobsMax: 5, partners: 1 });
    const first = enter("a", "a1", 60);
    enter("a", "large", 90);
    enter("a", "small", 10);
    expect([running(), waiting()]).toEqual([["a1"], ["large", "small"]]);
    queue.over(first);
    expect(running()).toEqual(["large", "small"]);
    expect(queue.occupancy).toEqual({ running: 2, waiting: 0, bytes: 100 });
  });

  test("what never fits is refused, also when it is known only later", async () => {
    const { queue, enter } = queueWith({ jobsMax: 2, partners: 1 });
    await expectError(async () => enter("a", "a1", 101), "POLICY", /max_jobs_megabytes/);
    const first = enter("a", "a1", 0);
    enter("a", "a2", 50);
    queue.resize(first, 50);
    await expectError(async () => queue.resize(first, 51), "PARTY_BUSY", /no memory for this job beside the others/);
    await expectError(async () => queue.resize(first, 101), "POLICY", /max_jobs_megabytes/);
  });
});

describe("lost connections", () => {
  test("a waiting job keeps its place for a while; meanwhile others begin before it", () => {
    const { queue, enter, pass, running, waiting } = queueWith({ partners: 1 });
    const first = enter("a", "a1");
    const second = enter("a", "a2");
    enter("a", "a3");
    lose(queue, second);
    expect(waiting()).toEqual(["a2", "a3"]);
    pass(keepMs - 1);
    enter("a", "a2");
    pass(keepMs);
    expect(waiting()).toEqual(["a2", "a3"]);
    lose(queue, second);
    queue.over(first);
    expect([running(), waiting()]).toEqual([["a3"], ["a2"]]);
    pass(keepMs);
    expect(waiting()).toEqual([]);
  });

  test("an old connection that is lost late takes nothing from the new one", () => {
    const { queue, enter, pass, running } = queueWith();
    const old = {};
    const job = enter("a", "a1", 10, old);
    enter("a", "a1", 10, {});
    queue.left(job, old);
    pass(2 * keepMs);
    expect(running()).toEqual(["a1"]);
  });

  test("a partner that reconnects quickly without storing trees does not keep the others waiting", () => {
    const { queue, enter, running } = queueWith();
    const greedy = enter("a", "a1");
    enter("b", "b1");
    lose(queue, greedy, 3);
    expect(enter("a", "a1")).toBe(greedy); // once it is kept
    lose(queue, greedy, 3);
    expect(running()).toEqual(["b1"]);
    for (let i = 0; i < 5; i++) lose(queue, enter("a", "a1"));
    expect(running()).toEqual(["b1"]);
  });

  test("a job that stores trees keeps its place over many losses", () => {
    const { queue, enter, running } = queueWith();
    let job = enter("a", "a1");
    enter("b", "b1");
    for (let trees = 0; trees < 20; trees++) {
      lose(queue, job, trees);
      job = enter("a", "a1");
    }
    expect(running()).toEqual(["a1"]);
  });

  test("a partner's next job takes the place that was kept for its lost one", () => {
    const { queue, enter, running } = queueWith();
    lose(queue, enter("a", "a1"));
    enter("b", "b1");
    expect(running()).toEqual(["a1"]);
    enter("a", "a2");
    expect(running()).toEqual(["a1"]); // it is the other partner's turn
    const { queue: alone, enter: come, running: runs } = queueWith();
    lose(alone, come("a", "a1"));
    come("a", "a2");
    expect(runs()).toEqual(["a2"]);
  });
});

test("a job whose partner calls nothing ends after a while, but only while others wait", () => {
  const idle: string[] = [];
  const working = new Set<string>();
  const { queue, enter, pass } = queueWith({
    isWorking: ({ job }) => working.has(job),
    onIdle: (job) => {
      idle.push(job.job);
      queue.over(job);
    },
  });
  const first = enter("a", "a1");
  pass(3 * idleMs);
  enter("b", "b1");
  queue.touch(first);
  pass(idleMs / 2);
  queue.touch(first);
  pass(idleMs / 2);
  working.add("a1");
  pass(idleMs);
  expect(idle).toEqual([]);
  working.clear();
  pass(idleMs + 2 * keepMs);
  expect(idle).toEqual(["a1"]);
});

test("a job that must not wait is refused instead, and leaves nothing behind", async () => {
  const { queue, enter } = queueWith();
  enter("a", "a1");
  const entrant = { partner: "b", job: "b1", bytes: 0, holder: {} };
  await expectError(async () => queue.take(entrant), "PARTY_BUSY", /serves another job at the moment/);
  expect(queue.occupancy.waiting).toBe(0);
});
