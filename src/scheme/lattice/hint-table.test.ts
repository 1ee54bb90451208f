/** Limits of the hints that an active party accepts, whatever a passive party announces. */
import { expect, test } from "vitest";
import { expectError } from "../../../test/support/expect-error.ts";
import { one } from "../../../test/support/streams.ts";
import { jobBounds, shapeOf } from "../../crypto/lattice/parameters/job-bounds.ts";
import { selectLatticeKernel } from "../../crypto/lattice/select-kernel.ts";
import { latticeSets } from "../../crypto/lattice/parameters/sets.ts";
import { LatticeHintsSchema } from "../../wire/generated/tandem/v1/lattice_pb.ts";
import { encodeMessage } from "../../wire/scheme-message.ts";
import { takeHints } from "./hint-table.ts";

const latticeOf = (name: "A" | "B") => {
  const bounds = jobBounds(latticeSets[name], { rowCount: 10, resolutionBits: 20 });
  return selectLatticeKernel().lattice(shapeOf(bounds, new Uint8Array(16)), 1);
};
const announced = (candidateCount: number) => one(encodeMessage(LatticeHintsSchema, { candidateCount }));

test.each([
  ["A", 65_536],
  ["B", 16_384],
] as const)("in set %s of %i candidates at most, whatever a party announces", async (name, most) => {
  const lattice = latticeOf(name);
  for (const more of [most + 1, 2 ** 32 - 1])
    await expectError(() => takeHints(lattice, 2 ** 32, announced(more)), "PROTOCOL_STATE", /more candidates/);
  await expectError(() => takeHints(lattice, 7, announced(8)), "PROTOCOL_STATE", /more candidates/);
});

test("a party without candidates sends one empty message", async () => {
  const { candidateCount, table } = await takeHints(latticeOf("A"), 7, announced(0));
  expect([candidateCount, table.length]).toEqual([0, 0]);
  async function* endless(): AsyncGenerator<Uint8Array> {
    for (;;) yield* announced(0);
  }
  await expectError(() => takeHints(latticeOf("A"), 7, endless()), "PROTOCOL_STATE", /not consecutive/);
});
