/**
 * What the dashboard costs, as figures: how much slower training is with the page open in a browser on the same machine,
 * and how long an event takes from the party's process to the screen while training uses all cores.
 *
 *   npm run bench:dashboard -- [--rows 10000] [--trees 8] [--rounds 5] [--json]
 *
 * Jobs with and without the dashboard take turns (2048-bit key, three processes); the ratio is of medians. On Linux the CPU
 * seconds of the browser and of the process that serves the page are counted as well: unlike wall time, they mean
 * something on a machine that others use too. Needs a browser (chromium, google-chrome, or TANDEM_BROWSER).
 */
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { cpus, loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { chromium } from "playwright-core";

const { values } = parseArgs({ options: { rows: { type: "string", default: "10000" }, trees: { type: "string", default: "8" }, rounds: { type: "string", default: "5" }, json: { type: "boolean", default: false } } });
const bin = fileURLToPath(new URL("../bin/tandem.js", import.meta.url));
const names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

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

/** CPU seconds of a process, or of it and all that it started; null where the system does not tell. */
function cpuSeconds(root, descendants) {
  try {
    const stats = readdirSync("/proc").filter((name) => /^\d+$/.test(name)).flatMap(statOf);
    const wanted = new Set([root]);
    if (descendants) for (let grown = true; grown; ) {
      grown = false;
      for (const { pid, parent } of stats) if (wanted.has(parent) && !wanted.has(pid)) grown = Boolean(wanted.add(pid));
    }
    return stats.filter(({ pid }) => wanted.has(pid)).reduce((sum, { ticks }) => sum + ticks, 0) / 100;
  } catch {
    return null;
  }
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

/** @returns the demo's own figures, and the delays that were seen in the browser */
async function job(folder, browser) {
  const watch = browser === null ? [] : ["--dashboard"];
  const child = spawn(process.execPath, [bin, "demo", "--rows", values.rows, "--num-round", values.trees, "--json", "--quiet", "--runs", folder, ...watch], { stdio: ["ignore", "pipe", "pipe"] });
  let [stdout, stderr] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (text) => (stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text) => (stderr += text));
  const ended = new Promise((resolve) => child.once("close", resolve));
  const seen = browser === null ? { delays: [] } : await watched(browser, () => /dashboard: (\S+)/.exec(stderr)?.[1], ended, child.pid);
  const code = await ended;
  if (code !== 0) throw new Error(`the demo failed: ${stderr}`);
  const result = JSON.parse(stdout);
  return { perTree: result.seconds.perTree, cpu: result.cpuSeconds, ...seen };
}

async function watched(browser, url, ended, serverPid) {
  while (url() === undefined) await new Promise((resolve) => setTimeout(resolve, 20));
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
  await page.goto(url());
  await page.waitForURL((at) => at.search === "");
  // Stamps the frame after the one in which the page was changed: by then the pixels are there.
  await page.evaluate(`
    globalThis.delays = [];
    new MutationObserver(() => {
      const at = Number(document.documentElement.dataset.shownAt);
      requestAnimationFrame(() => globalThis.delays.push(Date.now() - at));
    }).observe(document.documentElement, { attributes: true, attributeFilter: ["data-shown-at"] });
  `);
  await page.locator(".status .state-training").waitFor({ timeout: 600_000 });
  const before = { browser: cpuSeconds(server.process().pid, true), server: cpuSeconds(serverPid, false) };
  await page.locator(".status .state-finished").waitFor({ timeout: 600_000 });
  const after = { browser: cpuSeconds(server.process().pid, true), server: cpuSeconds(serverPid, false) };
  const delays = await page.evaluate("globalThis.delays");
  await ended;
  await page.close();
  // The first delay is the replay of what happened before the page was open.
  return { delays: delays.slice(1), browserCpu: after.browser - before.browser, serverCpu: after.server - before.server };
}

function quantile(numbers, q) {
  const sorted = numbers.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))];
}

const folder = mkdtempSync(join(tmpdir(), "tandem-bench-dashboard-"));
const server = await chromium.launchServer({ executablePath: browserPath(), args: process.getuid?.() === 0 ? ["--no-sandbox"] : [] });
const browser = await chromium.connect(server.wsEndpoint());
try {
  const runs = { without: [], with: [] };
  for (let round = 0; round < Number(values.rounds); round++) {
    // Each goes first every other time, so that a drift of the machine favours nobody.
    for (const which of round % 2 === 0 ? ["without", "with"] : ["with", "without"]) {
      const measured = await job(folder, which === "with" ? browser : null);
      runs[which].push(measured);
      if (!values.json) console.error(`round ${round + 1}, ${which} dashboard: ${measured.perTree.toFixed(3)} s per tree, ${measured.cpu.toFixed(1)} s of CPU${which === "with" ? `, browser ${measured.browserCpu.toFixed(2)} s, server ${measured.serverCpu.toFixed(2)} s` : ""}`);
    }
  }
  const median = (which, what) => quantile(runs[which].map((run) => run[what]), 0.5);
  const delays = runs.with.flatMap((run) => run.delays);
  const report = {
    slowdown: median("with", "perTree") / median("without", "perTree") - 1,
    cpuMore: median("with", "cpu") / median("without", "cpu") - 1,
    browserCpuShare: median("with", "browserCpu") / median("with", "cpu"),
    serverCpuShare: median("with", "serverCpu") / median("with", "cpu"),
    secondsPerTree: { without: median("without", "perTree"), with: median("with", "perTree") },
    eventToPixelMs: { median: quantile(delays, 0.5), p95: quantile(delays, 0.95), max: Math.max(...delays), updates: delays.length },
    machine: { cpu: cpus()[0].model, cores: cpus().length, load: loadavg()[0], node: process.versions.node },
    rows: Number(values.rows),
    trees: Number(values.trees),
    rounds: Number(values.rounds),
    keyBits: 2048,
  };
  if (values.json) console.log(JSON.stringify(report));
  else {
    console.log(`training with the page open: ${(report.slowdown * 100).toFixed(1)} % slower (${report.secondsPerTree.without.toFixed(3)} -> ${report.secondsPerTree.with.toFixed(3)} s per tree; CPU of the parties ${(report.cpuMore * 100).toFixed(1)} % more); bar: below 2 %`);
    console.log(`CPU beside the parties' own: server ${(report.serverCpuShare * 100).toFixed(1)} %, browser ${(report.browserCpuShare * 100).toFixed(1)} %`);
    console.log(`event to pixel: median ${report.eventToPixelMs.median} ms, 95 % below ${report.eventToPixelMs.p95} ms, at most ${report.eventToPixelMs.max} ms over ${report.eventToPixelMs.updates} updates; bar: below 500 ms`);
    console.log(`${report.machine.cpu}, ${report.machine.cores} cores, load ${report.machine.load.toFixed(1)}, Node ${report.machine.node}; ${values.rows} people, ${values.trees} trees, ${values.rounds} rounds, 2048-bit key`);
  }
} finally {
  await browser.close();
  await server.close();
  rmSync(folder, { recursive: true, force: true });
}
