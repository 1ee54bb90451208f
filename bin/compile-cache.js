/**
 * Keeps the compiled code of the program's chunks between runs, for versions of Node that do not do so themselves:
 * compiling is a large part of a command's start. Code of a chunk is used only if it was compiled from the same bytes
 * by the same version of V8 with the same flags, and is undamaged. Whatever cannot be read or written is compiled as
 * without this.
 */
const { createHash } = require("node:crypto");
const { mkdirSync, readFileSync, renameSync, writeFileSync } = require("node:fs");
const { createRequire, wrap } = require("node:module");
const { basename, dirname, join } = require("node:path");
const { cachedDataVersionTag } = require("node:v8");
const { Script } = require("node:vm");

const digestBytes = 32;

/** @param {string} folder where only who may change the program can write: what lies here is run */
module.exports = function keepCompiledCode(folder) {
  const tag = cachedDataVersionTag();
  const own = join(folder, tag.toString(16));
  /** @type {{ path: string, source: Buffer, script: Script }[]} */
  const fresh = [];

  // Chunks are the only files of the program that end in ".cjs".
  require.extensions[".cjs"] = (module, filename) => {
    const source = readFileSync(filename);
    // Before Node 22 a script whose compiled code was kept cannot import().
    if (source.includes("import(")) return require.extensions[".js"](module, filename);
    const path = join(own, `${basename(dirname(filename))}-${basename(filename)}`);
    const cachedData = compiled(path, source);
    const script = new Script(wrap(source), { filename, columnOffset: -wrap("").indexOf("\n"), cachedData });
    if (cachedData === undefined) fresh.push({ path, source, script });
    const run = script.runInThisContext();
    run.call(module.exports, module.exports, createRequire(filename), module, filename, dirname(filename));
  };

  // At the end: functions that have run are compiled by then, and are kept too.
  process.on("exit", () => {
    if (fresh.length === 0 || cachedDataVersionTag() !== tag) return;
    try {
      mkdirSync(own, { recursive: true, mode: 0o755 });
      for (const { path, source, script } of fresh) {
        const unfinished = `${path}.${process.pid}`;
        const code = script.createCachedData();
        writeFileSync(unfinished, Buffer.concat([digestOf(source, code), code]), { mode: 0o644 });
        renameSync(unfinished, path);
      }
    } catch {
      // The folder belongs to another user, or the disk is full.
    }
  });
};

/** @returns {Buffer | undefined} what was kept of a chunk with this source */
function compiled(path, source) {
  try {
    const kept = readFileSync(path);
    const code = kept.subarray(digestBytes);
    return kept.subarray(0, digestBytes).equals(digestOf(source, code)) ? code : undefined;
  } catch {
    return undefined;
  }
}

function digestOf(source, code) {
  return createHash("sha256").update(source).update(code).digest();
}
