/**
 * Bundles the entries of threads, each into one file: build/threads/ has those for code that runs from src/, under the
 * tests and in scripts, because Node 20 cannot load TypeScript into a thread. scripts/bundle.mjs puts the program's
 * into dist/.
 */
import { readFileSync } from "node:fs";
import { mkdir, mkdtemp, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";

const root = fileURLToPath(new URL("..", import.meta.url));

const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const installed = Object.keys({ ...manifest.dependencies, ...manifest.optionalDependencies });

/** @returns {boolean} whether an import names a package that npm installs at a user's machine */
export function isInstalled(specifier) {
  return installed.some((name) => specifier === name || specifier.startsWith(`${name}/`));
}

/** Name of the file, and the module that it is made from. */
const entries = { "parquet-thread": "src/data/parquet-thread.ts" };

/**
 * Each file appears in one step: another process may be starting it.
 * @param {{ folder?: string, minify?: boolean }} options
 * @returns {Promise<{ moduleIds: string[] }[]>} the files, with the modules that are in them
 */
export async function buildThreads({ folder = join(root, "build", "threads"), minify = false } = {}) {
  await mkdir(folder, { recursive: true });
  const files = [];
  for (const [name, input] of Object.entries(entries)) {
    const scratch = await mkdtemp(join(folder, "unfinished-"));
    try {
      const build = await rolldown({
        cwd: root,
        input: { [name]: input },
        platform: "node",
        external: isInstalled,
      });
      const { output } = await build.write({
        dir: scratch,
        format: "esm",
        entryFileNames: "[name].mjs",
        codeSplitting: false,
        minify,
        comments: false,
      });
      await build.close();
      await rename(join(scratch, `${name}.mjs`), join(folder, `${name}.mjs`));
      files.push(...output);
    } finally {
      await rm(scratch, { recursive: true, force: true });
    }
  }
  return files;
}

/** Vitest calls it once before all tests. */
export default async function setup() {
  await buildThreads();
}
