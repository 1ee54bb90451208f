/**
 * What the dashboard costs, as figures: how much slower training is while the page is open in a browser on the same
 * machine, how much processor the page takes, and how long an event takes from the party's process to the screen.
 *
 *   npm run bench:dashboard -- [--rows 10000] [--trees 60] [--jobs 4] [--json]
 *
 * Within one job (2048-bit key, three processes) the page is in view for a few trees, then out of view, and so on. Out
 * of view it is sent nothing and draws nothing. Each time with the page is compared with the two times without it that
 * lie around it: a machine that is slower in one minute than in the next does not count. The tree in which the page
 * changes counts for neither. The slow-down is the median of these ratios, with the interval in which the true median
 * lies with 95 %, by the ranks of a binomial.
 *
 * CPU seconds are read from /proc, per process: the parties, the process that serves the page, the browser. Without the
 * page the last two have next to nothing to do.
 *
 * Needs Linux and a browser (chromium, google-chrome, or TANDEM_BROWSER). The browser runs without a screen and without
 * a graphics processor and paints in software: one on a desktop takes less.
 */
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { cpus, loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { chromium } from "playwright-core";

const { values } = parseArgs({
  options: {
    rows: { type: "string", default: "10000" },
    trees: { type: "string", default: "60" },
    jobs: { type: "string", default: "4" },
    json: { type: "boolean", default: false },
  },
});
const bin = fileURLToPath(new URL("../bin/tandem.js", import.meta.url));
const names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
/** A browser that has just started is busy with itself. */
const warmUpMs = 15_000;
/** Trees in a row with the page, and in a row without; in the first of them it comes into view or goes. */
const blockTrees = 4;

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

/**
 * CPU seconds so far: of the process that serves the page, of the parties that it started, of the browser with all that
 * it started.
 */
function cpuSeconds(serving, browserProcess) {
  const stats = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap(statOf);
  const familyOf = (first) => {
    const family = new Set([first]);
    for (let grown = true; grown;) {
      grown = false;
      for (const { pid, parent } of stats) if (family.has(parent) && !family.has(pid)) grown = Boolean(family.add(pid));
    }
    return family;
  };
  const [job, browsers] = [familyOf(serving), familyOf(browserProcess)];
  const sum = (isWanted) =>
    stats.filter(({ pid }) => isWanted(pid)).reduce((total, { ticks }) => total + ticks, 0) / 100;
  return {
    server: sum((pid) => pid === serving),
    parties: sum((pid) => pid !== serving && job.has(pid)),
    browser: sum((pid) => browsers.has(pid)),
  };
}

function statOf(pid) {
  try {
    // After the name in brackets: state, parent, ..., user and system time as fields 14 and 15.
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
      .replace(/^.*\) /s, "")
      .split(" ");
    return [{ pid: Number(pid), parent: Number(fields[1]), ticks: Number(fields[11]) + Number(fields[12]) }];
  } catch {
    return []; // it has ended meanwhile
  }
}

/** One job. @returns its blocks of trees, with and without the page in turn, and the delays of all updates */
async function job() {
  const child = spawn(
    process.execPath,
    [bin, "demo", "--rows", values.rows, "--num-round", values.trees, "--json", "--records", folder, "--dashboard"],
    { stdio: ["ignore", "ignore", "pipe"] },
  );
  const ended = new Promise((resolve) => child.once("close", resolve));
  const said = [];
  const blocks = [];
  let [page, turned] = [null, Promise.resolve()];
  const look = () => ({ at: performance.now() / 1000, ...cpuSeconds(child.pid, server.process().pid) });
  createInterface({ input: child.stderr }).on("line", (line) => {
    said.push(line);
    const [, url] = /^dashboard: (\S+)/.exec(line) ?? [];
    if (url !== undefined) turned = open(url).then((opened) => (page = opened));
    if (!line.startsWith('{"type":"tree"')) return;
    const trees = JSON.parse(line).tree + 1;
    if (trees % blockTrees === 1) blocks.push({ withPage: blocks.length % 2 === 1, begin: look() });
    if (trees % blockTrees === 0 && blocks.length > 0) {
      blocks.at(-1).end = look();
      const inView = blocks.length % 2 === 1;
      turned = turned.then(() => page.evaluate(`globalThis.come(${inView})`));
    }
  });
  const code = await ended;
  if (code !== 0) throw new Error(`the demo failed: ${said.slice(-5).join("\n")}`);
  await turned;
  const delays = await page.evaluate("globalThis.delays");
  await page.close();
  return { blocks: blocks.filter(({ end }) => end !== undefined).map(costOf), delays };
}

/** Seconds per tree and cores in use, over the trees of a block but its first. */
function costOf({ withPage, begin, end }) {
  const wall = end.at - begin.at;
  const cores = (name) => (end[name] - begin[name]) / wall;
  return {
    withPage,
    perTree: wall / (blockTrees - 1),
    partiesPerTree: (end.parties - begin.parties) / (blockTrees - 1),
    server: cores("server"),
    browser: cores("browser"),
  };
}

/** Every block with the page, beside the mean of the two around it. */
function comparisonsOf(blocks) {
  return blocks.flatMap((on, i) => {
    const [before, after] = [blocks[i - 1], blocks[i + 1]];
    if (!on.withPage || before === undefined || after === undefined) return [];
    const off = (name) => (before[name] + after[name]) / 2;
    const [slower, partiesMore] = [on.perTree / off("perTree"), on.partiesPerTree / off("partiesPerTree")];
    return [
      {
        slowdown: slower - 1,
        waitingMore: slower / partiesMore - 1,
        partiesCpuMore: partiesMore - 1,
        server: on.server - off("server"),
        browser: on.browser - off("browser"),
      },
    ];
  });
}

