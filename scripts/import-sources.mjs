/** Modules of src/, lab/ and test/ for scripts: Node 20 runs no TypeScript, and dist/ has no entries for them. */
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { rolldown } from "rolldown";
import { buildThreads } from "./build-threads.mjs";
import { preactJsx, rawStyles } from "./web-views.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));

/**
 * @param {...string} paths of modules, from the root
 * @returns the modules, which share what they both import
 */
export async function importSources(...paths) {
  await buildThreads();
  const names = paths.map((path) => path.replaceAll("/", "-").replace(/\.ts$/, ""));
  const input = Object.fromEntries(names.map((name, i) => [name, join(root, paths[i])]));
  const build = await rolldown({ cwd: root, input, platform: "node", transform: preactJsx, plugins: [rawStyles] });
  // Beside the addon, not in a temporary folder: paths of the package are looked up from here.
  const dir = join(root, "build", "scripts", names[0]);
  await build.write({ dir, format: "esm", entryFileNames: "[name].js", cleanDir: true });
  await build.close();
  return Promise.all(names.map((name) => import(pathToFileURL(join(dir, `${name}.js`)).href)));
}
