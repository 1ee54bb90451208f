/** Options that only experiments set reach both parties, and do not change the model. */
import { expect, test } from "vitest";
import { generatedTable, benchJob } from "../lab/bench/training.ts";
import { ablationVariants } from "../lab/bench/ablation.ts";
import { codecWith } from "../src/base/parameters/parameters.ts";
import { firstDifference } from "../src/gbdt/tree/model-compare.ts";
import { runFederation } from "../src/simulate/federation.ts";
import { allShortcuts } from "../src/scheme/shortcuts.ts";
import { superviseInProcess } from "./world/in-process-parties.ts";

test("two ciphertexts per instance and no shortcut, between parties: the same model", async () => {
  const { job, ...others } = benchJob(generatedTable(60, [2, 2], 7), 256, 1);
  const shortcuts = { ...allShortcuts, ...ablationVariants["everything-off"] };
  const usual = await runFederation({ ...others, job }, superviseInProcess);
  const plain = { ...job, codec: codecWith({ codec: "unbatched" }), shortcuts };
  const without = await runFederation({ ...others, job: plain }, superviseInProcess);
  expect(firstDifference(without.model, usual.model)).toBeNull();
  expect(without.active.counts.encryptions).toBe(2 * usual.active.counts.encryptions);
  expect(without.layout.plaintextsPerInstance).toBe(2);
  expect(without.active.counts.candidateCiphertexts).toBeGreaterThan(4 * usual.active.counts.candidateCiphertexts);
});
