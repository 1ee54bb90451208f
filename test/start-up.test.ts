/** The modules that a command loads at start: most of the time of a short command is loading. */
import { spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { expect, test } from "vitest";
import { packagePath } from "../src/base/package-root.ts";
import { scratchDirectory } from "./support/command.ts";
import { tandem } from "./world/tandem-process.ts";

const folder = scratchDirectory();
/** Loaded before the command: lists at its end the chunks and packages that were loaded. */
const telling = join(folder, "telling.cjs");
writeFileSync(
  telling,
  `process.on("exit", () => {
    const packageOf = (path) => /\\/node_modules\\/((?:@[^/]+\\/)?[^/]+)\\/[^]*$/.exec(path)?.[1];
    const chunkOf = (path) => require("node:path").basename(path, ".cjs");
    const names = Object.keys(require.cache).map((path) => packageOf(path) ?? chunkOf(path));
    require("node:fs").writeSync(1, JSON.stringify({ loaded: [...new Set(names)] }) + "\\n");
  });`,
);

/** @param until what it says when it has started; then its standard input ends */
async function chunksOf(args: readonly string[], until: RegExp | null = null): Promise<readonly string[]> {
  const child = spawn(process.execPath, ["--require", telling, packagePath("bin", "tandem.js"), ...args], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  let loaded: readonly string[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    if (line.startsWith('{"loaded"')) loaded = (JSON.parse(line) as { loaded: readonly string[] }).loaded;
    else if (until?.test(line) === true) child.stdin.end();
  }
  return loaded;
}

test("--version loads next to nothing", async () => {
  const loaded = await chunksOf(["--version"]);
  expect(loaded).toEqual(expect.arrayContaining(["command", "commander"]));
  expect(loaded.length).toBeLessThan(8);
});

test("the help of a command loads no package but the one that prints it", async () => {
  const loaded = await chunksOf(["simulate", "--help"]);
  expect(loaded).toContain("simulate");
  expect(loaded.filter((name) => /^(?:@|bufbuild|connectrpc|zod|yaml|pg)/.test(name))).toEqual([]);
});

test("a passive party listens without loading modules that only other commands need", async () => {
  await tandem("init", "passive", "--host", "127.0.0.1", "--port", "0", "--out", folder);
  const config = join(folder, "passive.yaml");
  writeFileSync(config, readFileSync(config, "utf8").replace("PASTE-THE-ACTIVE-PARTYS-FINGERPRINT", "ab".repeat(32)));
  writeFileSync(join(folder, "data.csv"), "id,basket\na,1\nb,2\n");
  const loaded = await chunksOf(["party", "--config", config, "--supervised"], /"type":"listening"/);
  expect(loaded).toEqual(expect.arrayContaining(["command", "commander", "connectrpc-connect-node", "yaml", "zod"]));
  const others = /^(?:echarts|hyparquet|@nats-io|@?peculiar|asn1js|reflect-metadata|tsyringe|preact|@resvg|pg)/;
  expect(loaded.filter((name) => others.test(name))).toEqual([]);
});
