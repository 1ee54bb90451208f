import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import { tmpdir } from "node:os";
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
      "LICENSE",
      "README.md",
      "bin/package.json",
      "bin/tandem.js",
      "dist/gbdt.js",
      "dist/index.js",
      "dist/program.sha256",
      "dist/program/command.cjs",
      "dist/sbom.json",
      "dist/third-party-licences.txt",
      "dist/types/api/index.d.ts",
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

interface Manifest {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly optionalDependencies: Readonly<Record<string, string>>;
}
const manifest = readJson<Manifest>("package.json");

/** Everything that npm installs with the package. */
const installed = new Set(Object.keys({ ...manifest.dependencies, ...manifest.optionalDependencies }));

function readJson<T>(...path: string[]): T {
  return JSON.parse(readFileSync(packagePath(...path), "utf8")) as T;
}

test("the program loads packages that npm installs with it, and files that are packed", () => {
  const program = packagePath("dist", "program");
  const loaded = new Set<string>();
  const chunks = readdirSync(program).filter((name) => /\.(?:cjs|mjs)$/.test(name));
  expect(chunks.length).toBeGreaterThan(20);
  for (const name of chunks) {
    const form = name.endsWith(".cjs") ? /\brequire\(["'`]([^"'`]+)["'`]\)/g : /(?:^|;)import\b[^"]*"([^"]+)"/g;
    const text = readFileSync(join(program, name), "utf8");
    for (const [, specifier] of text.matchAll(form)) loaded.add(specifier);
    for (const [, specifier] of text.matchAll(/load\.cjs["'`]\)\(["'`]([^"'`]+)["'`]\)/g)) loaded.add(specifier);
  }
  const files = [...loaded].filter((specifier) => specifier.startsWith(".") && specifier !== "./packages/load.cjs");
  expect(files.filter((file) => !chunks.includes(file.slice(2)))).toEqual([]);
  const packages = [...loaded].filter((each) => !each.startsWith(".") && !isBuiltin(each)).map(packageOf);
  expect(packages.filter((name) => !installed.has(name))).toEqual([]);
  // Every one of them is needed, so that nothing is installed that never runs. The compiler reads one, by its path.
  expect([...installed].filter((name) => !packages.includes(name))).toEqual(["node-api-headers"]);
});

test("a bundled package runs only while its exact version is installed", () => {
  const folder = mkdtempSync(join(tmpdir(), "tandem-packages-"));
  try {
    cpSync(packagePath("dist", "program", "packages"), join(folder, "packages"), { recursive: true });
    const { groups } = readJson<{ readonly groups: Readonly<Record<string, Readonly<Record<string, string>>>> }>(
      "dist",
      "program",
      "packages",
      "table.json",
    );
    const installedZod = (version: string): unknown => {
      for (const [name, own] of Object.entries(groups.core)) {
        const home = join(folder, "node_modules", name);
        mkdirSync(home, { recursive: true });
        const manifestOf = { name, version: name === "zod" ? version : own, main: "index.js" };
        writeFileSync(join(home, "package.json"), JSON.stringify(manifestOf));
        writeFileSync(join(home, "index.js"), "exports.isInstalled = true;");
      }
      const program = "process.stdout.write(String(require('./packages/load.cjs')('zod').isInstalled === true))";
      return execFileSync(process.execPath, ["-e", program], { cwd: folder, encoding: "utf8" });
    };
    expect(installedZod(groups.core.zod)).toBe("false");
    expect(installedZod("99.0.0")).toBe("true");
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("what is bundled is in the SBOM, with its licence", () => {
  const sbom = readJson<{
    readonly bomFormat: string;
    readonly components: readonly { readonly purl: string }[];
  }>("dist", "sbom.json");
  expect(sbom.bomFormat).toBe("CycloneDX");
  const bundled = sbom.components.map(({ purl }) => /^pkg:npm\/(.+)@([^@]+)$/.exec(purl.replace("%40", "@")) ?? []);
  const names = bundled.map(([, name]) => name);
  expect(names).toEqual(expect.arrayContaining(["@preact/signals", "preact", "preact-render-to-string", "zod"]));
  expect(names).toEqual(names.toSorted((a, b) => (a < b ? -1 : 1)));
  const licences = readFileSync(packagePath("dist", "third-party-licences.txt"), "utf8");
  for (const [, name, version] of bundled) expect(licences).toContain(`${name} ${version}: `);
});

test("the library's types name no package that is not installed with it", () => {
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
  expect(named.size).toBeGreaterThan(0);
  expect([...named].filter((name) => !name.startsWith("node:") && !installed.has(name))).toEqual([]);
});

/** "@scope/name/file" is of "@scope/name". */
function packageOf(specifier: string): string {
  return specifier.split("/", specifier.startsWith("@") ? 2 : 1).join("/");
}
