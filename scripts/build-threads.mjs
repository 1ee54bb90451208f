/**
 * Bundles the entries of threads, each into one file: build/threads/ has those for code that runs from src/, under the
 * tests and in scripts, because Node 20 cannot load TypeScript into a thread. scripts/bundle.mjs puts the program's
 * into dist/.
 */
import { mkdir, mkdtemp, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";

const root = fileURLToPath(new URL("..", import.meta.url));

/** Name of the file, and the module that it is made from. */
const entries = { "parquet-thread": "src/data/parquet-thread.ts" };

/**
 * Each file appears in one step: somebody may be starting it.
 * @param {{ folder?: string, minify?: boolean }} options
 * @returns {Promise<string[]>} the modules that are in them
 */
export async function buildThreads({ folder = join(root, "build", "threads"), minify = false } = {}) {
  await mkdir(folder, { recursive: true });
  const modules = [];
  for (const [name, input] of Object.entries(entries)) {
    const scratch = await mkdtemp(join(folder, "unfinished-"));
    try {
      const build = await rolldown({
        cwd: root,
        input: { [name]: input },
        platform: "node",
        // It does not say so itself: of its decompressors we take those that Node lacks.
        treeshake: { moduleSideEffects: [{ test: /hyparquet-compressors/, sideEffects: false }] },
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
      modules.push(...output.flatMap(({ moduleIds }) => moduleIds));
    } finally {
      await rm(scratch, { recursive: true, force: true });
    }
  }
  return modules;
}

/** Vitest calls it once before all tests. */
export default async function setup() {
  await buildThreads();
}
