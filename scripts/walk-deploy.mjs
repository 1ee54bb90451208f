/**
 * Walks through docs/deploy.md word for word, between two network namespaces that see only each other. As far as the
 * network is concerned, these are two hosts. Needs root and iproute2. The test command runs the same blocks on loopback
 * addresses.
 *
 *   node scripts/walk-deploy.mjs
 *
 * Each company has a folder of its own. Two things only are carried across: fingerprints, which people read out on the
 * telephone, and a consent, which its signer sends.
 */
import { spawn, spawnSync } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const companies = { bank: "10.77.0.1", retailer: "10.77.0.2" };
const space = (who) => `tandem-${who}`;
const readyWithinMs = 30_000;

function ip(...words) {
  const { status, stderr } = spawnSync("ip", words, { encoding: "utf8" });
  if (status !== 0) throw new Error(`ip ${words.join(" ")}: ${stderr ?? "is iproute2 installed?"}`);
}

function makeHosts() {
  for (const who of Object.keys(companies)) ip("netns", "add", space(who));
  ip("link", "add", "tandem0", "type", "veth", "peer", "name", "tandem1");
  Object.entries(companies).forEach(([who, address], i) => {
    ip("link", "set", `tandem${i}`, "netns", space(who));
    ip("-n", space(who), "addr", "add", `${address}/24`, "dev", `tandem${i}`);
    ip("-n", space(who), "link", "set", `tandem${i}`, "up");
    ip("-n", space(who), "link", "set", "lo", "up");
  });
}

function removeHosts() {
  for (const who of Object.keys(companies)) spawnSync("ip", ["netns", "delete", space(who)]);
}

function blocks() {
  const page = readFileSync(join(root, "docs", "deploy.md"), "utf8");
  return [...page.matchAll(/```sh (bank|retailer)( background)?\n([\s\S]*?)```/g)].map(
    ([, who, background, commands]) => ({ who, background: background !== undefined, commands }),
  );
}

function start({ who, background, commands }, folder, path) {
  const script = background ? `exec ${commands}` : commands;
  return spawn("ip", ["netns", "exec", space(who), "sh", "-ec", script], {
    cwd: join(folder, who),
    env: { ...process.env, PATH: path },
    stdio: ["ignore", "pipe", "pipe"],
  });
}

function ended(child) {
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", (text) => (output += text));
  return new Promise((resolve) => child.once("close", (code) => resolve({ code, output })));
}

function listening(child) {
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => reject(new Error("the party does not listen")), readyWithinMs);
    let output = "";
    child.stderr.setEncoding("utf8").on("data", (text) => {
      output += text;
      if (output.includes('"event":"listening"')) resolve(clearTimeout(late));
    });
    child.once("close", () => reject(new Error(`the party ended:\n${output}`)));
  });
}

/** What one company reads out, the other writes down; and what it signs for the other, it sends. */
function carryAcross(folder) {
  for (const who of Object.keys(companies)) {
    for (const name of [`${who}.fingerprint`, `${who}.consent.json`]) {
      if (!existsSync(join(folder, who, name))) continue;
      for (const other of Object.keys(companies))
        if (other !== who) copyFileSync(join(folder, who, name), join(folder, other, name));
    }
  }
}

async function walk(folder) {
  const bin = join(folder, "bin");
  mkdirSync(bin);
  for (const who of Object.keys(companies)) mkdirSync(join(folder, who));
  writeFileSync(
    join(bin, "tandem"),
    `#!/bin/sh\nexec "${process.execPath}" "${join(root, "bin", "tandem.js")}" "$@"\n`,
  );
  chmodSync(join(bin, "tandem"), 0o755);
  const servers = [];
  try {
    for (const block of blocks()) {
      process.stdout.write(`\n${block.who}$ ${block.commands.trimEnd()}\n`);
      const child = start(block, folder, `${bin}:${process.env.PATH}`);
      if (block.background) {
        servers.push(child);
        await listening(child);
        continue;
      }
      const { code, output } = await ended(child);
      process.stdout.write(output);
      if (code !== 0) throw new Error(`this command ended with ${code}`);
      carryAcross(folder);
    }
  } finally {
    for (const server of servers) server.kill("SIGTERM");
  }
}

const folder = mkdtempSync(join(tmpdir(), "tandem-walk-"));
removeHosts();
try {
  makeHosts();
  await walk(folder);
  process.stdout.write("\nThe walk-through works.\n");
} catch (error) {
  process.stderr.write(`\nThe walk-through fails: ${error.message}\n`);
  process.exitCode = 1;
} finally {
  removeHosts();
  rmSync(folder, { recursive: true, force: true });
}
