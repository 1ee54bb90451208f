/** The page sees views of the public event stream and of its own party's record; no import leads it to keys or rows. */
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { expect, test } from "vitest";

const root = fileURLToPath(new URL("..", import.meta.url));
const { importsOf } = (await import(pathToFileURL(join(root, "scripts", "check-layers.mjs")).href)) as {
  importsOf(text: string): { specifier: string }[];
};

/** What may run in the browser; types may come from anywhere, they leave nothing behind. */
const allowed = [
  /^src\/record\/(event|events|events\/[a-z-]+|fields|fold-events|log-line|own-lines|exposure|redone-rounds)\.ts$/,
  /^src\/record\/((job|own|crew)-view|(job|defence|exposure|spending|contribution)-facts)\.ts$/,
  /^src\/report\/(tree|party|exposure)-layout\.ts$/,
  /^src\/base\/(assert|error|text\/format|gradients\/quantised-gradients)\.ts$/,
  /^src\/base\/parameters\/(privacy-parameters|parameter-spec)\.ts$/,
  /^src\/(privacy\/(ledger|spending|disclosure-text)|crew\/crew-summary)\.ts$/,
  /^src\/(protocol\/phase|codec\/slot|codec\/bit-fields)\.ts$/,
];

function runtimeImports(path: string): string[] {
  const text = readFileSync(path, "utf8").replaceAll(/^import type [^;]*;$/gm, "");
  return importsOf(text).map(({ specifier }) => specifier);
}

test("everything that the page runs is a view, or needed by one", () => {
  const folder = join(root, "web", "src");
  const queue = readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => /\.tsx?$/.test(name))
    .map((name) => join(folder, name));
  const seen = new Set(queue);
  const shared = new Set<string>();
  for (const path of queue) {
    for (const specifier of runtimeImports(path)) {
      if (!specifier.startsWith(".") || specifier.endsWith(".css")) {
        expect(specifier, path).toMatch(
          /^(zod\/mini|preact|preact\/hooks|@preact\/signals|uplot|uplot\/dist\/uPlot\.min\.css|\.\/styles\/\w+\.css)$/,
        );
        continue;
      }
      const target = resolve(dirname(path), specifier);
      const name = relative(root, target).replaceAll("\\", "/");
      if (name.startsWith("src/")) {
        expect(
          allowed.some((pattern) => pattern.test(name)),
          `${name}, imported by ${relative(root, path)}`,
        ).toBe(true);
        shared.add(name);
      }
      if (!seen.has(target)) {
        seen.add(target);
        queue.push(target);
      }
    }
  }
  expect([...shared]).toContain("src/record/job-view.ts");
});
