/**
 * The system's main oracle: federated training equals centralised training on the same quantised gradients, node for
 * node and bit for bit, whatever the codec, layout, kernel, number of parties, missing values and ties.
 */
import { beforeAll, describe, expect, test } from "vitest";
import { generateKey, type Kernel, type PrivateKey } from "../src/crypto/index.ts";
import { firstDifference } from "../src/gbdt/model-compare.ts";
import { portableKernel } from "../src/crypto/portable-kernel.ts";
import { trainFederated, trainInOnePlace } from "./support/in-memory-job.ts";
import { randomTable } from "./support/tables.ts";

const kernels: Kernel[] = [portableKernel];

describe.each(kernels.map((kernel) => ({ kernel, name: kernel.name })))("federated equals centralised, $name kernel", ({ kernel }) => {
  let key: PrivateKey;
  beforeAll(async () => {
    key = await generateKey({ bits: 256, insecure: true });
  });

  for (const passives of [1, 2, 4]) {
    for (const codec of ["batched", "unbatched"] as const) {
      for (const missingShare of [0, 0.2]) {
        test(`${passives} passive parties, ${codec}, ${missingShare > 0 ? "with" : "without"} missing values`, async () => {
          for (let seed = 0; seed < 6; seed++) {
            const table = randomTable(seed, { rows: 90, features: [2, ...Array.from({ length: passives }, () => 2)], missingShare });
            const job = { table, codec: { codec }, kernel, key };
            const { model } = await trainFederated(job);
            expect(firstDifference(model, trainInOnePlace(job)), `seed ${seed}`).toBeNull();
          }
        });
      }
    }
  }
});
