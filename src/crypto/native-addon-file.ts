/** The one place that loads the native addon (scripts/build-native.mjs makes it). A cipher knows its own functions. */
import { createRequire } from "node:module";
import { packagePath } from "../base/package-root.ts";

/** @throws whatever Node throws when the file is missing or not loadable on this machine */
export function loadAddonFile(): unknown {
  return createRequire(import.meta.url)(packagePath("build", "tandem.node"));
}
