/**
 * A malicious active party encrypts marks under noise: chosen people get values far above one person's range, and all
 * others 0. How many people's sides it reads from one answer under the default policy, and that the policy refuses the
 * jobs that have room for more. Fields are computed as integers: encryption changes nothing about them.
 */
import { create } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { discreteGaussian } from "../src/base/noise/discrete-gaussian.ts";
import { SeededRandom } from "../src/base/random.ts";
import { agreedLayout, type LayoutTerms } from "../src/codec/agreed-layout.ts";
import { noiseOffset, slotBits } from "../src/codec/slot.ts";
import { passiveConfig } from "../src/party/config/config.ts";
import { agreedByPolicy } from "../src/party/policy.ts";
import { resolveJob } from "../src/party/resolve-job.ts";
import { noDefences } from "../src/privacy/defences/defences.ts";
import { agreedParameters, proposedParameters } from "../src/protocol/job-parameters.ts";
import { ActiveHelloSchema } from "../src/wire/generated/tandem/v1/tandem_pb.ts";
import { expectError } from "./support/expect-error.ts";

const guarded: LayoutTerms = {
  codec: "batched",
  resolutionBits: 24,
  slotBits: 0,
  padding: 2,
  outputs: 1,
  answerNoise: 10,
  maxDepth: 6,
  maxLeaves: 0,
};
const candidates = 66;

/** The marked people of one answer, and how many of their sides at all candidates are read correctly. */
function readSides(terms: LayoutTerms, people: number): { readonly marked: number; readonly right: number } {
  const random = new SeededRandom("marks");
  const draw = (): number => random.below(2 ** 26) * 2 ** 27 + random.below(2 ** 27);
  const { slots, noise } = agreedLayout(terms, people, 2047);
  if (noise === null) throw new Error("this job has no noise");
  // Four deviations of the noise to either side of a mark.
  const step = BigInt(Math.ceil(8 * noise.sigma));
  let [marked, right] = [0, 0];
  for (const slot of slots) {
    if (slot.noise === undefined) throw new Error("a slot of this job has noise");
    const offset = noiseOffset(slot.noise);
    const room = (1n << BigInt(slotBits(slot))) - offset - BigInt(slot.noise.max);
    let marks = 0;
    while (((1n << BigInt(marks + 1)) - 1n) * step <= room && marked + marks < people) marks++;
    for (let candidate = 0; candidate < candidates; candidate++) {
      let sides = 0n;
      for (let mark = 0; mark < marks; mark++) sides |= BigInt(random.below(2)) << BigInt(mark);
      const field = offset + sides * step + BigInt(discreteGaussian(noise.sigma, noise.drawnMax, draw));
      expect(field >= 0n && field < 1n << BigInt(slotBits(slot))).toBe(true);
      const read = (field - offset + step / 2n) / step;
      for (let mark = 0; mark < marks; mark++) if (((read ^ sides) >> BigInt(mark)) % 2n === 0n) right++;
    }
    marked += marks;
  }
  return { marked, right: right / candidates };
}

describe("what an answer of a job under the default policy reveals to marks, with guarded's noise", () => {
  test.each([
    [600, 14],
    [30_000, 21],
    [1_000_000, 31],
  ])("of %d people: the sides of %d, at every candidate", (people, marked) => {
    const read = readSides(guarded, people);
    expect(read.marked).toBe(marked);
    expect(read.right).toBeGreaterThan(0.99 * marked);
  });

  test("noise that is twice as strong hides one person per field", () => {
    expect(readSides({ ...guarded, answerNoise: 20 }, 30_000).marked).toBe(20);
  });
});

describe("jobs with more room for marks", () => {
  const wide = { ...guarded, outputs: 22, padding: 16 };

  test("22 outputs and 16 bits of padding would reveal 600 of 600 people", () => {
    const read = readSides(wide, 600);
    expect(read.marked).toBe(600);
    expect(read.right).toBeGreaterThan(594);
  });

  test("are refused by the default policy, which names what its owner could allow", async () => {
    const { policy } = passiveConfig.parse({
      name: "shop",
      listen: { host: "127.0.0.1", port: 0 },
      tls: { certificate: "c.pem", key: "k.pem" },
      active: [{ name: "bank", fingerprint: "ab".repeat(32) }],
      data: { path: "data.csv", id: "id", features: "all" },
      output: { directory: "jobs" },
    });
    const asked = (changes: object): unknown => {
      const agreed = agreedParameters(resolveJob({ name: "spring" }));
      const parameters = proposedParameters({ ...agreed, ...changes });
      const hello = create(ActiveHelloSchema, { parameters, instanceCount: 600 });
      return agreedByPolicy(hello, { ...policy, privacy: { ...noDefences, privacy: "exact" } }, "shop");
    };
    await expectError(
      () => asked({ outputs: wide.outputs, padding: wide.padding }),
      "POLICY",
      /outputs: 22 requested, at most 1 allowed \('max_outputs: 22'.*padding: 16 requested, at most 2 allowed/,
    );
    await expectError(() => asked({ outputs: 2 }), "POLICY", /outputs: 2 requested, at most 1 allowed/);
    await expectError(() => asked({ padding: 3 }), "POLICY", /padding: 3 requested, at most 2 allowed$/);
    expect(asked({})).toBeDefined();
  });
});

test("noise grows with the outputs, so that a person is hidden in all of them together as in one", () => {
  const sigmaOf = (outputs: number): number => agreedLayout({ ...guarded, outputs }, 600, 2047).noise?.sigma ?? 0;
  expect(sigmaOf(4)).toBe(2 * sigmaOf(1));
  expect(sigmaOf(9)).toBe(3 * sigmaOf(1));
});
