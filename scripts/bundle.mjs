/**
 * Bundles src/ and web/ into dist/. A command that opens a dozen of our files starts faster than one that opens
 * hundreds. Packages that run at a user's machine are installed by npm, so that `npm audit` sees them and an update of
 * theirs takes effect. What the program uses of them is bundled too, for as long as these versions are installed
 * (docs/decisions/0029-dependencies.md).
 *
 *   dist/program/                   the command, the library and what they share; CommonJS, which Node loads faster
 *   dist/program/lab/               bench, reproduce and what only they need; not in the package
 *   dist/program/packages/          what the chunks use of installed packages (scripts/package-bundle.mjs)
 *   dist/program/*-thread.mjs       what threads run, each in one file (scripts/build-threads.mjs)
 *   dist/web/                       the page
 *   dist/index.js, gbdt.js, ...     the library's entries: ES modules that hand on what the bundle exports
 *   dist/program.sha256             the digest of the sources that this was made from (program-digest.ts)
 *   dist/sbom.json                  CycloneDX: the packages that are in the bundles
 *   dist/third-party-licences.txt   their licences
 *
 * Each bundled package is a chunk of its own. All is minified, but our own code keeps the names of its functions and
 * classes, so that the stack of an error can be read.
 */
import { rmSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";
import { minifySync } from "rolldown/utils";
import { build as buildPage } from "vite";
import { buildThreads, isInstalled } from "./build-threads.mjs";
import { billOfMaterials, bundledPackages, licenceTexts, packageOf } from "./bundled-packages.mjs";
import { bundlePackages, withLoader } from "./package-bundle.mjs";
import { importSources } from "./import-sources.mjs";
import { subpaths } from "./subpaths.mjs";
import { preactJsx, rawStyles } from "./web-views.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const dist = join(root, "dist");
const commandFolder = join(root, "src", "cli");
const entries = {
  command: "src/cli/main.ts",
  stdio: "src/api/stdio.ts",
  ...Object.fromEntries(subpaths.map((name) => [`library-${name}`, `src/api/${name}.ts`])),
};

/** What the two roles of a job run. */
const runs = ["src/party/active/run.ts", "src/party/passive/run.ts"];

/** After the bundler has printed a chunk: it would print what is shortened before at full length again. */
function minify(chunk) {
  const { fileName, moduleIds } = chunk;
  const code = withLoader(chunk);
  const isOurs = moduleIds.some((id) => packageOf(id) === null);
  const readable = { compress: true, mangle: { toplevel: true, keepNames: true } };
  const { code: short, errors } = minifySync(fileName, code, { module: false, ...(isOurs ? readable : {}) });
  if (errors.length > 0) throw new Error(`${fileName}: ${errors[0].message}`);
  return short;
}

/**
 * Looks at the modules before they are cut into chunks. `product` gets those that the command or the library can load:
 * other chunks go to the laboratory's folder. `first` gets those that every command loads, and `training` those that
 * both roles load and no help text: each set becomes one chunk.
 */
function moduleSets(product, first, training) {
  return {
    name: "module-sets",
    buildEnd() {
      const follow = (ids, found, importsOf) => {
        for (const id of ids) {
          if (found.has(id)) continue;
          found.add(id);
          const module = this.getModuleInfo(id);
          if (module !== null) follow(importsOf(module), found, importsOf);
        }
      };
      const paths = Object.values(entries).map((path) => join(root, path));
      follow(paths, product, ({ importedIds, dynamicallyImportedIds }) => [...importedIds, ...dynamicallyImportedIds]);
      const closure = (path) => {
        const found = new Set();
        follow([join(root, path)], found, ({ importedIds }) => importedIds);
        return found;
      };
      for (const id of closure(entries.command)) first.add(id);
      const [active, passive] = runs.map(closure);
      const { dynamicallyImportedIds: commands } = this.getModuleInfo(join(commandFolder, "program.ts"));
      const inHelp = new Set(commands.flatMap((id) => [...closure(relative(root, id))]));
      for (const id of active) if (passive.has(id) && !inHelp.has(id)) training.add(id);
    },
  };
}

async function bundleProgram() {
  const product = new Set();
  const first = new Set();
  const training = new Set();
  // The bundler's own modules, whose ids begin with a NUL, are needed everywhere. A chunk without modules hands on
  // those of another.
  const isOfProduct = ({ moduleIds, facadeModuleId }) =>
    [...moduleIds, facadeModuleId].some((id) => product.has(id) || id?.startsWith("\0"));
  const chunkPath = (chunk) => (isOfProduct(chunk) ? "[name].cjs" : "lab/[name].cjs");
  const build = await rolldown({
    cwd: root,
    input: { ...entries, commands: "lab/cli/commands.ts" },
    platform: "node",
    // resvg, of the laboratory, reads a WebAssembly file from its own folder.
    external: (id) => isInstalled(id) || id === "@resvg/resvg-wasm",
    transform: preactJsx,
    plugins: [rawStyles, moduleSets(product, first, training)],
  });
  const { output } = await build.write({
    dir: join(dist, "program"),
    format: "cjs",
    entryFileNames: chunkPath,
    chunkFileNames: chunkPath,
    comments: false,
    codeSplitting: {
      groups: [
        // Without the command's own modules: the library loads this chunk too.
        { name: "first", test: (id) => first.has(id) && !id.startsWith(commandFolder), priority: 1 },
        // Without what help texts need. No cycles: both sets are closed under imports.
        { name: "training", test: (id) => training.has(id) && !first.has(id), includeDependenciesRecursively: false },
        { debugName: "packages", test: /node_modules/, name: (id) => packageOf(id).replace("@", "").replace("/", "-") },
      ],
    },
  });
  await build.close();
  const chunks = output.filter(({ type }) => type === "chunk");
  const packageModules = await bundlePackages(root, join(dist, "program"), chunks);
  for (const chunk of chunks) writeFileSync(join(dist, "program", chunk.fileName), minify(chunk));
  return { chunks: chunks.filter(isOfProduct), packageModules };
}

/** Names, not `export *`: of CommonJS that would be a guess at what it exports. */
function libraryEntry({ exports, fileName }) {
  return [
    `import library from "./program/${fileName}";`,
    "",
    `export const { ${exports.toSorted().join(", ")} } = library;`,
    "",
  ].join("\n");
}

rmSync(join(dist, "program"), { recursive: true, force: true });
const { chunks, packageModules } = await bundleProgram();
for (const name of subpaths) {
  const entry = chunks.find((chunk) => chunk.isEntry && chunk.name === `library-${name}`);
  writeFileSync(join(dist, `${name}.js`), libraryEntry(entry));
}
const threads = await buildThreads({ folder: join(dist, "program"), minify: true });
const page = await buildPage({ root: join(root, "web"), logLevel: "error" });
const bundled = [...chunks, ...threads, ...page.output.filter(({ type }) => type === "chunk")];
const packages = bundledPackages([...packageModules, ...bundled.flatMap(({ moduleIds }) => moduleIds)]);
writeFileSync(join(dist, "sbom.json"), `${JSON.stringify(billOfMaterials(root, packages), null, 2)}\n`);
writeFileSync(join(dist, "third-party-licences.txt"), licenceTexts(packages));
const [{ sourceDigest }] = await importSources("lab/trials/program-digest.ts");
writeFileSync(join(dist, "program.sha256"), `${sourceDigest(root)}\n`);
