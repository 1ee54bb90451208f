import { execFileSync } from "node:child_process";
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
  expect(size).toBeLessThan(1_000_000);
});
