/**
 * Jobs whose members are hidden, with noise and few thresholds, broken off at seeded places: both parties resume from
 * their files, and the model is the centralised one, bit for bit.
 */
import { beforeAll, describe, expect, test } from "vitest";
import { SeededRandom } from "../src/base/random.ts";
import { generateKey, type PrivateKey, selectKernel } from "../src/crypto/paillier/index.ts";
import { firstDifference } from "../src/gbdt/tree/model-compare.ts";
import { lattice } from "../src/scheme/lattice/lattice.ts";
import { trainBrokenOff } from "./support/broken-job.ts";
import { trainInOnePlace } from "./support/in-memory-job.ts";
import { randomTable } from "./support/tables.ts";

let key: PrivateKey;
beforeAll(async () => {
  key = await generateKey({ bits: 256, insecure: true });
});

const rounds = 5;
const cases = [
  ["exact sums", {}],
  ["noise", { answer_noise: 0.5 }],
  ["noise and few thresholds", { answer_noise: 0.5, max_thresholds: 1 }],
  ["noise and few bits", { answer_noise: 0.5, outcome_bits: 0.7 }],
  ["clipped gradients", { answer_noise: 0.1 }],
] as const;

test.each([lattice, undefined])("hidden sums: what was opened is repeated after a restart", async (scheme) => {
  const table = randomTable("restarts of hidden sums", { rows: 60, features: [1, 2] });
  const training = { num_round: 3, max_depth: 2, max_bin: 5, min_child_weight: 0 };
  const job = { table, training, kernel: selectKernel(), key, codec: { resolution_bits: 6 } };
  const hidden = { ...job, defences: { hidden_sums: true }, ...(scheme === undefined ? {} : { scheme }) };
  const expected = await trainInOnePlace(hidden);
  for (const at of ["opening", "split"] as const) {
    const repeated: number[] = [];
    const { model } = await trainBrokenOff(
      {
        ...hidden,
        around: (answers) => ({
          ...answers,
          maximum: async function* (messages) {
            for await (const answer of answers.maximum(messages)) {
              if (answer.repeated === true) repeated.push(answer.scheme?.length ?? 0);
              yield answer;
            }
          },
        }),
      },
      [0, 1],
      at,
    );
    expect(firstDifference(model, expected)).toBeNull();
    expect(repeated.length, "nothing was repeated").toBeGreaterThan(1);
  }
});

describe.each(cases)("%s", (name, defences) => {
  test.each([
    [1, "node"],
    [2, "node"],
    [3, "split"],
  ] as const)("seed %i: equals the centralised model after restarts at a stored %s", async (seed, at) => {
    const random = new SeededRandom(`lattice-restarts/${name}/${seed}`);
    const isClipped = name === "clipped gradients";
    const plain = randomTable(`restarts-${seed}`, { rows: 60, features: [1, 3], regression: isClipped });
    // One label far from all others.
    const table = isClipped ? { ...plain, labels: plain.labels.map((label, i) => (i === 7 ? 500 : label)) } : plain;
    const objective = isClipped ? ({ objective: "reg:squarederror", base_score: 0 } as const) : {};
    const training = { num_round: rounds, max_depth: 3, max_bin: 8, ...objective };
    const job = { table, training, defences, kernel: selectKernel(), key, scheme: lattice };
    const breaks = new Set(Array.from({ length: 3 }, () => random.below(rounds)));
    const { model } = await trainBrokenOff(
      job,
      [...breaks].sort((a, b) => a - b),
      at,
    );
    expect(firstDifference(model, await trainInOnePlace(job))).toBeNull();
  });
});
