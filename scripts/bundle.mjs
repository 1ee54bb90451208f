/**
 * Bundles src/ and the packages that it imports into dist/. A command that opens a dozen files starts in a third of the
 * time of one that opens several hundred.
 *
 *   dist/program/                   the command, the library and what they share; CommonJS, which Node loads faster
 *   dist/program/lab/               bench and reproduce; not in the package
 *   dist/program/*-thread.mjs       what threads run, each in one file (scripts/build-threads.mjs)
 *   dist/index.js                   the library's entry: an ES module that hands on what the bundle exports
 *   dist/program.sha256             the digest of the sources that this was made from (program-digest.ts)
 *   dist/third-party-licences.txt   of the packages that are in the bundle
 *
 * Each package is a chunk of its own. All is minified, but our own code keeps the names of its functions and classes:
 * an error's stack is to be read.
 */
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";
import { minifySync } from "rolldown/utils";
import { buildThreads } from "./build-threads.mjs";
import { importSources } from "./import-sources.mjs";
import { packageOf, thirdPartyLicences } from "./third-party-licences.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const dist = join(root, "dist");

/** After the bundler has printed a chunk: what is shortened before, it would spread out again. */
function minify({ code, fileName, moduleIds }) {
  const isOurs = moduleIds.some((id) => packageOf(id) === null);
  const readable = { compress: true, mangle: { toplevel: true, keepNames: true } };
  const { code: short, errors } = minifySync(fileName, code, { module: false, ...(isOurs ? readable : {}) });
  if (errors.length > 0) throw new Error(`${fileName}: ${errors[0].message}`);
  return short;
}

/** The engine's client can also sign with keys of its own kind. We show certificates: that part is left out. */
const withoutKeys = {
  name: "without-keys",
  resolveId: (id) => (id === "@nats-io/nkeys" ? { id: "\0no-keys" } : null),
  load: (id) => (id === "\0no-keys" ? "export {};" : null),
};

/**
 * What pg asks for on ways that are never gone here: connection strings are parsed by us, a password is always given,
 * this is no cloud worker, and every value is the text that the server sends.
 */
const unused = new Set(["pg-connection-string", "pg-types", "pgpass", "pg-cloudflare"]);
const nothing = "\0nothing";
const withoutPackages = {
  name: "without-packages",
  resolveId: (id) => (unused.has(id) ? nothing : null),
  load: (id) => (id === nothing ? "export const getTypeParser = () => (text) => text;" : null),
};

/** What has a module of lab/ in it goes into a folder of its own, which is not packed. */
function chunkPath({ moduleIds }) {
  return moduleIds.some((id) => id.startsWith(join(root, "lab"))) ? "lab/[name].cjs" : "[name].cjs";
}

async function bundleProgram() {
  const build = await rolldown({
    cwd: root,
    input: { command: "src/cli/main.ts", library: "src/index.ts", commands: "lab/cli/commands.ts" },
    platform: "node",
    // It reads a WebAssembly file from its own folder.
    external: ["@resvg/resvg-wasm"],
    plugins: [withoutKeys, withoutPackages],
  });
  const { output } = await build.write({
    dir: join(dist, "program"),
    format: "cjs",
    entryFileNames: chunkPath,
    chunkFileNames: chunkPath,
    comments: false,
    codeSplitting: {
      groups: [{ debugName: "packages", test: /node_modules/, name: (id) => packageOf(id).replace("/", "-") }],
    },
  });
  await build.close();
  const chunks = output.filter(({ type }) => type === "chunk");
  for (const chunk of chunks) writeFileSync(join(dist, "program", chunk.fileName), minify(chunk));
  return chunks;
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
const chunks = await bundleProgram();
writeFileSync(join(dist, "index.js"), libraryEntry(chunks.find(({ name, isEntry }) => isEntry && name === "library")));
const threadModules = await buildThreads({ folder: join(dist, "program"), minify: true });
const licences = thirdPartyLicences([...chunks.flatMap(({ moduleIds }) => moduleIds), ...threadModules]);
writeFileSync(join(dist, "third-party-licences.txt"), licences);
const [{ sourceDigest }] = await importSources("lab/trials/program-digest.ts");
writeFileSync(join(dist, "program.sha256"), `${sourceDigest(root)}\n`);
