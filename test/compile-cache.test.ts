/** Compiled code that is kept between runs: it is used, and never in place of other source. */
import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { packagePath } from "../src/base/package-root.ts";
import { scratchDirectory } from "./support/command.ts";

const home = scratchDirectory();
let folder = home;
let cache = home;
let runs = 0;

beforeEach(() => {
  folder = join(home, String(runs++));
  cache = join(folder, "cache");
  mkdirSync(folder);
  writeFileSync(join(folder, "chunk.cjs"), chunkOf(7));
});

const chunkOf = (value: number): string =>
  `const { basename } = require("node:path"); exports.value = () => [${value}, basename(__filename)];`;

interface Run {
  readonly value: readonly [value: number, name: string];
  /** Whether V8 took compiled code that was kept; absent: none was given. */
  readonly isUsed?: boolean;
}

/** A process that loads the chunk. @param flags of V8 */
function run(...flags: string[]): Run {
  const program = `
    const vm = require("node:vm");
    const scripts = [];
    vm.Script = class extends vm.Script {
      constructor(...made) { super(...made); scripts.push(this); }
    };
    require(${JSON.stringify(packagePath("bin", "compile-cache.js"))})(${JSON.stringify(cache)});
    const value = require("./chunk.cjs").value();
    const rejected = scripts[0]?.cachedDataRejected;
    Promise.resolve(value).then((value) =>
      console.log(JSON.stringify({ value, isUsed: rejected === undefined ? undefined : !rejected })),
    );`;
  return JSON.parse(
    execFileSync(process.execPath, [...flags, "-e", program], { cwd: folder, encoding: "utf8" }),
  ) as Run;
}

function keptFile(): string {
  const [versions] = readdirSync(cache);
  const [file] = readdirSync(join(cache, versions));
  return join(cache, versions, file);
}

test("the second run uses what the first has compiled", () => {
  const value = [7, "chunk.cjs"];
  expect(run()).toEqual({ value });
  expect(run()).toEqual({ value, isUsed: true });
});

test("another source of the same length is compiled, and kept instead", () => {
  run();
  writeFileSync(join(folder, "chunk.cjs"), chunkOf(8));
  expect(run()).toEqual({ value: [8, "chunk.cjs"] });
  expect(run()).toMatchObject({ value: [8, "chunk.cjs"], isUsed: true });
});

test("other flags of V8 have compiled code of their own", () => {
  run();
  expect(run("--no-lazy").isUsed).toBeUndefined();
  expect(run().isUsed).toBe(true);
  expect(readdirSync(cache)).toHaveLength(2);
});

test("a damaged file is not used", () => {
  run();
  const path = keptFile();
  const kept = readFileSync(path);
  const flipped = Uint8Array.from(kept);
  flipped[kept.length >> 1] ^= 1;
  for (const damaged of [kept.subarray(0, 20), kept.subarray(0, kept.length >> 1), flipped]) {
    writeFileSync(path, damaged);
    expect(run()).toEqual({ value: [7, "chunk.cjs"] });
  }
});

test("a chunk that imports is compiled each time", () => {
  const importing = `exports.value = async () => [1, (await import("node:path")).basename(__filename)];`;
  writeFileSync(join(folder, "chunk.cjs"), importing);
  run();
  expect(run()).toEqual({ value: [1, "chunk.cjs"] });
});

test("a folder that cannot be written changes nothing", () => {
  writeFileSync(cache, "a file is in the way");
  expect(run()).toEqual({ value: [7, "chunk.cjs"] });
});

test("a job's settings of V8 are its own again at the end, when code is kept", () => {
  const program = packagePath("dist", "program");
  const source = (name: string): string => readFileSync(join(program, name), "utf8");
  const chunk = readdirSync(program).find((name) => name.endsWith(".cjs") && source(name).includes("function setUpV8"));
  const script = `
    const { cachedDataVersionTag } = require("node:v8");
    const before = cachedDataVersionTag();
    process.on("exit", () => console.log(cachedDataVersionTag() === before));
    require(${JSON.stringify(join(program, String(chunk)))}).setUpV8();
    console.log(cachedDataVersionTag() !== before);`;
  expect(execFileSync(process.execPath, ["-e", script], { encoding: "utf8" })).toBe("true\ntrue\n");
});
