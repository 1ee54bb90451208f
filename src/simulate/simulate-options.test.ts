import { expect, test } from "vitest";
import { expectError } from "../../test/support/expect-error.ts";
import { checkOptions, type SimulateOptions } from "./simulate-options.ts";
import type { GivenJob } from "../party/resolve-job.ts";

const options: SimulateOptions = {
  data: "",
  label: "y",
  active: ["a"],
  passives: [["b"]],
  testFraction: 0.25,
  missing: [],
  job: { scheme: "lattice" },
  check: false,
  onEvent: () => {},
};

test("the lattice scheme with defaults, and defaults that are written down", async () => {
  const job = { scheme: "lattice", codec: { resolution_bits: 24 } };
  await expect(checkOptions({ ...options, job })).resolves.toMatchObject({ codec: { resolution_bits: 24 } });
});

test.each<[string, GivenJob]>([
  ["--key-bits", { keyBits: 2048 }],
  ["--insecure-key-bits", { insecureKeyBits: 512 }],
])("%s is refused with lattice, and goes with Paillier", async (option, changes) => {
  const pattern = new RegExp(
    `^${option} cannot be used with the lattice scheme: .*Leave it out, or use scheme paillier$`,
  );
  await expectError(() => checkOptions({ ...options, job: { ...options.job, ...changes } }), "USAGE", pattern);
  await checkOptions({ ...options, job: { ...changes, scheme: "paillier" } });
});
