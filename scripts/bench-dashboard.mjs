/**
 * What the dashboard costs, as figures: how much slower training is with the page open in a browser on the same machine,
 * how much processor the page takes, and how long an event takes from the party's process to the screen.
 *
 *   npm run bench:dashboard -- [--rows 4000] [--trees 8] [--pairs 12] [--json]
 *
 * Short jobs with and without the page take turns in pairs (2048-bit key, three processes); the slow-down is the median of
 * the pairs' ratios, so that a machine that changes its mind between two pairs does not count. CPU seconds, from the first
 * tree to the last, are read from /proc, per process: the parties, the process that serves the page (what it takes
 * more than without a page), the browser. Unlike wall time they mean something on a machine that others use too. Needs
 * Linux and a browser (chromium, google-chrome, or TANDEM_BROWSER). It runs without a screen and without a graphics
 * processor, so that it paints in software: a browser on a desktop takes less.
 */
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { cpus, loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { chromium } from "playwright-core";

const { values } = parseArgs({ options: { rows: { type: "string", default: "4000" }, trees: { type: "string", default: "8" }, pairs: { type: "string", default: "12" }, json: { type: "boolean", default: false } } });
const bin = fileURLToPath(new URL("../bin/tandem.js", import.meta.url));
const names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
/** A browser that has just started is busy with itself. */
const warmUpMs = 15_000;

function browserPath() {
  if (process.env.TANDEM_BROWSER) return process.env.TANDEM_BROWSER;
  for (const name of names) {
    try {
      return execFileSync("sh", ["-c", `command -v ${name}`], { encoding: "utf8" }).trim();
    } catch {
      // the next one
    }
  }
  console.error("no browser found (chromium, google-chrome, or TANDEM_BROWSER): nothing is measured");
  return process.exit(1);
}

/** CPU seconds so far of a process alone, and of another one with all that it started. */
function cpuSeconds(alone, family) {
  const stats = readdirSync("/proc").filter((name) => /^\d+$/.test(name)).flatMap(statOf);
  const wanted = new Set([family]);
  for (let grown = true; grown; ) {
    grown = false;
    for (const { pid, parent } of stats) if (wanted.has(parent) && !wanted.has(pid)) grown = Boolean(wanted.add(pid));
  }
  const sum = (isWanted) => stats.filter(({ pid }) => isWanted(pid)).reduce((total, { ticks }) => total + ticks, 0) / 100;
  return { server: sum((pid) => pid === alone), browser: sum((pid) => wanted.has(pid)) };
}

function statOf(pid) {
  try {
    // After the name in brackets: state, parent, ..., user and system time as fields 14 and 15.
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8").replace(/^.*\) /s, "").split(" ");
    return [{ pid: Number(pid), parent: Number(fields[1]), ticks: Number(fields[11]) + Number(fields[12]) }];
  } catch {
    return []; // it has ended meanwhile
  }
}

/** One job; measured between the events with which training begins and ends. */
async function job(withPage) {
  const child = spawn(process.execPath, [bin, "demo", "--rows", values.rows, "--num-round", values.trees, "--json", "--runs", folder, ...(withPage ? ["--dashboard"] : [])], { stdio: ["ignore", "pipe", "pipe"] });
  const ended = new Promise((resolve) => child.once("close", resolve));
  let stdout = "";
  child.stdout.setEncoding("utf8").on("data", (text) => (stdout += text));
  const marks = {};
  const said = [];
  let opened = Promise.resolve(null);
  createInterface({ input: child.stderr }).on("line", (line) => {
    said.push(line);
    const [, url] = /^dashboard: (\S+)/.exec(line) ?? [];
    if (url !== undefined) opened = open(url);
    if (line.startsWith('{"type":"layout"')) marks.begin = { at: performance.now(), ...cpuSeconds(child.pid, server.process().pid) };
    if (line.startsWith('{"type":"active-result"')) marks.end = { at: performance.now(), ...cpuSeconds(child.pid, server.process().pid) };
  });
  const code = await ended;
  if (code !== 0 || marks.end === undefined) throw new Error(`the demo failed: ${said.slice(-5).join("\n")}`);
  const page = await opened;
  const delays = page === null ? [] : await page.evaluate("globalThis.delays");
  await page?.close();
  const result = JSON.parse(stdout);
  const { begin, end } = marks;
  // The first delay is the replay of what happened before the page was open.
  return { perTree: result.seconds.perTree, parties: result.cpuSeconds, wall: (end.at - begin.at) / 1000, server: end.server - begin.server, browser: end.browser - begin.browser, delays: delays.slice(1) };
}

async function open(url) {
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
  await page.goto(url);
  await page.waitForURL((at) => at.search === "");
  // After the frame in which an update was drawn: by then the pixels are there.
  await page.evaluate(`
    globalThis.delays = [];
    addEventListener("tandem-drawn", ({ detail: at }) => requestAnimationFrame(() => setTimeout(() => globalThis.delays.push(Date.now() - at))));
  `);
  return page;
}

function quantile(numbers, q) {
  const sorted = numbers.toSorted((a, b) => a - b);
  const at = q * (sorted.length - 1);
  const [low, high] = [sorted[Math.floor(at)], sorted[Math.ceil(at)]];
  return low + (high - low) * (at - Math.floor(at));
}

const spread = (numbers) => ({ median: quantile(numbers, 0.5), quarter: quantile(numbers, 0.25), threeQuarters: quantile(numbers, 0.75) });
const percent = (part) => `${(part * 100).toFixed(1)} %`;
const spreadText = ({ median, quarter, threeQuarters }) => `${percent(median)} (half of the pairs from ${percent(quarter)} to ${percent(threeQuarters)})`;

const folder = mkdtempSync(join(tmpdir(), "tandem-bench-dashboard-"));
const server = await chromium.launchServer({ executablePath: browserPath(), args: process.getuid?.() === 0 ? ["--no-sandbox"] : [] });
const browser = await chromium.connect(server.wsEndpoint());
try {
  await new Promise((resolve) => setTimeout(resolve, warmUpMs));
  await job(true); // programs and files are in memory from here on
  const pairs = [];
  for (let pair = 0; pair < Number(values.pairs); pair++) {
    const measured = {};
    // Each goes first every other time, so that a drift of the machine favours nobody.
    for (const withPage of pair % 2 === 0 ? [false, true] : [true, false]) measured[withPage ? "on" : "off"] = await job(withPage);
    const { on, off } = measured;
    pairs.push(measured);
    if (!values.json) console.error(`pair ${pair + 1}: ${off.perTree.toFixed(3)} -> ${on.perTree.toFixed(3)} s per tree, CPU of the parties ${off.parties.toFixed(2)} -> ${on.parties.toFixed(2)} s, of the serving process ${off.server.toFixed(2)} -> ${on.server.toFixed(2)} s, of the browser ${off.browser.toFixed(2)} -> ${on.browser.toFixed(2)} s`);
  }
  const delays = pairs.flatMap(({ on }) => on.delays);
  const report = {
    slowdown: spread(pairs.map(({ on, off }) => on.perTree / off.perTree - 1)),
    partiesCpuMore: spread(pairs.map(({ on, off }) => on.parties / off.parties - 1)),
    // Cores that the page keeps busy while training goes on.
    serverCores: spread(pairs.map(({ on, off }) => on.server / on.wall - off.server / off.wall)),
    browserCores: spread(pairs.map(({ on, off }) => on.browser / on.wall - off.browser / off.wall)),
    pageShareOfMachine: quantile(pairs.map(({ on, off }) => (on.server + on.browser) / on.wall - (off.server + off.browser) / off.wall), 0.5) / cpus().length,
    secondsPerTree: { without: quantile(pairs.map(({ off }) => off.perTree), 0.5), with: quantile(pairs.map(({ on }) => on.perTree), 0.5) },
    eventToPixelMs: { median: quantile(delays, 0.5), p95: quantile(delays, 0.95), max: Math.max(...delays), updates: delays.length },
    machine: { cpu: cpus()[0].model, cores: cpus().length, load: loadavg()[0], node: process.versions.node },
    rows: Number(values.rows),
    trees: Number(values.trees),
    pairs: pairs.length,
    keyBits: 2048,
  };
  if (values.json) console.log(JSON.stringify(report));
  else {
    console.log(`training with the page open: slower by ${spreadText(report.slowdown)}; bar: below 2 %`);
    console.log(`  seconds per tree ${report.secondsPerTree.without.toFixed(3)} -> ${report.secondsPerTree.with.toFixed(3)}; CPU of the parties more by ${spreadText(report.partiesCpuMore)}`);
    console.log(`CPU of the page, in cores: server ${report.serverCores.median.toFixed(4)}, browser ${report.browserCores.median.toFixed(4)}; together ${percent(report.pageShareOfMachine)} of this machine; bar: below 2 %`);
    console.log(`event to pixel: median ${report.eventToPixelMs.median.toFixed(0)} ms, 95 % below ${report.eventToPixelMs.p95.toFixed(0)} ms, at most ${report.eventToPixelMs.max} ms over ${report.eventToPixelMs.updates} updates; bar: below 500 ms`);
    console.log(`${report.machine.cpu}, ${report.machine.cores} cores, load ${report.machine.load.toFixed(1)}, Node ${report.machine.node}; ${values.rows} people, ${values.trees} trees, ${report.pairs} pairs, 2048-bit key; browser without a graphics processor`);
  }
} finally {
  await browser.close();
  await server.close();
  rmSync(folder, { recursive: true, force: true });
}
