/** A passive party's rows in several blocks: the model does not depend on the blocks. */
import { beforeAll, expect, test } from "vitest";
import { osRandom } from "../src/base/random.ts";
import { generateKey, type PrivateKey, selectKernel } from "../src/crypto/paillier/index.ts";
import { selectLatticeKernel } from "../src/crypto/lattice/select-kernel.ts";
import { firstDifference } from "../src/gbdt/tree/model-compare.ts";
import { EmbeddedCrew } from "../src/scheme/blocks/embedded-crew.ts";
import { LatticeBlock } from "../src/scheme/lattice/block.ts";
import { lattice } from "../src/scheme/lattice/lattice.ts";
import { LatticePassive } from "../src/scheme/lattice/passive.ts";
import { PaillierBlock } from "../src/scheme/paillier/block.ts";
import { PaillierPassive } from "../src/scheme/paillier/passive.ts";
import { trainFederated, trainInOnePlace } from "./support/in-memory-job.ts";
import { manyFeatures } from "./support/oracle-jobs.ts";

const kernel = selectKernel();
let key: PrivateKey;
beforeAll(async () => {
  key = await generateKey({ bits: 256, insecure: true });
});

test.each(manyFeatures)("Paillier in blocks of 7 rows: %s", async (_name, table, training) => {
  const job = { table, training, kernel, key };
  const crew = new EmbeddedCrew((data) => new PaillierBlock(kernel, data, 1), 7);
  const { model } = await trainFederated({ ...job, passiveScheme: () => new PaillierPassive(kernel, 1, crew) });
  expect(firstDifference(model, await trainInOnePlace(job))).toBeNull();
});

test.each(manyFeatures.filter(([name]) => /constraints/.test(name)))(
  "lattices in blocks of 7 rows: %s",
  async (_name, table, training) => {
    const job = { table, training, kernel, key, scheme: lattice };
    const of = selectLatticeKernel();
    const crew = new EmbeddedCrew((data) => new LatticeBlock(of, data, 1), 7);
    const { model } = await trainFederated({
      ...job,
      passiveScheme: () => new LatticePassive(of, 1, osRandom.fill(new Uint8Array(32)), { crew }),
    });
    expect(firstDifference(model, await trainInOnePlace(job))).toBeNull();
  },
);
