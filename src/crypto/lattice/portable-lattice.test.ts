import { expect, test } from "vitest";
import { knownAnswers, knownJob, plainSums, runNode, sha256 } from "../../../test/support/lattice-job.ts";
import { portableLatticeKernel } from "./portable-lattice.ts";
import { latticeSets } from "./sets.ts";

test.each(["A", "B"] as const)("known answers of set %s, byte for byte", async (name) => {
  const job = knownJob(latticeSets[name]);
  const { hints, node, answer, sums } = await runNode(portableLatticeKernel, job);
  const known = knownAnswers[name];
  expect(sums).toEqual(plainSums(job));
  expect([...sums.subarray(0, 4)]).toEqual(known.sums);
  expect([sha256(hints), sha256(node), sha256(answer)]).toEqual([known.hints, known.node, known.answer]);
});
