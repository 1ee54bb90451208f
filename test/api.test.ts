/** The public surface of the library is reviewed: a change of an exported type shows in api/*.api.md. */
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { packagePath } from "../src/base/package-root.ts";

interface ApiReport {
  apiReport(subpath: string): {
    readonly text: string;
    readonly exported: readonly string[];
    /** Types that exported ones refer to and that the subpath does not export. */
    readonly hidden: readonly string[];
    readonly undocumented: readonly string[];
  };
}

const script = pathToFileURL(packagePath("scripts", "api-report.mjs")).href;
const { apiReport } = (await import(script)) as ApiReport;
const { exports } = JSON.parse(readFileSync(packagePath("package.json"), "utf8")) as {
  readonly exports: Readonly<Record<string, { readonly types: string; readonly default: string }>>;
};
const subpaths = Object.keys(exports).map((path) => (path === "." ? "index" : path.slice(2)));

test.each(subpaths)("api/%s.api.md is what the package exports", (subpath) => {
  const { text, exported, undocumented } = apiReport(subpath);
  expect(exported.length).toBeGreaterThan(5);
  expect(readFileSync(packagePath("api", `${subpath}.api.md`), "utf8"), "run 'npm run api' and review it").toBe(text);
  expect(undocumented, "every export has a comment").toEqual([]);
});

test.each(subpaths)("%s exports every type that its exports refer to, but for the seam to a cipher", (subpath) => {
  const { hidden } = apiReport(subpath);
  expect(hidden.length > 0).toBe(subpath === "scheme");
});

test.each(subpaths)("values of %s are those of its types", async (subpath) => {
  const { default: entry } = exports[subpath === "index" ? "." : `./${subpath}`];
  const built = (await import(packagePath(entry))) as object;
  const values = [
    ...apiReport(subpath)
      .text.split("\n## ")[0]
      .matchAll(/^declare (?:function|const|class) (\w+)/gm),
  ];
  const classes = ["FederatedModel", "Model", "SentNodes"]; // exported as types only: the library makes them
  const names = values.map(([, name]) => name).filter((name) => !classes.includes(name));
  expect(Object.keys(built).sort()).toEqual(names.sort());
});
