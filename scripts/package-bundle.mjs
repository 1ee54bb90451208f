/**
 * Bundles the used parts of installed packages into dist/program/packages/: a process that opens a dozen files starts
 * faster than one that opens four hundred. scripts/package-loader.cjs, which is copied beside the bundles, loads one
 * only while exactly the packages that it was made from are installed, so that an update of a package takes effect and
 * `npm audit` sees what runs (docs/decisions/0029-dependencies.md).
 */
import { copyFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { rolldown } from "rolldown";
import { bundledPackages } from "./bundled-packages.mjs";

/** The packages of a group share modules: all of a group are loaded from its bundle, or none. */
const groups = {
  core: ["@bufbuild/protobuf", "@connectrpc/connect", "@connectrpc/connect-node", "zod"],
};

const entryPrefix = "\0used:";

function groupOf(specifier) {
  return Object.keys(groups).find((group) =>
    groups[group].some((name) => specifier === name || specifier.startsWith(`${name}/`)),
  );
}

/** "@bufbuild/protobuf/wire" is bundled into bufbuild-protobuf-wire.cjs. */
function fileOf(specifier) {
  return `${specifier.replace("@", "").replaceAll("/", "-")}.cjs`;
}

/**
 * Which exports of each bundled package the chunks use. The bundler prints a package as one variable, whose members are
 * read where they are used.
 * @param {{ code: string, fileName: string }[]} chunks before they are minified
 * @returns {Map<string, Set<string>>} names by specifier
 */
function usedNames(chunks) {
  const used = new Map();
  const loads = /^let (\w+) = require\("([^"]+)"\);$/gm;
  for (const { code, fileName } of chunks) {
    const text = code.replaceAll(loads, "");
    for (const [, variable, specifier] of code.matchAll(loads)) {
      if (groupOf(specifier) === undefined) continue;
      const names = used.get(specifier) ?? new Set();
      used.set(specifier, names);
      const uses = text
        .replaceAll(new RegExp(`^${variable} = .*;$`, "gm"), "") // it becomes a namespace
        .matchAll(new RegExp(`(?<![\\w$.])${variable}\\b(?:\\.(\\w+))?`, "g"));
      for (const [, name] of uses) {
        if (name === undefined) throw new Error(`${fileName} uses ${specifier} as a whole: import what it needs`);
        names.add(name);
      }
    }
  }
  return used;
}

/** A module for each specifier that exports what is used of it. */
function usedExports(used) {
  return {
    name: "used-exports",
    resolveId: (id) => (id.startsWith(entryPrefix) ? id : null),
    load(id) {
      if (!id.startsWith(entryPrefix)) return null;
      const specifier = id.slice(entryPrefix.length);
      return `export { ${[...used.get(specifier)].join(", ")} } from ${JSON.stringify(specifier)};`;
    },
  };
}

/**
 * Writes the bundles, their table, and the loader.
 * @param {string} folder dist/program
 * @param {{ code: string, fileName: string }[]} chunks of our own code
 * @returns {Promise<string[]>} paths of the bundled modules
 */
export async function bundlePackages(root, folder, chunks) {
  const used = usedNames(chunks);
  // A string may hold what looks like a use: "commander.unknownOption" is an error's code.
  for (const [specifier, names] of used) {
    const exported = await import(specifier);
    used.set(specifier, new Set(Object.keys(exported).filter((name) => names.has(name))));
  }
  const moduleIds = [];
  const table = { groups: {}, files: {} };
  for (const group of Object.keys(groups)) {
    const specifiers = [...used.keys()].filter((specifier) => groupOf(specifier) === group).toSorted();
    const build = await rolldown({
      cwd: root,
      input: Object.fromEntries(specifiers.map((each) => [fileOf(each).slice(0, -4), entryPrefix + each])),
      platform: "node",
      plugins: [usedExports(used)],
    });
    const { output } = await build.write({
      dir: join(folder, "packages"),
      format: "cjs",
      entryFileNames: "[name].cjs",
      chunkFileNames: `${group}-[name].cjs`,
      comments: false,
      minify: true,
    });
    await build.close();
    const ids = output.flatMap((chunk) => chunk.moduleIds ?? []).filter((id) => !id.startsWith("\0"));
    table.groups[group] = Object.fromEntries(bundledPackages(ids).map(({ name, version }) => [name, version]));
    for (const specifier of specifiers) table.files[specifier] = { file: fileOf(specifier), group };
    moduleIds.push(...ids);
  }
  writeFileSync(join(folder, "packages", "table.json"), `${JSON.stringify(table, null, 2)}\n`);
  copyFileSync(join(root, "scripts", "package-loader.cjs"), join(folder, "packages", "load.cjs"));
  return moduleIds;
}

/** @returns {string} the code of a chunk, with packages loaded by the loader */
export function withLoader({ code, fileName }) {
  const loader = fileName.includes("/") ? "../packages/load.cjs" : "./packages/load.cjs";
  return code.replaceAll(/\brequire\("([^"]+)"\)/g, (call, specifier) =>
    groupOf(specifier) === undefined ? call : `require("${loader}")("${specifier}")`,
  );
}
