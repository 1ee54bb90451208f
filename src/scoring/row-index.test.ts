import { noConstraints } from "../data/feature-constraints.ts";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { expectError } from "../../test/support/expect-error.ts";
import { unknownRow } from "../protocol/passive/split-outcomes.ts";
import type { DataConfig } from "../party/config/data-config.ts";
import { CurrentRows } from "./row-index.ts";

const folder = mkdtempSync(join(tmpdir(), "tandem-rows-"));
afterAll(() => rmSync(folder, { recursive: true }));

const data: DataConfig = {
  id: "id",
  features: "all",
  missing: [],
  categorical: [],
  ...noConstraints,
  normalise: ["lowercase"],
  duplicates: "refuse",
};
const silent = (): void => {};

test("rows of both tables by normalised id, columns by name; the test table takes precedence", async () => {
  const [path, testPath] = [join(folder, "train.csv"), join(folder, "test.csv")];
  writeFileSync(path, "id,a,b\nX1,1,2\nx2,3,\n");
  writeFileSync(testPath, "b,id,a\n9,x2,8\n7,X3,6\n");
  const index = await new CurrentRows({ ...data, path, test_path: testPath }, { onTrouble: silent }).current();
  const values = (id: string): number[] => ["a", "b"].map((name) => index.column(name)[index.rowOf(id)]);
  expect(["x1 ", "X2", "x3"].map(values)).toEqual([
    [1, 2],
    [8, 9],
    [6, 7],
  ]);
  expect(index.rowOf("x4")).toBe(unknownRow);
  await expectError(() => index.column("c"), "COLUMN_UNKNOWN", /no longer has the feature 'c'/);
});

test("a file is read again when it has changed, but checked only once a second", async () => {
  const path = join(folder, "changing.csv");
  writeFileSync(path, "id,a\nx,1\n");
  let now = 0;
  const rows = new CurrentRows({ ...data, path }, { onTrouble: silent, now: () => now });
  const first = await rows.current();
  expect(await rows.current()).toBe(first);
  now = 5000;
  expect(await rows.current()).toBe(first);
  writeFileSync(path, "id,a\nx,1\nyy,2\n");
  now = 5999;
  expect((await rows.current()).rowOf("yy")).toBe(unknownRow);
  now = 6000;
  expect((await rows.current()).rowOf("yy")).toBe(1);
  writeFileSync(path, "id,a\nx,1\nx,2\n");
  now = 7000;
  await expectError(() => rows.current(), "ID_DUPLICATE");
});

test("a program is run once a minute, in the background, and its last output is used meanwhile", async () => {
  const path = join(folder, "source.csv");
  const count = join(folder, "count");
  writeFileSync(path, "id,a\nx,1\n");
  writeFileSync(count, "");
  const command = [
    process.execPath,
    "-e",
    `const fs = require("fs"); fs.appendFileSync(${JSON.stringify(count)}, ".");
        process.stdout.write(fs.readFileSync(${JSON.stringify(path)}))`,
  ];
  let now = 0;
  const troubles: unknown[] = [];
  const rows = new CurrentRows({ ...data, command }, { onTrouble: (error) => troubles.push(error), now: () => now });
  const first = await rows.current();
  now = 59_999;
  expect(await rows.current()).toBe(first);
  writeFileSync(path, "id,a\nx,1\nyy,2\n");
  now = 60_000;
  expect(await rows.current()).toBe(first);
  while ((await rows.current()).rowOf("yy") === unknownRow) await new Promise((resolve) => setTimeout(resolve, 5));
  expect(readFileSync(count, "utf8")).toBe("..");
  rmSync(path);
  now = 120_001;
  await rows.current();
  while (troubles.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  expect((await rows.current()).rowOf("yy")).toBe(1);
  expect(String(troubles[0])).toContain("exit code");
});
