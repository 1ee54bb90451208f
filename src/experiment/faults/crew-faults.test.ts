/** Whole jobs whose passive parties have workers, under faults of parties, workers and engines: seed by seed. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { watchRejections } from "../../../test/support/expect-error.ts";
import { prepareScenarios, type Scenarios } from "./fault-scenarios.ts";
import { type Scenario, simulateFaults, simulateUndisturbed } from "./fault-simulation.ts";

const rejections = watchRejections();
let scenarios: Scenarios;
beforeAll(async () => {
  scenarios = await prepareScenarios();
});
afterAll(async () => {
  await scenarios.close();
  await rejections.expectNone();
});

test.each(["plain", "hidden members"])("%s: with workers the parties' files are those without", async (name) => {
  const alone = scenarios.all.find((scenario) => scenario.name === name) as Scenario;
  const withCrew = { ...alone, crewRows: 50 };
  const { files } = await simulateUndisturbed(alone);
  const undisturbed = await simulateUndisturbed(withCrew);
  expect(undisturbed.files).toEqual(files);
  for (const seed of [1, 2]) {
    const result = await simulateFaults(withCrew, seed, undisturbed);
    expect(result.files, `seed ${seed}`).toEqual(files);
  }
});
