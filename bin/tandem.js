#!/usr/bin/env node
// The `tandem` command. The command line itself is src/cli/, bundled into dist/program/; loading it runs it.
const { existsSync } = require("node:fs");
const { enableCompileCache } = require("node:module");
const { join } = require("node:path");

const root = join(__dirname, "..");
const command = join(root, "dist", "program", "command.cjs");
if (existsSync(command)) {
  // The cache is code: it lies beside the program, where only who may change that can write.
  const cache = join(root, "build", "compile-cache");
  if (enableCompileCache === undefined) require("./compile-cache.js")(cache); // before Node 22.1
  else enableCompileCache(cache);
  require(command);
} else {
  console.error("tandem: not built yet (dist/program/command.cjs is missing); run `npm run build` first");
  process.exitCode = 1;
}
