import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { scratchDirectory } from "../../test/support/command.ts";
import { RecordReader } from "../record/stored-record.ts";
import { keepContributions, meanContributions } from "./mean-contributions.ts";

const share = { name: "bank", passiveNames: ["shop"] };

test("mean absolute values of the selected rows, over all classes, without the bias", () => {
  const values = Float64Array.of(1, -2, 9, -3, 4, 9, 100, 100, 9);
  expect(meanContributions(share, ["age"], values, [0, 1], false)).toEqual({
    people: 2,
    outputs: 1,
    isByParty: false,
    means: [
      { feature: "age", party: "bank", mean: 2 },
      { feature: null, party: "shop", mean: 3 },
    ],
  });
  const { means } = meanContributions({ ...share, outputCount: 2 }, ["age"], values.subarray(0, 6), [0], true);
  expect(means.map(({ mean }) => mean)).toEqual([4, 6]);
});

test("they are kept in the record of a job, and nowhere else", async () => {
  const folder = join(scratchDirectory(), "spring");
  const summary = meanContributions(share, ["age"], Float64Array.of(1, -2, 9), [0], false);
  keepContributions(folder, summary);
  mkdirSync(folder);
  expect((await new RecordReader(folder).next()).own).toEqual([]);
  writeFileSync(join(folder, "own.jsonl"), "");
  keepContributions(folder, summary);
  expect((await new RecordReader(folder).next()).own).toEqual([{ kind: "contributions", summary }]);
});
