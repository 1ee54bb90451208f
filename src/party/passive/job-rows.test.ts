import { create } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { expectError } from "../../../test/support/expect-error.ts";
import type { PartyTable } from "../../data/dataset.ts";
import { ActiveHelloSchema } from "../../wire/generated/tandem/v1/tandem_pb.ts";
import type { DeskFiles } from "./desk-files.ts";
import type { Aligned } from "./desk-state.ts";
import { jobRows } from "./job-rows.ts";

const tableOf = (ids: readonly string[]): PartyTable => ({
  ids: [...ids],
  featureNames: ["f"],
  features: [Float32Array.from(ids, (_, i) => i)],
  labels: null,
});

/** As far as rows are concerned. */
function filesWith(own: readonly string[], test: readonly string[] | null): DeskFiles {
  const files: Pick<DeskFiles, "table" | "testTable"> & { readonly config: { readonly name: string } } = {
    config: { name: "shop" },
    table: async () => ({ table: tableOf(own) }) as Awaited<ReturnType<DeskFiles["table"]>>,
    testTable: async () => (test && { table: tableOf(test) }) as Awaited<ReturnType<DeskFiles["testTable"]>>,
  };
  return files as DeskFiles;
}

const all = ["a", "b", "c", "d"];

describe("people who are trained on are not predicted", () => {
  const rowsOf = async (trainingRows: Uint8Array, test: readonly string[] | null, aligned: Aligned | null = null) => {
    const hello = create(ActiveHelloSchema, { trainingRows, aligned: aligned !== null });
    const { training, predictable } = await jobRows(filesWith(all, test), { hello, job: "j", active: "bank", aligned });
    return [training.ids, predictable.ids];
  };

  test("the others are, where the active party holds some back", async () => {
    expect(await rowsOf(Uint8Array.of(0b0101), null)).toEqual([
      ["a", "c"],
      ["b", "d"],
    ]);
  });

  test("nobody is, where all are trained on", async () => {
    expect(await rowsOf(new Uint8Array(0), null)).toEqual([all, []]);
    expect(await rowsOf(Uint8Array.of(0b1111), null)).toEqual([all, []]);
  });

  test("those of the test file are, where there is one", async () => {
    expect(await rowsOf(new Uint8Array(0), ["x"])).toEqual([all, ["x"]]);
  });

  test("of an alignment the others are, whatever the file says", async () => {
    const data = { table: tableOf(all) } as Aligned["data"];
    const aligned = { job: "j", rows: Uint32Array.of(3, 0, 1), data } as Aligned;
    expect(await rowsOf(Uint8Array.of(0b011), ["x"], aligned)).toEqual([["d", "a"], ["b"]]);
  });

  test("a bitmap of another length names nobody", async () => {
    await expectError(() => rowsOf(Uint8Array.of(1, 1), null), "ID_MISMATCH", /shop does not hold the same ids/);
  });
});
