import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { packagePath } from "../src/base/package-root.ts";
import { scratchDirectory } from "./support/command.ts";

const root = scratchDirectory();

function write(path: string, ...lines: readonly string[]): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), `${lines.join("\n")}\n`);
}

test("the figures of a small tree", () => {
  write("src/one/a.ts", "export function three(): number {", "  return 3;", "}");
  write("src/one/b.ts", "export class B {", "  method(): void {", "    this.method();", "    return;", "  }", "}");
  write("src/one/b.test.ts", 'test("b", () => {', "  const two = () => {", "  };", "  two();", "});");
  write("src/two/c.ts", `export const wide = "${"x".repeat(118)}";`);
  write("src/two/generated/d.ts", ...Array.from({ length: 100 }, () => "// generated"));
  const script = packagePath("scripts", "tree-figures.mjs");
  const said = execFileSync(process.execPath, [script, root], { encoding: "utf8" });
  expect(said.trimEnd().split("\n")).toEqual([
    "code: 3 files, 10 lines",
    "  median file       3 lines",
    "  longest file      6 lines, src/one/b.ts",
    "  longest function  4 lines, src/one/b.ts:2",
    "  widest line       141 columns, src/two/c.ts:1",
    "  over 120 columns  10.0 % of lines",
    "tests: 1 files, 5 lines",
    "  median file       5 lines",
    "  longest file      5 lines, src/one/b.test.ts",
    "  longest function  2 lines, src/one/b.test.ts:2",
    "  widest line       21 columns, src/one/b.test.ts:2",
    "  over 120 columns  0.0 % of lines",
    "fullest folder: 2 files beside tests, src/one",
  ]);
});
