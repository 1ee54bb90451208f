/**
 * npm's `prepare` step in a clone: builds dist/ and makes `npx tandem` work at once. Says nothing when all is well; a
 * failure fails `npm ci`.
 */
import { existsSync, lstatSync, mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build, missingTools } from "./build.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));

function main() {
  // The first `npx tandem` in a clone makes npm link the clone into its cache and run this step again. A failure here
  // would leave that cache broken for good, so nothing is done: bin/tandem.js itself says what is missing.
  if (process.env.npm_command === "exec") return;
  const missing = missingTools();
  if (missing.length === 0) {
    build();
  } else if (!existsSync(join(root, "dist", "program", "command.cjs"))) {
    // A production install without development tools is fine, but only of a package that was built before.
    console.error(`tandem: dist/ is missing and cannot be built without ${missing.join(" and ")}`);
    console.error("tandem: run `npm ci` with development dependencies");
    process.exit(1);
  }
  if (process.platform !== "win32") linkCommand();
}

/** npm links the commands of dependencies, but not the package's own; older npx and a PATH with .bin need the link. */
function linkCommand() {
  const binFolder = join(root, "node_modules", ".bin");
  const link = join(binFolder, "tandem");
  // lstat: a dangling link counts as there.
  if (lstatSync(link, { throwIfNoEntry: false }) !== undefined) return;
  mkdirSync(binFolder, { recursive: true });
  symlinkSync(join("..", "..", "bin", "tandem.js"), link);
}

main();
