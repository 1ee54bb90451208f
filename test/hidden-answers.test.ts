/**
 * A passive party that deviates where members are hidden: false hints and answers are refused with an error that names
 * the party, or change nothing.
 */
import { fromBinary, toBinary } from "@bufbuild/protobuf";
import { beforeAll, describe, expect, test } from "vitest";
import type { ErrorCode } from "../src/base/error.ts";
import { generateKey, type PrivateKey } from "../src/crypto/paillier/index.ts";
import { portableKernel } from "../src/crypto/paillier/portable-kernel.ts";
import { firstDifference } from "../src/gbdt/tree/model-compare.ts";
import { lattice } from "../src/scheme/lattice/lattice.ts";
import { connectInMemory } from "../src/transport/in-memory.ts";
import { bitmapFrom } from "../src/wire/bitmap.ts";
import {
  type LatticeHints,
  LatticeHintsSchema,
  type LatticeSums,
  LatticeSumsSchema,
} from "../src/wire/generated/tandem/v1/lattice_pb.ts";
import type { PassiveHistograms, PassiveSplit } from "../src/wire/generated/tandem/v1/tandem_pb.ts";
import type { PassivePeer } from "../src/wire/peer.ts";
import { expectError } from "./support/expect-error.ts";
import { type TestJob, trainFederated, trainInOnePlace } from "./support/in-memory-job.ts";
import { randomTable } from "./support/tables.ts";

let key: PrivateKey;
beforeAll(async () => {
  key = await generateKey({ bits: 128, insecure: true });
});

/** Six words of a candidate's hint and one of an answer's are each 7 bytes. */
const wordBytes = 7;
const degree = 4096;

interface Changes {
  hints?(message: LatticeHints, index: number): LatticeHints[];
  sums?(sums: LatticeSums, answer: PassiveHistograms): Partial<LatticeSums>;
  answer?(answer: PassiveHistograms): Partial<PassiveHistograms>;
  split?(split: PassiveSplit): Partial<PassiveSplit>;
}

function deviating({ hints, sums, answer, split }: Changes): NonNullable<TestJob["connect"]> {
  return (name, service) => {
    const peer = connectInMemory(name, service);
    return {
      ...peer,
      async *hints(...call: Parameters<PassivePeer["hints"]>) {
        let index = 0;
        for await (const message of peer.hints(...call))
          for (const changed of hints?.(fromBinary(LatticeHintsSchema, message.scheme), index++) ?? [null])
            yield changed === null ? message : { ...message, scheme: toBinary(LatticeHintsSchema, changed) };
      },
      async *histograms(...call: Parameters<PassivePeer["histograms"]>) {
        for await (const message of peer.histograms(...call)) {
          const inner = fromBinary(LatticeSumsSchema, message.scheme);
          const scheme = toBinary(LatticeSumsSchema, { ...inner, ...sums?.(inner, message) });
          yield { ...message, scheme, ...answer?.(message) };
        }
      },
      async *splits(...call: Parameters<PassivePeer["splits"]>) {
        for await (const message of peer.splits(...call)) yield { ...message, ...split?.(message) };
      },
    };
  };
}

const table = randomTable("deviates", { rows: 60, features: [0, 2] });
const plain = { table, training: { num_round: 1, max_bin: 4, max_depth: 2 } };
const jobWith = (changes: Changes): TestJob => {
  const job = { kernel: portableKernel, key, scheme: lattice, ...plain };
  return { ...job, connect: deviating(changes) };
};

/** Adds an amount, in units of the word's highest bit, to one word of `bytes` bytes. */
function shifted(words: Uint8Array, index: number, top: number): Uint8Array {
  const changed = words.slice();
  changed[(index + 1) * wordBytes - 1] ^= top;
  return changed;
}

const hintWords = (change: (words: Uint8Array) => Uint8Array): Changes => ({
  hints: (message) => [{ ...message, words: change(message.words) }],
});

