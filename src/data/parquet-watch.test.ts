/** Every end of a thread is a result: nothing is thrown, and no thread remains. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { parquetWriteBuffer } from "hyparquet-writer";
import { beforeAll, expect, test } from "vitest";
import { scratchDirectory } from "../../test/support/command.ts";
import type { ParquetAnswer, ParquetMessage } from "./parquet-thread.ts";
import { watchThread } from "./parquet-watch.ts";

const path = join(scratchDirectory(), "long.parquet");
const task = { path, pageBytesMax: 2 ** 29, readsPerByteMax: 4 };
const enough = { heapMegabytes: 512, silenceMs: 60_000, totalMs: 600_000 };

/** Takes several clock ticks to read. */
beforeAll(() => {
  const data = Array.from({ length: 200_000 }, (_, i) => `person ${i}`);
  const columnData = [{ name: "x", data, type: "STRING" as const, encoding: "PLAIN" as const }];
  writeFileSync(path, Buffer.from(parquetWriteBuffer({ columnData, rowGroupSize: data.length })));
});

function answer({ kind }: ParquetMessage): ParquetAnswer | null {
  if (kind === "shape") return { kind: "wanted", columns: [0] };
  return kind === "cells" ? { kind: "taken" } : null;
}

test.each([
  ["done", enough],
  ["slow", { ...enough, silenceMs: -1 }],
  ["slow", { ...enough, totalMs: 0 }],
  ["large", { ...enough, heapMegabytes: 10 }],
])("%s", async (kind, limits) => {
  expect(await watchThread(task, () => limits, answer)).toMatchObject({ kind });
});

test("a file that is gone, and a listener that throws", async () => {
  const gone = { ...task, path: `${path}.none` };
  expect(await watchThread(gone, () => enough, answer)).toMatchObject({ kind: "failed" });
  const throwing = (): never => {
    throw new Error("enough");
  };
  await expect(watchThread(task, () => enough, throwing)).rejects.toThrow("enough");
});
