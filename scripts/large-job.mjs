/**
 * A job with many rows, between real processes with TLS on loopback, each of them under a bound of memory. Prints what
 * each process had at its peak, in each phase of the job, and per row; fails where one had more than it may.
 *
 *   npm run large -- [--rows 1000000] [--columns 10] [--scheme lattice] [--trees 3] [--depth 5]
 *                    [--cap 3G] [--workers 0] [--shared 0.95] [--seed 7] [--same-rows] [--folder <folder>]
 *                    [--job <folder>] [--json]
 *
 * Two companies with `columns` features each; of their rows `shared` are of the same people. With workers, the passive
 * party has a crew: nats-server must be installed. With --same-rows both list the same people in the same order, and
 * nothing is aligned. Tables are made by DuckDB in `folder`, and used again the next time. A job in a folder of its own
 * stays, with logs of all processes; the same command resumes it. Needs Linux and `npm run build`; as root each process
 * is bound by a cgroup, otherwise peaks are compared afterwards.
 */
import { execFileSync } from "node:child_process";
import { appendFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { CappedProcess } from "./capped-process.mjs";
import { makeTables } from "./large-tables.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const tandem = [process.execPath, join(root, "bin", "tandem.js")];
const { values } = parseArgs({
  options: {
    rows: { type: "string", default: "1000000" },
    columns: { type: "string", default: "10" },
    scheme: { type: "string", default: "lattice" },
    trees: { type: "string", default: "3" },
    depth: { type: "string", default: "5" },
    cap: { type: "string", default: "3G" },
    workers: { type: "string", default: "0" },
    shared: { type: "string", default: "0.95" },
    seed: { type: "string", default: "7" },
    folder: { type: "string", default: join(tmpdir(), "tandem-large") },
    "same-rows": { type: "boolean", default: false },
    job: { type: "string" },
    json: { type: "boolean", default: false },
  },
});
const [rows, columns, trees, depth, workers, seed] = ["rows", "columns", "trees", "depth", "workers", "seed"].map(
  (name) => Number(values[name]),
);
const sameRows = values["same-rows"];
const shared = sameRows ? 1 : Number(values.shared);
const capBytes = bytesOf(values.cap);
/** By the active party's events: which of them begins a phase. */
const phases = { job: "set-up", aligning: "alignment", aligned: "set-up", layout: "trees", tree: "trees" };
const lookMs = 200;

const processes = [];
let phase = "reading";
let since = performance.now();
const seconds = {};

mkdirSync(values.folder, { recursive: true });
const home = values.job ?? mkdtempSync(join(values.folder, "job-"));
try {
  if (!existsSync(join(home, "bank", "active.yaml")))
    await setUp(await makeTables({ folder: values.folder, rows, columns, shared, seed, sameRows }));
  since = performance.now();
  await run();
} finally {
  report();
  for (const { child } of processes) child.kill("SIGKILL");
  await Promise.all(processes.map(({ ended }) => ended));
  if (values.job === undefined) rmSync(home, { recursive: true, force: true });
}

function bytesOf(size) {
  const [, number, unit] = /^(\d+(?:\.\d+)?)([KMG]?)B?$/i.exec(size) ?? [];
  if (number === undefined) throw new Error(`--cap ${size}: a size such as 3G`);
  return Number(number) * 1024 ** " KMG".indexOf(unit.toUpperCase() || " ");
}

function command(...words) {
  return execFileSync(tandem[0], [tandem[1], ...words], { encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] });
}

async function setUp(tables) {
  const [port, enginePort] = [await freePort(), await freePort()];
  command("init", "active", "--name", "bank", "--out", join(home, "bank"));
  command("init", "passive", "--name", "retailer", "--out", join(home, "retailer"));
  const fingerprint = (who) => command("fingerprint", join(home, who, "certificate.pem")).trim();
  const tls = { certificate: "certificate.pem", key: "key.pem" };
  const data = { id: "id", features: "all" };
  const passive = {
    name: "retailer",
    listen: { host: "127.0.0.1", port },
    tls,
    active: [{ name: "bank", fingerprint: fingerprint("bank") }],
    data: { path: tables.retailer, ...data },
    policy: { schemes: [values.scheme], lattice_minimums: "root", max_active_ids: rows },
    output: { directory: "jobs" },
  };
  const active = {
    name: "bank",
    job: "large",
    passives: [{ name: "retailer", host: "127.0.0.1", port, fingerprint: fingerprint("retailer") }],
    tls,
    data: { path: tables.bank, ...data, label: "label" },
    align: !sameRows,
    patience_seconds: 3600, // a busy machine may take minutes for what takes seconds
    max_passive_ids: rows,
    training: { num_round: trees, max_depth: depth, seed },
    scheme: values.scheme,
    output: { directory: "jobs" },
  };
  // A config is YAML, and JSON is that too; lines of a crew can be added to neither as text.
  writeFileSync(join(home, "bank", "active.yaml"), JSON.stringify(active));
  const passivePath = join(home, "retailer", "passive.yaml");
  writeFileSync(passivePath, yamlOf(passive));
  if (workers === 0) return;
  command("init", "crew", "--party", passivePath, "--out", join(home, "crew"), "--port", String(enginePort));
  appendFileSync(passivePath, readFileSync(join(home, "crew", "crew.yaml")));
}

