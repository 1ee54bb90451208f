import { describe, expect, test } from "vitest";
import { transcriptJob } from "../../../test/support/record-samples.ts";
import { base64 } from "../../record/transcript-file.ts";
import type { TranscriptLine } from "../../record/transcript-lines.ts";
import { bitmapFrom } from "../../wire/bitmap.ts";
import { checkTranscript } from "./check-transcript.ts";
import type { KeptJob } from "./kept-transcript.ts";

const rowCount = 10;
const heldBack = 9;
const job: KeptJob = transcriptJob(rowCount);
const binCount = 4;

function check(binOf: (row: number) => number, leftLength = binCount + 2): void {
  const bins = base64(Uint16Array.from({ length: rowCount }, (_, i) => binOf(i)));
  const lines: TranscriptLine[] = [
    job,
    { kind: "columns", columns: [{ name: "a", binCount, hasMissing: false, oneHot: null, monotone: 0, bins }] },
    { kind: "tree", peer: "bank", tree: 0, sampled: base64(bitmapFrom(rowCount, (i) => i < 5)) },
    { kind: "tree", peer: "bank", tree: 1, sampled: base64(bitmapFrom(rowCount, (i) => i >= 5 && i !== heldBack)) },
    { kind: "split", tree: 0, node: 0, feature: 0, left: base64(new Uint8Array(leftLength)) },
  ];
  checkTranscript("folder", lines, job);
}

describe("bins of a kept column", () => {
  const binFor = (special: number, bin: number) => (row: number) => (row === special ? bin : row % binCount);

  test("a held-out row may have a missing value, or one beyond all bins", () => {
    for (const bin of [binCount - 1, binCount, binCount + 1]) expect(() => check(binFor(heldBack, bin))).not.toThrow();
    expect(() => check(binFor(heldBack, binCount + 2))).toThrow(/column 0 has a bin out of range/);
  });

  test("a row that some tree was trained on is in one of the column's own bins", () => {
    for (const row of [0, 7])
      for (const bin of [binCount, binCount + 1]) expect(() => check(binFor(row, bin))).toThrow(/out of range/);
  });

  test("a split has a direction for every bin", () => {
    const ordinary = binFor(0, 0);
    for (const length of [binCount, binCount + 1, binCount + 3])
      expect(() => check(ordinary, length)).toThrow(/a split of tree 0 does not fit any of its columns/);
  });
});
