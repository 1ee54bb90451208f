/**
 * `tandem reproduce` from beginning to end on a few made-up people: real processes, every table and figure, and a
 * second one that has nothing to do.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { scratchDirectory } from "../support/command.ts";
import { tandem } from "../world/tandem-process.ts";

const out = join(scratchDirectory(), "report");
const read = (name: string): string => readFileSync(join(out, name), "utf8");

test("the smallest reproduction of everything, and then nothing is left to run", async () => {
  const smoke = ["reproduce", "all", "--synthetic", "--smoke", "--out", out];
  const first = await tandem(...smoke);
  expect(first.exitCode, first.stderr).toBe(0);
  expect(first.stderr).toMatch(/^8 trainings; about /m);
  expect(first.stderr).toMatch(/^8\/8 {2}default-366rows-256bit-3trees-batched-everything-off/m);

  const tables = [
    "ablation-paper-setting",
    "ablation-shortcuts",
    "report-claims",
    "keys-accuracy",
    "keys-time",
    "overflow-example",
    "overflow-sums",
    "precision-alpha",
    "precision-draws",
    "precision-errors",
    "precision-models",
    "rounds-accuracy",
    "rounds-time",
    "samples-accuracy",
    "samples-time",
  ];
  const figures = [
    "ablation-paper-setting",
    "ablation-shortcuts",
    "keys-time",
    "overflow-sums",
    "precision-alpha",
    "precision-alpha-max",
    "precision-bound",
    "rounds-time",
    "samples-time",
  ];
  const names = [
    ...tables.flatMap((name) => [`${name}.csv`, `${name}.md`]),
    ...figures.flatMap((name) => [`${name}.svg`, `${name}.png`]),
    "cells",
    "report.html",
  ];
  expect(readdirSync(out).sort()).toEqual(names.sort());
  expect(readdirSync(join(out, "cells"))).toHaveLength(8);

  // What does not depend on the machine's speed or on so few people.
  const verdicts = Object.fromEntries(
    read("report-claims.csv")
      .trim()
      .split("\n")
      .slice(1)
      .map((line) => [line.split(",")[0], line.split(",").at(-1)]),
  );
  for (const name of ["gradient ciphertexts", "gradient bytes", "candidate ciphertexts", "no overflow"])
    expect(verdicts[name], name).toBe("held");
  const accuracy = read("keys-accuracy.csv")
    .trim()
    .split("\n")
    .map((line) => line.split(","));
  expect(accuracy.slice(1).map((row) => row.slice(0, 3))).toEqual([
    ["256", "SecureBoost", "0.7904"],
    ["256", "Proposed", "0.7899"],
  ]);
  for (const [, , paper, ours, difference] of accuracy.slice(1))
    expect(Number(difference)).toBeCloseTo(Number(ours) - Number(paper), 3);
  const html = read("report.html");
  expect(html.match(/<svg/g)).toHaveLength(figures.length);
  expect(html).toContain("The data are synthetic");
  expect(html).toContain("A smoke reproduction, with fewer rows and trees");

  const page = join(out, "docs");
  mkdirSync(page);
  const second = await tandem(...smoke, "--docs", page);
  expect(second.exitCode, second.stderr).toBe(0);
  expect(second.stderr).toContain("nothing to train, 8 finished before");
  expect(second.stdout.split("\nOverflow")[0]).toBe(first.stdout.split("\nOverflow")[0]); // not measured again
  expect(readFileSync(join(page, "results.md"), "utf8")).toContain("](results/overflow-sums.svg)");
  expect(existsSync(join(page, "results", "overflow-sums.png"))).toBe(true);
});