function yamlOf(fields) {
  return Object.entries(fields)
    .map(([name, value]) => `${name}: ${JSON.stringify(value)}\n`)
    .join("");
}

function freePort() {
  return new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

async function run() {
  const look = setInterval(() => processes.forEach((each) => each.look()), lookMs);
  try {
    if (workers > 0) {
      start("nats-server", ["nats-server", "-c", "nats.conf"], { cwd: join(home, "crew") });
      const room = ["--memory", `${Math.floor((0.95 * capBytes) / 1e6)}MB`];
      for (let i = 0; i < workers; i++)
        start(`worker-${i}`, [...tandem, "worker", "-c", join(home, "crew", "worker.yaml"), "--threads", "1", ...room]);
    }
    const party = start("passive", [...tandem, "party", "-c", join(home, "retailer", "passive.yaml")]);
    await party.said("listening");
    const bank = start("active", [...tandem, "train", "-c", join(home, "bank", "active.yaml"), "--json"], {
      onEvent: (event) => enter(phases[event]),
    });
    const lost = Promise.race(
      processes.filter((each) => each !== bank).map(async ({ name, ended }) => ({ name, ...(await ended) })),
    );
    const first = await Promise.race([bank.ended, lost]);
    if (first.name !== undefined) throw new Error(`${first.name} ended early: ${first.signal ?? first.code}`);
    if (first.code !== 0)
      throw new Error(`the job failed: ${first.signal ?? first.code}\n${bank.lastWords.join("\n")}`);
  } finally {
    clearInterval(look);
  }
}

function enter(next) {
  if (next === undefined || next === phase) return;
  const now = performance.now();
  seconds[phase] = (seconds[phase] ?? 0) + (now - since) / 1000;
  since = now;
  phase = next;
  for (const each of processes) each.enter(phase);
}

function start(name, words, { onEvent = () => {}, ...options } = {}) {
  const each = new CappedProcess({ name, capBytes, phase, command: words, options: { ...options, stdio: "pipe" } });
  each.lastWords = [];
  const waiting = [];
  for (const stream of [each.child.stderr, each.child.stdout])
    createInterface(stream).on("line", (line) => {
      each.lastWords = [...each.lastWords.slice(-4), line];
      if (values.job !== undefined) appendFileSync(join(home, `${name}.log`), `${line}\n`);
      const event = /"(?:event|type)":"([a-z-]+)"/.exec(line)?.[1];
      if (event === undefined) return;
      onEvent(event);
      for (const { wanted, resolve } of waiting) if (wanted === event) resolve();
    });
  each.said = (wanted) =>
    new Promise((resolve, reject) => {
      waiting.push({ wanted, resolve });
      void each.ended.then(() => reject(new Error(`${name} ended:\n${each.lastWords.join("\n")}`)));
    });
  processes.push(each);
  return each;
}

/** Also of a job that failed: then it says how far it came. */
function report() {
  if (processes.length === 0) return;
  enter("end");
  const peaks = processes.map(({ name, peaks, peakBytes, cpuSeconds }) => ({ name, peaks, peakBytes, cpuSeconds }));
  const beyond = peaks.filter(({ peakBytes }) => peakBytes > capBytes).map(({ name }) => name);
  const { heldBy } = processes[0];
  const facts = { rows, columns, scheme: values.scheme, trees, depth, workers, shared, seed, capBytes, heldBy };
  if (values.json) process.stdout.write(`${JSON.stringify({ ...facts, seconds, peaks, beyond })}\n`);
  else {
    const names = Object.keys(seconds);
    const cell = (text) => String(text).padStart(11);
    const megabytes = (bytes) => (bytes === undefined ? "-" : `${Math.round(bytes / 2 ** 20)} MB`);
    const lines = [
      `${rows} rows x ${columns} columns at each of two parties, ${values.scheme}, ${trees} trees of depth ${depth}`,
      `${cpus()[0].model}, ${cpus().length} cores, Node ${process.version}, seed ${seed}`,
      `at most ${values.cap} for each process: ${heldBy}`,
      ["".padEnd(12), ...[...names, "peak", "B per row", "CPU"].map(cell)].join(""),
      ["seconds".padEnd(12), ...names.map((name) => cell(seconds[name].toFixed(0)))].join(""),
      ...peaks.map(({ name, peaks: of, peakBytes, cpuSeconds }) =>
        [
          name.padEnd(12),
          ...names.map((each) => cell(megabytes(of[each]))),
          cell(megabytes(peakBytes)),
          cell((peakBytes / rows).toFixed(0)),
          cell(`${cpuSeconds.toFixed(0)} s`),
        ].join(""),
      ),
    ];
    process.stdout.write(`${lines.join("\n")}\n`);
  }
  if (beyond.length > 0) {
    process.stderr.write(`beyond ${values.cap}: ${beyond.join(", ")}\n`);
    process.exitCode = 1;
  }
}
