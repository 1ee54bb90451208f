import { create } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { expectError } from "../../../test/support/expect-error.ts";
import type { PartyTable } from "../../data/dataset.ts";
import { ActiveHelloSchema } from "../../wire/generated/tandem/v1/tandem_pb.ts";
import type { PassiveFiles } from "./passive-files.ts";
import type { Aligned } from "./admission-state.ts";
import { jobRows } from "./job-rows.ts";

const tableOf = (ids: readonly string[]): PartyTable => ({
  ids: [...ids],
  featureNames: ["f"],
  features: [Float32Array.from(ids, (_, i) => i)],
  labels: null,
});

/** With the members that rows need. */
function filesWith(own: readonly string[], test: readonly string[] | null): PassiveFiles {
  const files: Pick<PassiveFiles, "table" | "testTable"> & { readonly config: { readonly name: string } } = {
    config: { name: "shop" },
    table: async () => ({ table: tableOf(own) }) as Awaited<ReturnType<PassiveFiles["table"]>>,
    testTable: async () => (test && { table: tableOf(test) }) as Awaited<ReturnType<PassiveFiles["testTable"]>>,
  };
  return files as PassiveFiles;
}

const all = ["a", "b", "c", "d"];

describe("training rows are not predicted", () => {
  const rowsOf = async (trainingRows: Uint8Array, test: readonly string[] | null, aligned: Aligned | null = null) => {
    const hello = create(ActiveHelloSchema, { trainingRows, aligned: aligned !== null });
    const { training, predictable } = await jobRows(filesWith(all, test), { hello, job: "j", active: "bank", aligned });
    return [training.ids, predictable.ids];
  };

  test("the others are, where the active party holds out some", async () => {
    expect(await rowsOf(Uint8Array.of(0b0101), null)).toEqual([
      ["a", "c"],
      ["b", "d"],
    ]);
  });

  test("none is, where all are trained on", async () => {
    expect(await rowsOf(new Uint8Array(0), null)).toEqual([all, []]);
    expect(await rowsOf(Uint8Array.of(0b1111), null)).toEqual([all, []]);
  });

  test("those of the test file are, where there is one", async () => {
    expect(await rowsOf(new Uint8Array(0), ["x"])).toEqual([all, ["x"]]);
  });

  test("after an alignment the others are, even with a test file", async () => {
    const data = { table: tableOf(all) } as Aligned["data"];
    const aligned = { job: "j", rows: Uint32Array.of(3, 0, 1), data } as Aligned;
    expect(await rowsOf(Uint8Array.of(0b011), ["x"], aligned)).toEqual([["d", "a"], ["b"]]);
  });

  test("a bitmap of another length is refused", async () => {
    await expectError(() => rowsOf(Uint8Array.of(1, 1), null), "ID_MISMATCH", /shop does not hold the same ids/);
  });
});
