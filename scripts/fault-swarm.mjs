/** Jobs under faults, simulated for many seeds, one after the other (test/world/faults/fault-simulation.ts). */
import { importSources } from "./import-sources.mjs";

/** Of a block at a worker: some blocks for each. */
const crewRows = 30;

/** @returns the exit code */
export async function runSwarm({ seeds, from, crew }) {
  const [{ prepareScenarios }, { simulateFaults, simulateUndisturbed }] = await importSources(
    "test/world/faults/fault-scenarios.ts",
    "test/world/faults/fault-simulation.ts",
  );
  const [first, count] = [Number(from), Number(seeds)];
  const scenarios = await prepareScenarios();
  const undisturbed = new Map();
  const given = (scenario) => (crew ? { ...scenario, crewRows } : scenario);
  for (const scenario of scenarios.all) {
    const alone = await simulateUndisturbed(scenario);
    const { exposure } = crew ? await simulateUndisturbed(given(scenario)) : alone;
    undisturbed.set(scenario, { ...alone, exposure });
  }
  const totals = {};
  const failures = [];
  const attempts = [];
  const started = performance.now();
  for (let seed = first; seed < first + count; seed++) {
    const scenario = scenarios.of(seed);
    try {
      const calm = undisturbed.get(scenario);
      const result = await simulateFaults(given(scenario), seed, calm);
      for (const [path, text] of calm.files) {
        if (result.files.get(path) !== text) throw new Error(`${path} differs from that of an undisturbed job`);
      }
      for (const [kind, times] of Object.entries(result.faults)) totals[kind] = (totals[kind] ?? 0) + times;
      attempts.push(result.attempts);
      if ((seed - first + 1) % 100 === 0)
        console.log(`${seed - first + 1} seeds, ${words(attempts)}, ${failures.length} failed`);
    } catch (error) {
      failures.push(seed);
      console.error(
        `seed ${seed} (${scenario.name}): ${error.stack}\n` +
          `  replay: npm run swarm -- --seeds 1 --from ${seed}${crew ? " --crew" : ""}`,
      );
    }
  }
  await scenarios.close();
  const seconds = Math.round((performance.now() - started) / 1000);
  console.log(`${count} seeds, ${words(attempts)}, ${seconds} s, ${failures.length} failed`);
  console.log(totals);
  return failures.length === 0 ? 0 : 1;
}

function words(attempts) {
  const sorted = attempts.toSorted((a, b) => a - b);
  const total = attempts.reduce((sum, count) => sum + count, 0);
  return `${total} attempts (median ${sorted[sorted.length >> 1] ?? 0}, most ${sorted.at(-1) ?? 0})`;
}
