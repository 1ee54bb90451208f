import { describe, expect, test } from "vitest";
import { transcriptJob } from "../../../test/support/record-samples.ts";
import { base64 } from "../../record/transcript-file.ts";
import type { TranscriptLine } from "../../record/transcript-lines.ts";
import { bitmapFrom } from "../../wire/bitmap.ts";
import { checkTranscript } from "./check-transcript.ts";
import type { KeptJob } from "./kept-transcript.ts";

const people = 10;
const heldBack = 9;
const job: KeptJob = transcriptJob(people);
const binCount = 4;

function check(binOf: (person: number) => number, leftLength = binCount + 2): void {
  const bins = base64(Uint16Array.from({ length: people }, (_, i) => binOf(i)));
  const lines: TranscriptLine[] = [
    job,
    { kind: "columns", columns: [{ name: "a", binCount, hasMissing: false, oneHot: null, monotone: 0, bins }] },
    { kind: "tree", peer: "bank", tree: 0, sampled: base64(bitmapFrom(people, (i) => i < 5)) },
    { kind: "tree", peer: "bank", tree: 1, sampled: base64(bitmapFrom(people, (i) => i >= 5 && i !== heldBack)) },
    { kind: "split", tree: 0, node: 0, feature: 0, left: base64(new Uint8Array(leftLength)) },
  ];
  checkTranscript("folder", lines, job);
}

describe("bins of a kept column", () => {
  const binFor = (special: number, bin: number) => (person: number) => (person === special ? bin : person % binCount);

  test("who is held back may lack the value, or have one beyond all bins", () => {
    for (const bin of [binCount - 1, binCount, binCount + 1]) expect(() => check(binFor(heldBack, bin))).not.toThrow();
    expect(() => check(binFor(heldBack, binCount + 2))).toThrow(/column 0 has a bin that it does not have/);
  });

  test("whom some tree has learnt from is in one of the column's own", () => {
    for (const person of [0, 7])
      for (const bin of [binCount, binCount + 1]) expect(() => check(binFor(person, bin))).toThrow(/does not have/);
  });

  test("a split says of each where it goes", () => {
    const ordinary = binFor(0, 0);
    for (const length of [binCount, binCount + 1, binCount + 3])
      expect(() => check(ordinary, length)).toThrow(/a split of tree 0 is of no column of it/);
  });
});
