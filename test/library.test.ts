/** The library as its users import it: the built package by its name, and the examples of docs/library.md. */
import { execFile } from "node:child_process";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { packagePath } from "../src/base/package-root.ts";
import { scratchDirectory } from "./support/command.ts";

const run = promisify(execFile);
const folder = scratchDirectory();
mkdirSync(join(folder, "node_modules", "@tandem-vfl"), { recursive: true });
symlinkSync(packagePath(), join(folder, "node_modules", "@tandem-vfl", "tandem"), "dir");

const page = readFileSync(packagePath("docs", "library.md"), "utf8");
const examples = Array.from(page.matchAll(/^## (.+)\n[\s\S]*?```js\n([\s\S]*?)```/gm), ([, title, code]) => ({
  title,
  code,
}));

test.each([
  ["Train between two parties", /^tree 3 of 3\nAUC 0\.\d+ of 100 people.*\nscores of c5,c9: 0\.\d+,0\.\d+$/m],
  ["Simulate a table", /equals centralised training: true\ntwo new people: 0\.\d+,0\.\d+$/m],
  ["An objective of your own", /^RMSE \d\.\d+$/m],
])("the example '%s' runs as it is", async (title, said) => {
  const example = examples.find((each) => each.title === title);
  const path = join(folder, `${title.replaceAll(" ", "-")}.mjs`);
  writeFileSync(path, example?.code ?? "");
  const { stdout } = await run(process.execPath, [path], { cwd: folder });
  expect(stdout).toMatch(said);
});

test("every example is run", () => {
  expect(examples).toHaveLength(3);
});
