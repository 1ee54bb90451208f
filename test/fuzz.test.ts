/** A short run of `npm run fuzz`, which takes any number of mutants and also finds hangs and crashes. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { SeededRandom } from "../src/base/random.ts";
import { TandemError } from "../src/base/error.ts";
import { scratchDirectory } from "./support/command.ts";
import { formats } from "./support/fuzz/formats.ts";
import { fuzz } from "./support/fuzz/fuzz-run.ts";
import { mutated } from "./support/fuzz/mutate.ts";

const folder = scratchDirectory();
/** Starting threads and drawing charts is slow. */
const counts: Readonly<Record<string, number>> = { parquet: 6, events: 12, transcript: 12 };

test.each(formats.map(({ name, prepare }) => ({ name, prepare })))("$name", async ({ name, prepare }) => {
  const own = join(folder, name);
  mkdirSync(own);
  const target = await prepare(own);
  const count = counts[name] ?? 60;
  const { read, refused, wrong } = await fuzz(target, { seed: 7, format: name, from: 0, count });
  await target.close?.();
  expect(wrong).toEqual([]);
  expect(read + refused).toBe(count);
});

test("the same seed makes the same mutant, another seed a different one", () => {
  const corpus = [Buffer.from("id,x\n1,2\n".repeat(9))];
  const drawn = (): string[] =>
    Array.from({ length: 40 }, (_, i) => Buffer.from(mutated(corpus, new SeededRandom(`a:${i}`))).toString("latin1"));
  expect(drawn().join("|") === drawn().join("|")).toBe(true);
  expect(new Set(drawn()).size).toBeGreaterThan(30);
});

test("a raw exception, an internal error and a refusal without the file's name are wrong outcomes", async () => {
  const errors = [
    new TypeError("raw"),
    new TandemError("INTERNAL", "a.csv: a bug"),
    new TandemError("FILE_FORMAT", "no name"),
    new TandemError("FILE_FORMAT", "a.csv is damaged"),
  ];
  const target = {
    named: "a.csv",
    mutant: () => null,
    async read() {
      const next = errors.shift();
      if (next !== undefined) throw next;
      return undefined;
    },
  };
  const report = await fuzz(target, { seed: 1, format: "x", from: 0, count: 5 });
  expect(report).toMatchObject({ read: 1, refused: 1 });
  expect(report.wrong.map(({ mutant }) => mutant)).toEqual([0, 1, 2]);
});
