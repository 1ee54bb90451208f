/**
 * Output of the commands: a live display on a (pseudo-)terminal, JSON for programs, nothing with --quiet.
 */
import { spawnSync } from "node:child_process";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test, vi } from "vitest";
import { exportWords } from "../src/gbdt/tree/xgboost-agreement.ts";
import { isCampaign, partOf } from "./support/campaign.ts";
import { scratchDirectory, writeLoanTable } from "./support/command.ts";
import { testWorlds } from "./support/test-worlds.ts";
import { makePeople } from "./world/people.ts";
import { tandemHere } from "./world/command-here.ts";
import { startTandem, tandem, TandemProcess } from "./world/tandem-process.ts";
import { Terminal } from "./support/terminal.ts";

const directory = scratchDirectory();
const worlds = testWorlds();
const table = join(directory, "loans.csv");
writeLoanTable(table, 120);
const simulation = [
  "simulate",
  "--data",
  table,
  "--id",
  "id",
  "--label",
  "defaulted",
  "--active",
  "income,debt",
  "--passive",
  "visits,basket",
  "--num-round",
  "3",
  "--insecure-key-bits",
  "256",
];

/** Node has no pseudo-terminals of its own; Python's are at hand almost everywhere. */
const withoutPython = spawnSync("python3", ["-c", "import pty"], { stdio: "ignore" }).status !== 0;
if (withoutPython) console.warn("terminal: no python3 here; what the commands show on a terminal is not tested");

/** Copies the output of a pseudo-terminal; SIGTERM goes to the command. */
const pseudoTerminal = `
import fcntl, os, pty, signal, struct, sys, termios
pid, fd = pty.fork()
if pid == 0:
    os.execvp(sys.argv[2], sys.argv[2:])
signal.signal(signal.SIGTERM, lambda *_: os.kill(pid, signal.SIGTERM))
fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", 40, int(sys.argv[1]), 0, 0))
while True:
    try:
        data = os.read(fd, 65536)
    except OSError:
        break
    if not data:
        break
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
`;

/** Starts a command on a pseudo-terminal of this width. */
function startOnTerminal(
  columns: number,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): TandemProcess {
  return new TandemProcess(args, {
    env: { TERM: "xterm", NO_COLOR: "", ...env },
    through: ["python3", "-c", pseudoTerminal, String(columns)],
  });
}