/** A page that is hidden until it is shown. */
async function open(url) {
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
  await page.goto(url);
  await page.waitForURL((at) => at.search === "");
  // After the frame in which an update was drawn the pixels are there. The first update in view is the replay of what
  // was missed.
  await page.evaluate(`
    let inView = true;
    let first = true;
    Object.defineProperty(document, "hidden", { get: () => !inView });
    globalThis.come = (now) => {
      [inView, first] = [now, true];
      document.dispatchEvent(new Event("visibilitychange"));
    };
    globalThis.delays = [];
    addEventListener("tandem-drawn", ({ detail: at }) => {
      if (!first) requestAnimationFrame(() => setTimeout(() => globalThis.delays.push(Date.now() - at)));
      first = false;
    });
    globalThis.come(false);
  `);
  return page;
}

function quantile(numbers, q) {
  const sorted = numbers.toSorted((a, b) => a - b);
  const at = q * (sorted.length - 1);
  const [low, high] = [sorted[Math.floor(at)], sorted[Math.ceil(at)]];
  return low + (high - low) * (at - Math.floor(at));
}

/** The median, and the order statistics between which the true one lies with 95 %. */
function medianOf(numbers) {
  const sorted = numbers.toSorted((x, y) => x - y);
  const n = sorted.length;
  const rank = Math.max(0, Math.floor(n / 2 - 0.98 * Math.sqrt(n)));
  return { median: quantile(numbers, 0.5), low: sorted[rank], high: sorted[n - 1 - rank] };
}

const percent = (part) => `${(part * 100).toFixed(1)} %`;
const medianText = ({ median, low, high }) => `${percent(median)} (95 %: ${percent(low)} to ${percent(high)})`;

/** What all jobs say together. */
function reportOf(comparisons, delays, perTree) {
  const all = (name) => comparisons.map((compared) => compared[name]);
  const pageCores = comparisons.map((compared) => compared.server + compared.browser);
  return {
    slowdown: medianOf(all("slowdown")),
    // Time per CPU second of the parties: what the page takes from them, at whatever speed the processors run.
    waitingMore: medianOf(all("waitingMore")),
    partiesCpuMore: medianOf(all("partiesCpuMore")),
    // Cores that the page keeps busy while training runs.
    serverCores: medianOf(all("server")),
    browserCores: medianOf(all("browser")),
    pageShareOfMachine: quantile(pageCores, 0.5) / cpus().length,
    secondsPerTree: quantile(perTree, 0.5),
    eventToPixelMs: {
      median: quantile(delays, 0.5),
      p95: quantile(delays, 0.95),
      max: Math.max(...delays),
      updates: delays.length,
    },
    machine: { cpu: cpus()[0].model, cores: cpus().length, load: loadavg()[0], node: process.versions.node },
    rows: Number(values.rows),
    trees: Number(values.trees),
    comparisons: comparisons.length,
    keyBits: 2048,
  };
}

/** The report for people. */
function linesOf({ slowdown, waitingMore, partiesCpuMore, serverCores, browserCores, ...report }) {
  const { machine, eventToPixelMs: delay } = report;
  const cores = (use) => use.median.toFixed(4);
  return [
    `training while the page is open: slower by ${medianText(slowdown)}; bar: below 2 %`,
    `  per CPU second of the parties, whatever the processors' speed is: slower by ${medianText(waitingMore)}`,
    `  without the page: ${report.secondsPerTree.toFixed(3)} seconds per tree`,
    `  CPU of the parties: more by ${medianText(partiesCpuMore)}`,
    `CPU of the page, in cores: server ${cores(serverCores)}, browser ${cores(browserCores)}`,
    `  together ${percent(report.pageShareOfMachine)} of this machine; bar: below 2 %`,
    `event to pixel: median ${delay.median.toFixed(0)} ms, 95 % below ${delay.p95.toFixed(0)} ms`,
    `  at most ${delay.max} ms over ${delay.updates} updates; bar: below 500 ms`,
    `${machine.cpu}, ${machine.cores} cores, load ${machine.load.toFixed(1)}, Node ${machine.node}`,
    `  ${report.rows} people, ${report.trees} trees a job, ${report.comparisons} comparisons, 2048-bit key`,
    "  browser without a graphics processor",
  ];
}

const folder = mkdtempSync(join(tmpdir(), "tandem-bench-dashboard-"));
const server = await chromium.launchServer({
  executablePath: browserPath(),
  args: process.getuid?.() === 0 ? ["--no-sandbox"] : [],
});
const browser = await chromium.connect(server.wsEndpoint());
try {
  await new Promise((resolve) => setTimeout(resolve, warmUpMs));
  const comparisons = [];
  const delays = [];
  const perTree = [];
  for (let count = 0; count < Number(values.jobs); count++) {
    const measured = await job();
    const compared = comparisonsOf(measured.blocks);
    comparisons.push(...compared);
    delays.push(...measured.delays);
    perTree.push(...measured.blocks.filter(({ withPage }) => !withPage).map((block) => block.perTree));
    if (!values.json)
      console.error(`job ${count + 1}: ${compared.map(({ slowdown }) => percent(slowdown)).join(", ")}`);
  }
  const report = reportOf(comparisons, delays, perTree);
  if (values.json) console.log(JSON.stringify(report));
  else for (const line of linesOf(report)) console.log(line);
} finally {
  await browser.close();
  await server.close();
  rmSync(folder, { recursive: true, force: true });
}
