/** Companies over TLS: what a passive party's policy demands of a job, and what a partner may have over all jobs. */
import { join } from "node:path";
import { expect, test } from "vitest";
import { runActive } from "../src/party/active/run.ts";
import { runPredict } from "../src/scoring/run-predict.ts";
import { scratchDirectory } from "./support/command.ts";
import { startParty } from "./support/companies.ts";
import { expectError } from "./support/expect-error.ts";
import { configFor, people, TrainedWorlds, writeInput } from "./support/trained-world.ts";

const worlds = new TrainedWorlds(scratchDirectory());

const spentSums = (events: readonly { readonly type: string }[]): number => {
  const last = events.findLast(({ type }) => type === "budget") as { spent: { sumsPerPerson: number } } | undefined;
  return last?.spent.sumsPerPerson ?? Number.NaN;
};

test("a job that brings less than the policy's preset is refused, with every field that is weaker", async () => {
  const world = await worlds.restarted(1, { policy: { privacy: "guarded" } });
  await expectError(
    async () => runActive(await configFor(world, "summer"), () => {}),
    "POLICY",
    /shop0 does not allow.*answer_noise: 0 asked, at least 10.*min_people_share.*max_thresholds.*masked_scoring/,
  );
});

test("jobs add up, over restarts of the party, until the budget is spent", async () => {
  const world = await worlds.restarted(1, {});
  const [shop] = world.shops;
  const [party] = world.parties;
  await runActive(await configFor(world, "summer"), () => {});
  await party.seen("job-ended");
  const afterOne = spentSums(party.events); // the training of the copied world, and this one
  expect(afterOne).toBeGreaterThan(0);
  await party.stop();

  const bounded = await startParty(shop, [world.bank], { policy: { budget: { sums_per_person: 1.2 * afterOne } } });
  const again = { ...world, parties: [bounded] };
  const events: { readonly type: string }[] = [];
  await expectError(
    async () => runActive(await configFor(again, "autumn"), (event) => events.push(event)),
    "POLICY",
    /budget of shop0 for this partner does not allow this job: sums_per_person: [\d.e-]+ had/,
  );
  // A job that asks for less fits.
  await runActive(await configFor(again, "winter", { training: { num_round: 1, max_depth: 1, max_bin: 8 } }), () => {});
  await bounded.seen("job-ended");
  expect(spentSums(bounded.events)).toBeGreaterThan(afterOne);
  expect(spentSums(bounded.events)).toBeLessThanOrEqual(1.2 * afterOne);
});

test("scores are bounded over all requests", async () => {
  // The training of the copied world has asked about its test rows already.
  const world = await worlds.restarted(1, { policy: { budget: { scored_people: 1200 } } });
  const ids = people.slice(30, 190).map(({ id }) => id);
  const input = writeInput(world, "people.csv", ids);
  let answered = 0;
  const ask = async (): Promise<void> => {
    for (; answered < 20; answered++)
      await runPredict(world.config, {
        model: "spring",
        input,
        output: join(world.bank.folder, "scores.csv"),
        unknown: "refuse",
        onProgress: () => {},
      });
  };
  await expectError(ask, "POLICY", /scored_people: \d+ had, 160 asked, 1200 allowed/);
  expect(answered).toBeLessThan(8);
});
