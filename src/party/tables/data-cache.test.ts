import { noConstraints } from "../../data/feature-constraints.ts";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { expectError } from "../../../test/support/expect-error.ts";
import type { DataConfig } from "../config/data-config.ts";
import { DataCache } from "./data-cache.ts";
import { binTable } from "./party-data.ts";

let folder: string;
beforeAll(async () => (folder = await mkdtemp(join(tmpdir(), "tandem-cache-"))));
afterAll(() => rm(folder, { recursive: true }));

const data = (fields: Partial<DataConfig>): DataConfig => ({
  id: "id",
  features: "all",
  missing: [],
  categorical: [],
  ...noConstraints,
  normalise: [],
  duplicates: "refuse",
  ...fields,
});

async function fileOf(name: string, text: string): Promise<string> {
  await writeFile(join(folder, name), text);
  return join(folder, name);
}

const binning = { maxBin: 8, enableCategorical: true, maxCatToOnehot: 4 };

test("a passive party's column of numbers and text has categories, in its later files too", async () => {
  const path = await fileOf("train.csv", "id,code,age\n1,250.8,30\n2,V57,40\n3,250.8,50\n");
  const validation = await fileOf("later.csv", "id,code,age\n4,250.8,60\n5,401,70\n");
  const notices: string[] = [];
  const cache = new DataCache(data({ path, validation_path: validation }), "categories", (words) =>
    notices.push(words),
  );
  const { table } = await cache.table();
  expect(table.categories?.["code"].names).toEqual(["250.8", "V57", "401"]);
  expect([...table.features[0]]).toEqual([0, 1, 0, 0, 2]);
  expect([...table.features[1]]).toEqual([30, 40, 50, 60, 70]);
  expect(notices).toEqual([
    expect.stringContaining(`${path}, line 3, column 'code': the column has numbers and text`),
    expect.stringMatching(/1 did not occur in the data read before/),
  ]);
  expect(binTable(table, binning, Uint32Array.of(0, 1, 2))[0].categories).toEqual(["250.8", "V57"]);
  await expectError(
    () => binTable(table, { ...binning, enableCategorical: false }),
    "CELL_UNPARSABLE",
    /train\.csv, line 3, column 'code'.*enable_categorical.*data\.missing/,
  );
});

test("what was numbers in the first file must be numbers in the next", async () => {
  const path = await fileOf("numbers.csv", "id,code\n1,250.8\n2,57\n");
  const validation = await fileOf("words.csv", "id,code\n3,1\n4,V57\n");
  await expectError(
    () => new DataCache(data({ path, validation_path: validation })).table(),
    "CELL_UNPARSABLE",
    /words\.csv, line 3, column 'code'.*data\.missing.*data\.categorical: code/,
  );
});