describe.skipIf(withoutPython)("on a terminal", () => {
  test("the live display ends as three lines above the result, in colour unless NO_COLOR is set", async () => {
    // A passive party below is watched without colour.
    for (const noColour of partOf(["", "1"], 0, 2)) {
      const { exitCode, stdout } = await startOnTerminal(90, simulation, { NO_COLOR: noColour }).finished;
      expect(exitCode).toBe(0);
      const terminal = new Terminal(90);
      terminal.write(stdout);
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

  test.runIf(isCampaign)("--quiet: the result alone", async () => {
    const { exitCode, stdout } = await startOnTerminal(90, [...simulation, "--quiet", "--json"], {}).finished;
    expect(exitCode).toBe(0);
    expect(Object.keys(JSON.parse(stdout) as object)).toContain("metrics");
  });
});

describe.skipIf(withoutPython)("a passive party on a terminal", () => {
  test("its log lines stay, with the current job below them, without colour if NO_COLOR is set", async () => {
    const people = makePeople(120, "on a terminal");
    const world = await worlds.found({ bank: { people, columns: [0, 1] }, shop: { people, columns: [2, 3] } });
    const party = startOnTerminal(90, ["party", "-c", world.writePassive(world.shop)], { NO_COLOR: "1" });
    const [, port] = await party.outputMatches(/listening on port (\d+)/);
    const config = world.writeActive("spring", { training: { num_round: 12 } }, { ports: { shop: Number(port) } });
    expect((await tandemHere("train", "-c", config, "--quiet")).exitCode).toBe(0);
    await party.outputMatches(/job spring finished[^]*done[^]*done/);
    party.child.kill("SIGTERM");
    const { exitCode, stdout: output } = await party.finished;
    expect(exitCode).toBe(0);
    const terminal = new Terminal(90);
    terminal.write(output);
    const lines = terminal.text.split("\n");
    const bar = lines.findIndex((line) => line.startsWith("█"));
    expect(
      lines
        .slice(0, bar)
        .map((line) => line.slice(21))
        .filter((line) => /^shop: (listening|aligning|job spring finished)/.test(line)),
    ).toEqual([
      `shop: listening on port ${port}`,
      "shop: aligning 120 ids with the 120 of bank for job spring",
      "shop: job spring finished",
    ]);
    expect(lines[bar]).toMatch(/^█{28} {2}tree 12\/12 {2}[\d.]+ s in all$/);
    expect(lines[bar + 1]).toMatch(/^ {2}shop {2}done$/);
    expect(lines[bar + 2]).toMatch(/^ {2}bank {2}done +[\d.]+ k?B to it, [\d.]+ kB from it$/);
    expect(lines.slice(bar + 3).map((line) => line.slice(21))).toEqual(["shop: stopping", "shop: stopped"]);
    expect(lines.filter((line) => line.includes("█"))).toHaveLength(1);
    expect(terminal.colourChanges).toBe(0);
    // The live display was redrawn in place while the job ran.
    expect(output).toMatch(/tree (?:[1-9]|1[01])\/12 {2}level [123]\/3/);
  });
});

describe("elsewhere", () => {
  afterEach(() => vi.unstubAllEnvs());

  test("--json: events one per line, the result on standard output", async () => {
    const { stdout, stderr } = await tandemHere(...simulation, "--json");
    expect(stdout.trim().split("\n")).toHaveLength(1);
    const events = stderr
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as { type: string; party: string; at: number });
    expect(events.filter(({ type }) => type === "tree")).toHaveLength(3);
    expect(events.every(({ at, party }) => at > 0 && /^(active|passive-1)$/.test(party))).toBe(true);
  });

  test("--quiet: only the result, and no record is kept by default", async () => {
    const state = join(directory, "state");
    vi.stubEnv("XDG_STATE_HOME", state);
    const run = await tandemHere(...simulation, "--quiet");
    expect(run.stderr).toBe("");
    expect(run.exitCode).toBe(0);
    expect(() => statSync(state)).toThrow(/ENOENT/);
  });

  test("plain lines; --dashboard keeps the job and its report in the state folder, and no scores", async () => {
    const state = join(directory, "kept");
    const files = ["--predictions", join(directory, "plain.csv"), "--export", join(directory, "plain.json")];
    vi.stubEnv("XDG_STATE_HOME", state);
    const run = await tandemHere(...simulation, ...files, "--dashboard");
    expect(run.exitCode).toBe(0);
    expect(run.stderr).toMatch(/^tree 3\/3 {2}train auc/m);
    expect(run.stderr).not.toContain("\u001b");
    expect(run.stderr).toContain(
      `predictions: ${files[1]}\nmodel: ${files[3]} (${exportWords("binary:logistic")})\nreport: `,
    );
    expect(run.stderr).toMatch(
      /kept as simulate-\d{8}-\d{6}: --warm-start continues from it, with the same --records$/m,
    );
    const [, report] = /^report: (.+)$/m.exec(run.stderr) ?? [];
    expect(report.startsWith(join(state, "tandem", "runs", "active"))).toBe(true);
    expect(statSync(report).mode & 0o777).toBe(0o600);
    expect(() => statSync(join(report, "..", "predictions.csv"))).toThrow(/ENOENT/);
  });

  test("a report of a folder that is not a job, an invalid port: an error of one line", async () => {
    const { exitCode, stderr } = await tandem("report", directory);
    expect(exitCode).toBe(2);
    expect(stderr).toBe(
      `error: ${directory} has no record of a job (events.jsonl); give the folder of a job (FILE_UNREADABLE)\n`,
    );
    expect(
      (await tandemHere(...simulation, "--dashboard", "--dashboard-port", "70000", "--records", join(directory, "x")))
        .stderr,
    ).toMatch(/--dashboard-port must be an integer/);
    expect((await tandemHere("dashboard", directory)).stderr).toMatch(/holds no record of a job \(FILE_UNREADABLE\)/);
  });

  test("a passive party's log never contains the dashboard's address: it is in a file for its owner", async () => {
    const people = makePeople(20, "terminal");
    const world = await worlds.found({ bank: { people, columns: [2] }, shop: { people, columns: [0, 1] } });
    const config = world.writePassive(world.shop);
    const party = startTandem(["party", "-c", config, "--dashboard", "--dashboard-host", "0.0.0.0"]);
    await party.errorMatches(/"event":"listening"/);
    const path = join(world.shop.folder, "jobs", "dashboard.url");
    const url = readFileSync(path, "utf8");
    expect(url).toMatch(/^http:\/\/\S+\/\?token=[\w-]{43}\n$/);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    party.child.kill("SIGTERM");
    const { stderr, exitCode } = await party.finished;
    expect(exitCode).toBe(0);
    expect(stderr).toMatch(/^warning: 0\.0\.0\.0 can be reached from other machines/m);
    expect(stderr).not.toContain("token");
    expect(() => statSync(path)).toThrow(/ENOENT/);
  });
});
