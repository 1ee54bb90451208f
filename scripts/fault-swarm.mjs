/** Jobs under faults, simulated for many seeds, one after the other (src/experiment/faults/fault-simulation.ts). */
import { importSources } from "./import-sources.mjs";

/** @returns the exit code */
export async function runSwarm({ seeds, from }) {
  const [{ prepareScenarios }, { simulateFaults }] = await importSources(
    "experiment/faults/fault-scenarios.ts",
    "experiment/faults/fault-simulation.ts",
  );
  const [first, count] = [Number(from), Number(seeds)];
  const scenarios = await prepareScenarios();
  const undisturbed = new Map();
  for (const scenario of scenarios.all) undisturbed.set(scenario, await simulateFaults(scenario, 0, true));
  const totals = {};
  const failures = [];
  let attempts = 0;
  const started = performance.now();
  for (let seed = first; seed < first + count; seed++) {
    const scenario = scenarios.of(seed);
    try {
      const result = await simulateFaults(scenario, seed);
      for (const [path, text] of undisturbed.get(scenario).files) {
        if (result.files.get(path) !== text) throw new Error(`${path} differs from that of an undisturbed job`);
      }
      for (const [kind, times] of Object.entries(result.faults)) totals[kind] = (totals[kind] ?? 0) + times;
      attempts += result.attempts;
      if ((seed - first + 1) % 100 === 0)
        console.log(`${seed - first + 1} seeds, ${attempts} attempts, ${failures.length} failed`);
    } catch (error) {
      failures.push(seed);
      console.error(
        `seed ${seed} (${scenario.name}): ${error.stack}\n  replay: npm run swarm -- --seeds 1 --from ${seed}`,
      );
    }
  }
  await scenarios.close();
  const seconds = Math.round((performance.now() - started) / 1000);
  console.log(`${count} seeds, ${attempts} attempts, ${seconds} s, ${failures.length} failed`);
  console.log(totals);
  return failures.length === 0 ? 0 : 1;
}
