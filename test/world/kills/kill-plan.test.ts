import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { scratchDirectory } from "../../support/command.ts";
import { BankEvents } from "./bank-events.ts";
import { engines, type Fault, killPlan, moments, schemes, victims, ways } from "./kill-plan.ts";

test("a seed and a job number give the same plan; some jobs cover all faults, victims and moments", () => {
  expect(killPlan(3, 7)).toEqual(killPlan(3, 7));
  expect(killPlan(3, 7)).not.toEqual(killPlan(4, 7));
  const plans = Array.from({ length: 30 }, (_, job) => killPlan(1, job));
  const faults = plans.flatMap(({ faults: some }) => some);
  const seen = (of: (fault: Fault) => string): Set<string> => new Set(faults.map(of));
  expect(seen(({ who }) => who)).toEqual(new Set(victims));
  expect(seen(({ how }) => how)).toEqual(new Set(ways));
  expect(seen(({ when }) => when)).toEqual(new Set(moments));
  expect(new Set(plans.map(({ engine, scheme }) => `${engine}, ${scheme}`)).size).toBe(engines.length * schemes.length);
  for (const { engine, faults: some } of plans)
    if (some.some(({ who }) => who === "stream leader")) expect(engine).toBe(engines[2]);
});

test("trees are counted as the bank's file grows, whole lines only", () => {
  const path = join(scratchDirectory(), "events.jsonl");
  const events = new BankEvents(path);
  expect(events.look(), "there is none yet").toBe(false);
  appendFileSync(path, '{"type":"joined","at":1}\n{"type":"tree","tr');
  expect([events.look(), events.trees, events.attempts]).toEqual([false, 0, 1]);
  appendFileSync(path, 'ee":0}\n{"type":"progress"}\n{"type":"tree","tree":1}\n');
  expect([events.look(), events.trees]).toEqual([true, 2]);
  expect(events.look()).toBe(false);
});
