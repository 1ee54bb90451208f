/**
 * Whole jobs under faults, simulated from seeds: every seed must end with the files of an undisturbed run, and over all
 * seeds every kind of trouble must have happened. A failing seed is printed with the command that replays it.
 */
import { afterAll, beforeAll, expect, test } from "vitest";
import { type FaultKind, faultKinds, FaultPlan } from "../src/experiment/fault-plan.ts";
import { prepareScenarios, type Scenario, simulateFaults, type SimulationResult } from "../src/experiment/fault-simulation.ts";
import { watchRejections } from "./support/expect-error.ts";

const seedCount = 200;
/** At a time: a job waits for threads now and then. */
const jobsAtOnce = 3;

const rejections = watchRejections();
let scenarios: Awaited<ReturnType<typeof prepareScenarios>>;
beforeAll(async () => {
  scenarios = await prepareScenarios();
});
afterAll(async () => {
  await scenarios.close();
  await rejections.expectNone();
});

/** Every eighth seed aligns first, as scripts/swarm.mjs has it. */
const scenarioOf = (seed: number): Scenario => (seed % 8 === 0 ? scenarios.aligned : scenarios.plain);

test(`${seedCount} seeds: connections and processes are lost, and every job ends as if nothing had happened`, { timeout: 600_000 }, async () => {
  const expected = new Map<Scenario, SimulationResult>();
  for (const scenario of [scenarios.plain, scenarios.aligned]) expected.set(scenario, await simulateFaults(scenario, 0, true));
  for (const { attempts, resumed, files } of expected.values()) {
    expect([attempts, resumed]).toEqual([1, 0]);
    // Passive parties win some of the splits: otherwise there is little to lose.
    for (const party of ["shop", "telecom"]) expect(files.get(`${party}/share.json`)).toMatch(/"tree":[\s\S]*"tree":/);
  }

  const results: SimulationResult[] = [];
  const failures: string[] = [];
  let next = 1;
  const work = async (): Promise<void> => {
    for (let seed = next++; seed <= seedCount; seed = next++) {
      try {
        const result = await simulateFaults(scenarioOf(seed), seed);
        expect(result.files).toEqual(expected.get(scenarioOf(seed))?.files);
        results.push(result);
      } catch (error) {
        failures.push(`seed ${seed}: ${String(error)}\n  replay: npm run build && npm run swarm -- --seeds 1 --from ${seed}`);
      }
    }
  };
  await Promise.all(Array.from({ length: jobsAtOnce }, work));
  expect(failures.join("\n")).toBe("");

  const total = (kind: FaultKind): number => results.reduce((sum, { faults }) => sum + faults[kind], 0);
  for (const kind of faultKinds) expect(total(kind), kind).toBeGreaterThan(9);
  expect(results.filter(({ resumed }) => resumed > 0).length).toBeGreaterThan(seedCount / 2);
  expect(results.reduce((sum, { attempts }) => sum + attempts, 0)).toBeGreaterThan(2 * seedCount);
});

test("a seed's faults are the same in every run, at every place, and another seed's are others", () => {
  const places = Array.from({ length: 200 }, (_, i) => ["shop", i % 7, "splits", i]);
  const drawn = (seed: number): number[] => places.map((place) => new FaultPlan(seed).draw(...place));
  expect(drawn(4711)).toEqual(drawn(4711));
  expect(drawn(4711).filter((value, i) => value === drawn(4712)[i])).toEqual([]);
});
