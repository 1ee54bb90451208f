#!/usr/bin/env node
// The `tandem` command. The command line itself is src/cli/, compiled to dist/cli/; importing it runs it.
import { existsSync } from "node:fs";

const main = new URL("../dist/cli/main.js", import.meta.url);
if (existsSync(main)) {
  await import(main.href);
} else {
  console.error("tandem: not built yet (dist/cli/main.js is missing); run `npm run build` first");
  process.exitCode = 1;
}