test.each<[string, Changes, ErrorCode, RegExp]>([
  [
    "hints of more candidates than it has",
    { hints: (hint) => [{ ...hint, candidateCount: 13 }] },
    "PROTOCOL_STATE",
    /more candidates/,
  ],
  [
    "hints of a giant number",
    { hints: (hint) => [{ ...hint, candidateCount: 2 ** 32 - 1 }] },
    "PROTOCOL_STATE",
    /more candidates/,
  ],
  [
    "hints of fewer candidates than come",
    { hints: (hint) => [{ ...hint, candidateCount: 2 }] },
    "PROTOCOL_STATE",
    /not consecutive/,
  ],
  [
    "hints with a wrong first candidate",
    { hints: (hint) => [{ ...hint, firstCandidate: 1 }] },
    "PROTOCOL_STATE",
    /not consecutive at candidate 0/,
  ],
  ["hints that are cut off", hintWords((words) => words.subarray(1)), "PROTOCOL_STATE", /not consecutive/],
  ["one hint missing", hintWords((words) => words.subarray(degree * wordBytes)), "PROTOCOL_STATE", /fewer candidates/],
  ["hints without words", hintWords(() => new Uint8Array(0)), "PROTOCOL_STATE", /not consecutive/],
  ["hints twice", { hints: (hint) => [hint, hint] }, "PROTOCOL_STATE", /not consecutive/],
  ["no hints", { hints: () => [] }, "PROTOCOL_STATE", /fewer candidates/],
  [
    "hints of no candidate",
    { hints: (hint) => [{ ...hint, candidateCount: 0, words: new Uint8Array(0) }] },
    "PROTOCOL_STATE",
    /different candidates/,
  ],
  [
    "the highest bits of all hints changed",
    hintWords((words) => words.map((byte, i) => (i % wordBytes === 6 ? byte ^ (1 << (i % 8)) : byte))),
    "PROTOCOL_STATE",
    /cannot have|do not add up/,
  ],
  ["words of another length", { sums: ({ words }) => ({ words: words.subarray(1) }) }, "PROTOCOL_STATE", /length/],
  [
    "an extra word",
    { sums: ({ words }) => ({ words: Buffer.concat([words, words.subarray(0, wordBytes)]) }) },
    "PROTOCOL_STATE",
    /length/,
  ],
  ["no words", { sums: () => ({ words: new Uint8Array(0) }) }, "PROTOCOL_STATE", /length/],
  [
    "the highest bit of a word of g",
    { sums: ({ words }) => ({ words: shifted(words, 0, 128) }) },
    "PROTOCOL_STATE",
    /cannot have/,
  ],
  [
    "the highest bit of a word of h",
    { sums: ({ words }) => ({ words: shifted(words, 1, 128) }) },
    "PROTOCOL_STATE",
    /cannot have/,
  ],
  ["a bitmap of another length", { sums: () => ({ answered: new Uint8Array(5) }) }, "PROTOCOL_STATE", /./],
  ["a bitmap of too few", { sums: () => ({ answered: Uint8Array.of(1) }) }, "PROTOCOL_STATE", /./],
  [
    "counts, which a party cannot know here",
    { answer: ({ counts }) => ({ counts: counts.map(() => 1) }) },
    "PROTOCOL_STATE",
    /counts/,
  ],
  ["a giant count", { answer: ({ counts }) => ({ counts: counts.map(() => 2 ** 32 - 1) }) }, "PROTOCOL_STATE", /./],
  ["fewer candidates", { answer: ({ counts }) => ({ counts: counts.slice(1) }) }, "PROTOCOL_STATE", /./],
  [
    "suppressed candidates that are answered",
    { answer: ({ counts }) => ({ suppressed: bitmapFrom(counts.length, (i) => i === 0) }) },
    "PROTOCOL_STATE",
    /./,
  ],
  ["another node", { answer: ({ node }) => ({ node: node + 1 }) }, "PROTOCOL_STATE", /not asked for/],
  [
    "bytes that are not an answer",
    { answer: () => ({ scheme: Uint8Array.of(255, 255, 1) }) },
    "PROTOCOL_STATE",
    /no LatticeSums/,
  ],
  [
    "an instance on the other side",
    { split: ({ leftMembers }) => ({ leftMembers: leftMembers.map((byte, i) => (i === 0 ? byte ^ 1 : byte)) }) },
    "PROTOCOL_STATE",
    /add up/,
  ],
  [
    "all instances on one side",
    { split: ({ leftMembers }) => ({ leftMembers: leftMembers.map((_, i) => (i === 7 ? 15 : 255)) }) },
    "PROTOCOL_STATE",
    /add up/,
  ],
  [
    "a bitmap of the node's instances only",
    { split: ({ leftMembers }) => ({ leftMembers: leftMembers.subarray(1) }) },
    "PROTOCOL_STATE",
    /./,
  ],
])("%s", async (_what, changes, code, message) => {
  const error = await expectError(() => trainFederated(jobWith(changes)), code, message);
  expect(error.message).toContain("passive-1");
});

describe("deviations too small to detect", () => {
  test("the lowest bits of hints and words are noise: the model is the same", async () => {
    const low = (words: Uint8Array): Uint8Array => words.map((byte, i) => (i % wordBytes === 0 ? byte ^ 1 : byte));
    const job = jobWith({ ...hintWords(low), sums: ({ words }) => ({ words: low(words) }) });
    const { model } = await trainFederated(job);
    expect(firstDifference(model, await trainInOnePlace(job))).toBeNull();
  });

  test("slightly false sums within the possible range are detected when they win", async () => {
    let lies = 0;
    // t = 2 (60 x 2^24) + 1, so a step of the 21st bit from above is some thousand of the grid.
    const shift = ({ words }: LatticeSums): Partial<LatticeSums> => {
      lies++;
      const changed = words.slice();
      for (let word = 0; word < words.length / wordBytes; word += 2) changed[word * wordBytes + 4] ^= 8;
      return { words: changed };
    };
    await expectError(
      () => trainFederated(jobWith({ sums: shift })),
      "PROTOCOL_STATE",
      /passive-1 .*(?:add up|cannot have)/,
    );
    expect(lies).toBe(1);
  });
});
