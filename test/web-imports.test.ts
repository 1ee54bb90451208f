/**
 * The page and the reports see views of the public event stream and of their own party's record. No import leads them
 * to keys or rows.
 */
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
  /^src\/record\/(event|events|events\/[a-z-]+|fields|fold-events|log-line|own-lines|exposure)\.ts$/,
  /^src\/record\/(redone-rounds|renewal-days)\.ts$/,
  /^src\/record\/((evaluation|vetting)\/[a-z-]+|revealed)\.ts$/,
  /^src\/gbdt\/evaluation\/(cut-offs|rates|scorecard|score-curves)\.ts$/,
  /^src\/base\/statistics\/stability-index\.ts$/,
  /^src\/(base|record)\/membership\.ts$/,
  /^src\/record\/((job|own|crew)-view|(job|defence|exposure|spending|contribution|drift|ledger)-facts)\.ts$/,
  /^src\/base\/(assert|error|text\/format|gradients\/quantised-gradients)\.ts$/,
  /^src\/(base\/parameters\/parameter-spec|privacy\/defences\/[a-z-]+)\.ts$/,
  /^src\/(privacy\/(spending|disclosure-text)|messages\/[a-z-]+|crew\/crew-summary)\.ts$/,
  /^src\/(protocol\/phase|codec\/slot|codec\/bit-fields)\.ts$/,
];

function runtimeImports(path: string): string[] {
  const text = readFileSync(path, "utf8").replaceAll(/^import type [^;]*;$/gm, "");
  return importsOf(text).map(({ specifier }) => specifier);
}

const packages = {
  src: /^(zod\/mini|preact|preact\/hooks|@preact\/signals)$/,
  views: /^preact(\/hooks)?$/,
  report: /^(zod\/mini|preact|preact-render-to-string)$/,
} as const;

test.each(["src", "report"] as const)("everything that web/%s runs is a view, or needed by one", (part) => {
  const folder = join(root, "web", part);
  const queue = readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => /(?<!\.test|\.d)\.tsx?$/.test(name))
    .map((name) => join(folder, name));
  const seen = new Set(queue);
  const shared = new Set<string>();
  for (const path of queue) {
    for (const specifier of runtimeImports(path)) {
      if (/^\.\.?\/[\w/.]*\.css(\?raw)?$/.test(specifier)) continue;
      if (!specifier.startsWith(".")) {
        const within = path.includes(join("web", "views")) ? "views" : part;
        expect(specifier, path).toMatch(packages[within]);
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
  expect([...shared]).toContain("src/record/job-facts.ts");
});
