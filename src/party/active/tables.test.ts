/** The training, validation and test rows of a job. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { expectError } from "../../../test/support/expect-error.ts";
import { DistinctIds } from "../../psi/normalise.ts";
import { resolveParameters } from "../../base/parameters/parameters.ts";
import { trainingParameters } from "../../gbdt/parameters/training-parameters.ts";
import { isSet } from "../../wire/bitmap.ts";
import { joinParts } from "../tables/joined-tables.ts";
import { type ActiveTables, jobTables, readActiveTables } from "./tables.ts";
import type { ActiveConfig } from "../config/config.ts";
import type { TablePart } from "../tables/joined-tables.ts";
import { resolveJob } from "../resolve-job.ts";

function part(field: TablePart["field"], ids: readonly string[]): TablePart {
  const values = Float32Array.from(ids, (id) => Number(id.slice(1)));
  const table = {
    ids: [...ids],
    featureNames: ["x"],
    features: [values],
    labels: Float64Array.from(values, (value) => value % 2),
    weights: null,
  };
  return {
    field,
    path: `${field}.csv`,
    rows: { table, ids: DistinctIds.from(ids).inOwnOrder(), fileRows: Uint32Array.from(ids, (_, i) => i + 1) },
  };
}

const config = (data: Partial<ActiveConfig["data"]>): Pick<ActiveConfig, "data" | "job"> => ({
  data: {
    id: "id",
    features: "all",
    label: "y",
    missing: [],
    monotone_constraints: {},
    normalise: [],
    duplicates: "refuse",
    ...data,
  } as ActiveConfig["data"],
  job: { ...resolveJob({}), start: null },
});
const train = part(
  "path",
  Array.from({ length: 12 }, (_, i) => `t${i}`),
);
const test2 = part("test_path", ["e100", "e101"]);
const held = part("validation_path", ["v200", "v201", "v202"]);
const files = { test_path: "e", validation_path: "v" };

describe("with a validation file", () => {
  test("without alignment its rows follow the training rows; those of a test file are in no common order", () => {
    const tables: ActiveTables = [train, test2, held];
    const job = jobTables(tables, null, config(files));
    expect([...job.train.ids]).toEqual([...train.rows.table.ids, "v200", "v201", "v202"]);
    expect(Array.from(job.rows.validation ?? [])).toEqual([12, 13, 14]);
    expect(job.test?.ids).toEqual(["e100", "e101"]);
    expect(job.sharedRows).toEqual({ aligned: false, training: new Uint8Array(0) });
    expect(Array.from(job.train.features[0].subarray(11))).toEqual([11, 200, 201, 202]);
  });

  test("aligned, all files' rows are in the common order", () => {
    const tables: ActiveTables = [train, test2, held];
    const job = jobTables(tables, Uint32Array.of(15, 3, 12, 0, 14), config(files));
    expect([11, 12, 13, 14, 15, 16].map(joinParts(tables).fieldOf)).toEqual([
      "path",
      "test_path",
      "test_path",
      "validation_path",
      "validation_path",
      "validation_path",
    ]);
    expect([...job.train.ids]).toEqual(["v201", "t3", "t0", "v200"]);
    expect(Array.from(job.rows.validation ?? [])).toEqual([0, 3]);
    expect([...(job.test?.ids ?? [])]).toEqual(["e100"]);
    expect([0, 1, 2, 3, 4].map((row) => isSet(job.sharedRows.training, row))).toEqual([true, true, false, true, true]);
  });

  test("drawn test rows are drawn from the others, as without the file", () => {
    const drawn = (tables: ActiveTables, data: Partial<ActiveConfig["data"]>): string[] => [
      ...(jobTables(tables, null, config({ test_fraction: 0.5, ...data })).test?.ids ?? []),
    ];
    expect(drawn([train, held], { validation_path: "v" })).toEqual(drawn([train], {}));
    expect(drawn([train], {})).toHaveLength(6);
  });

  test("of which no row is common to all, or only they are", async () => {
    await expectError(
      () => jobTables([train, held], Uint32Array.of(1, 2), config({ validation_path: "v" })),
      "ID_MISMATCH",
      /none of the validation rows/,
    );
    await expectError(
      () => jobTables([train, held], Uint32Array.of(13, 12), config({ validation_path: "v" })),
      "ID_MISMATCH",
      /none of the training rows/,
    );
  });

  test("that contains a training row", async () => {
    await expectError(
      () => joinParts([train, part("validation_path", ["v1", "t3"])]),
      "ID_DUPLICATE",
      /validation_path\.csv: 1 of its ids/,
    );
  });
});

test("a ranking's groups have one weight each, those of test rows too, or nothing is read on", async () => {
  const folder = mkdtempSync(join(tmpdir(), "tandem-groups-"));
  try {
    const write = (name: string, lastWeight: number): string => {
      const path = join(folder, name);
      writeFileSync(path, `id,y,x,q,w\n${name}1,1,2,7,0.5\n${name}2,0,1,7,${lastWeight}\n`);
      return path;
    };
    const reading = (path: string, test_path: string) => {
      const { data } = config({
        path,
        test_path,
        weight: "w",
        qid: "q",
        features: ["x"],
        categorical: [],
        interaction_constraints: {},
      });
      const training = resolveParameters(trainingParameters, { objective: "rank:ndcg" });
      return readActiveTables({ data, job: { training } }, () => {});
    };
    const even = write("even.csv", 0.5);
    expect((await reading(even, write("test.csv", 0.5))).map(({ rows }) => rows.table.ids.length)).toEqual([2, 2]);
    const odd = write("odd.csv", 0.75);
    const words = /odd\.csv: the weight of instance 1 differs from that of instance 0 of its group \(qid\)(?!.*0\.)/;
    await expectError(() => reading(even, odd), "WEIGHT_INVALID", words);
    await expectError(() => reading(odd, even), "WEIGHT_INVALID", words);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
