/** `tandem reproduce` refuses what it cannot run; test/campaigns/reproduce.test.ts runs it. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { readCreditTable } from "../lab/trials/credit-tables.ts";
import { paperDatasets } from "../lab/trials/paper-datasets.ts";
import { scratchDirectory } from "./support/command.ts";
import { tandem } from "./world/tandem-process.ts";

const out = join(scratchDirectory(), "report");

describe("without the public files", () => {
  test.each([
    [
      [],
      /no data: name the folder of the public files with --data \(see docs\/data\.md\), or take --synthetic \(USAGE\)/,
    ],
    [
      ["--data", "test"],
      /test holds no cs-training\.csv or cs-training\.csv\.gz .*docs\/data\.md.*--synthetic.*\(FILE_UNREADABLE\)/,
    ],
    [["--synthetic", "--data", "test"], /--data and --synthetic exclude each other/],
    [["--synthetic", "--quick", "--smoke"], /--quick and --smoke exclude each other/],
    [["--synthetic", "--docs", "docs"], /--docs goes with 'all'/],
    [["--synthetic", "--repeats", "0"], /--repeats must be an integer from 1/],
  ])("%j says what to do", async (args, message) => {
    const { exitCode, stderr } = await tandem("reproduce", "samples", ...args, "--out", join(out, "none"));
    expect(exitCode).toBe(2);
    expect(stderr).toMatch(message);
  });
});

const folder = process.env["TANDEM_DATA"] ?? fileURLToPath(new URL("../../shared/data", import.meta.url));
const absent = !existsSync(folder);
if (absent) console.info("reproduce: the public tables are not here (TANDEM_DATA); reading them is not tested");

describe.skipIf(absent)("the public files", () => {
  test("have the columns we give to the parties, and rows enough for the paper's sizes", async () => {
    for (const dataset of Object.values(paperDatasets)) {
      const table = await readCreditTable(dataset, folder);
      expect(table.rowCount).toBeGreaterThanOrEqual(dataset.trainRows + dataset.testRows);
      expect(table.parties.map(({ featureNames }) => featureNames)).toEqual([dataset.active, dataset.passive]);
    }
  });
});
