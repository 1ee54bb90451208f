import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { packagePath } from "../src/base/package-root.ts";

interface Packed {
  readonly size: number;
  readonly files: readonly { readonly path: string }[];
}

/** What `npm run test:package` installs and runs; that takes the network and half a minute. */
function pack(): Packed {
  const options = ["pack", "--dry-run", "--json", "--ignore-scripts"];
  const output = execFileSync("npm", options, {
    cwd: packagePath(),
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
  });
  return (JSON.parse(output) as [Packed])[0];
}

test("the package holds what users need, and no more", () => {
  const { size, files } = pack();
  const paths = files.map(({ path }) => path);
  expect(paths).toEqual(
    expect.arrayContaining([
      "CHANGELOG.md",
      "LICENSE",
      "README.md",
      "bin/package.json",
      "bin/tandem.js",
      "dist/index.d.ts",
      "dist/index.js",
      "dist/program.sha256",
      "dist/program/command.cjs",
      "dist/third-party-licences.txt",
      "dist/web/index.html",
      "native/addon.cpp",
      "package.json",
      "scripts/build-native.mjs",
    ]),
  );
  const kept = /^(?:[A-Z]+(?:\.md)?|package\.json|scripts\/build-native\.mjs|(?:bin|dist|native)\/.*)$/;
  expect(paths.filter((path) => !kept.test(path))).toEqual([]);
  expect(paths.filter((path) => /\.(?:png|jpg|woff2?|node|test\.\w+|tgz)$/.test(path))).toEqual([]);
  // Clients of an engine and of a database are a twentieth of it; documents and pictures would be more than this.
  expect(size).toBeLessThan(1_200_000);
});

test("the library's types name no package that is not installed with it", () => {
  const { dependencies } = JSON.parse(readFileSync(packagePath("package.json"), "utf8")) as {
    readonly dependencies: Readonly<Record<string, string>>;
  };
  const named = new Set<string>();
  const types = packagePath("dist", "types");
  for (const path of readdirSync(types, { recursive: true, encoding: "utf8" })) {
    if (!path.endsWith(".d.ts")) continue;
    const text = readFileSync(join(types, path), "utf8");
    for (const [, from, inType] of text.matchAll(
      /^(?:import|export) .*\bfrom "([^".][^"]*)";$|import\("([^".][^"]*)"\)/gm,
    ))
      named.add(packageOf(from ?? inType));
  }
  expect(named.size).toBeGreaterThan(1);
  const installed = new Set(Object.keys(dependencies));
  expect([...named].filter((name) => !name.startsWith("node:") && !installed.has(name))).toEqual([]);
});

/** "@scope/name/file" is of "@scope/name". */
function packageOf(specifier: string): string {
  return specifier.split("/", specifier.startsWith("@") ? 2 : 1).join("/");
}
