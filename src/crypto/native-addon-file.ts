/** Loads the native addon (built by scripts/build-native.mjs). Each cipher declares its own functions. */
import { createRequire } from "node:module";
import { packagePath } from "../base/package-root.ts";

/** @throws any error of Node if the file is missing or cannot be loaded on this machine */
export function loadAddonFile(): unknown {
  return createRequire(import.meta.url)(packagePath("build", "tandem.node"));
}
