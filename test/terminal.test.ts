/** What the commands say where: a live picture on a terminal (a real pseudo-terminal), JSON for programs, nothing when asked. */
import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { foundCompany, makePeople } from "./support/companies.ts";
import { scratchDirectory, startTandem, tandem, writeLoanTable } from "./support/command.ts";
import { Terminal } from "./support/terminal.ts";

const directory = scratchDirectory();
const table = join(directory, "loans.csv");
writeLoanTable(table, 300);
const simulation = ["simulate", "--data", table, "--id", "id", "--label", "defaulted", "--active", "income,debt", "--passive", "visits,basket", "--num-round", "3", "--insecure-key-bits", "512"];
const bin = fileURLToPath(new URL("../bin/tandem.js", import.meta.url));

/** Node has no pseudo-terminals of its own; Python's are at hand almost everywhere. */
const withoutPython = spawnSync("python3", ["-c", "import pty"], { stdio: "ignore" }).status !== 0;
if (withoutPython) console.warn("terminal: no python3 here; what the commands show on a terminal is not tested");

/** Runs a command on a pseudo-terminal of this width. */
function onTerminal(columns: number, args: readonly string[], environment: Readonly<Record<string, string>>): Promise<{ code: number | null; output: string }> {
  const program = `
import fcntl, os, pty, struct, sys, termios
pid, fd = pty.fork()
if pid == 0:
    os.execvp(sys.argv[2], sys.argv[2:])
fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", 40, int(sys.argv[1]), 0, 0))
while True:
    try:
        data = os.read(fd, 65536)
    except OSError:
        break
    if not data:
        break
    sys.stdout.buffer.write(data)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
`;
  const child = spawn("python3", ["-c", program, String(columns), process.execPath, bin, ...args], { env: { ...process.env, TERM: "xterm", NO_COLOR: "", ...environment }, stdio: ["ignore", "pipe", "inherit"] });
  let output = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (output += text));
  return new Promise((resolve) => child.once("close", (code) => resolve({ code, output })));
}

describe.skipIf(withoutPython)("on a terminal", () => {
  test("the picture ends as three lines above the result, in colour unless NO_COLOR says no", async () => {
    for (const noColour of ["", "1"]) {
      const { code, output } = await onTerminal(90, simulation, { NO_COLOR: noColour });
      expect(code).toBe(0);
      const terminal = new Terminal(90);
      terminal.write(output);
      const lines = terminal.text.split("\n");
      const bar = lines.findIndex((line) => line.startsWith("█"));
      expect(lines[bar]).toMatch(/^█{28} {2}tree 3\/3 {2}train auc 0\.\d{4} {2}[\d.]+ s in all$/);
      expect(lines[bar + 1]).toMatch(/^ {2}active {5}done$/);
      expect(lines[bar + 2]).toMatch(/^ {2}passive-1 {2}done +[\d.]+ kB to it, [\d.]+ kB back$/);
      expect(lines.filter((line) => line.includes("█"))).toHaveLength(1);
      expect(lines.join("\n")).toMatch(/auc +ks +logloss/);
      expect(terminal.colourChanges > 0).toBe(noColour === "");
    }
  });

  test("--quiet: the result alone", async () => {
    const { code, output } = await onTerminal(90, [...simulation, "--quiet", "--json"], {});
    expect(code).toBe(0);
    expect(Object.keys(JSON.parse(output) as object)).toContain("metrics");
  });
});

describe("elsewhere", () => {
  test("plain lines", async () => {
    const { stderr } = await tandem(...simulation);
    expect(stderr).toMatch(/^tree 3\/3 {2}train auc/m);
    expect(stderr).not.toContain("\u001b");
  });

  test("--json: events one per line, the result on standard output", async () => {
    const { stdout, stderr } = await tandem(...simulation, "--json");
    expect(stdout.trim().split("\n")).toHaveLength(1);
    const events = stderr.trim().split("\n").map((line) => JSON.parse(line) as { type: string; party: string; at: number });
    expect(events.filter(({ type }) => type === "tree")).toHaveLength(3);
    expect(events.every(({ at, party }) => at > 0 && /^(active|passive-1)$/.test(party))).toBe(true);
  });

  test("--quiet: nothing but the result, and nothing is kept without being asked for", async () => {
    const state = join(directory, "state");
    const run = await startTandem([...simulation, "--quiet"], { XDG_STATE_HOME: state }).finished;
    expect(run.stderr).toBe("");
    expect(run.exitCode).toBe(0);
    expect(() => statSync(state)).toThrow(/ENOENT/);
  });

  test("--dashboard keeps the run in the state directory, with its report; other people's scores are not kept", async () => {
    const state = join(directory, "kept");
    const run = await startTandem([...simulation, "--dashboard"], { XDG_STATE_HOME: state }).finished;
    expect(run.exitCode).toBe(0);
    const [, report] = /^report: (.+)$/m.exec(run.stderr) ?? [];
    expect(report.startsWith(join(state, "tandem", "runs", "active"))).toBe(true);
    expect(statSync(report).mode & 0o777).toBe(0o600);
    expect(() => statSync(join(report, "..", "predictions.csv"))).toThrow(/ENOENT/);
  });

  test("a report of something that is no run, a port that is none: one clear line", async () => {
    const { exitCode, stderr } = await tandem("report", directory);
    expect(exitCode).toBe(2);
    expect(stderr).toBe(`error: ${directory} has no record of a run (events.jsonl); give the folder of a job (FILE_UNREADABLE)\n`);
    expect((await tandem(...simulation, "--dashboard", "--dashboard-port", "70000", "--runs", join(directory, "x"))).stderr).toMatch(/--dashboard-port must be an integer/);
    expect((await tandem("dashboard", directory)).stderr).toMatch(/has no record of a run in it \(FILE_UNREADABLE\)/);
  });

  test("a passive party's log never has the address: it is in a file for its owner", async () => {
    const root = join(directory, "companies");
    mkdirSync(root);
    const company = await foundCompany(root, "shop", makePeople(20, "terminal"), [0, 1]);
    const config = join(company.folder, "party.json");
    writeFileSync(config, JSON.stringify({ name: "shop", listen: { host: "127.0.0.1", port: 0 }, tls: { certificate: "certificate.pem", key: "key.pem" }, active: [{ name: "bank", fingerprint: "0".repeat(64) }], data: { path: "data.csv", id: "id", features: "all" }, output: { directory: "jobs" } }));
    const party = startTandem(["party", "-c", config, "--dashboard", "--dashboard-host", "0.0.0.0"]);
    await party.errorMatches(/"event":"listening"/);
    const path = join(company.folder, "jobs", "dashboard.url");
    const url = readFileSync(path, "utf8");
    expect(url).toMatch(/^http:\/\/\S+\/\?token=[\w-]{43}\n$/);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    party.process.kill("SIGTERM");
    const { stderr, exitCode } = await party.finished;
    expect(exitCode).toBe(0);
    expect(stderr).toMatch(/^warning: 0\.0\.0\.0 can be reached from other machines/m);
    expect(stderr).not.toContain("token");
  });
});
