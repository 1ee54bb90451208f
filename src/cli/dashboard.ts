/** `--dashboard` of the commands that run a job, and `tandem dashboard`: recorded jobs. */
import { chmod, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { basename, join, resolve } from "node:path";
import { Command } from "commander";
import { TandemError } from "../base/error.ts";
import { isLoopback } from "../base/listening/loopback.ts";
import type { Dashboard, Viewer } from "../dashboard/server.ts";
import type { Progress } from "./terminal/progress.ts";
import { portNumber } from "./whole-number.ts";

export interface DashboardFlags {
  readonly dashboard?: boolean;
  readonly dashboardHost: string;
  readonly dashboardPort: string;
}

const loopback = "127.0.0.1";

export function addDashboardOptions(command: Command): Command {
  return addAddressOptions(
    command.option("--dashboard", "show the job live on a page; its address, with a token, is printed"),
  );
}

function addAddressOptions(command: Command): Command {
  return command
    .option(
      "--dashboard-host <host>",
      "address to serve the page on; beyond loopback other machines can reach it",
      loopback,
    )
    .option("--dashboard-port <port>", "its port; 0: a free port", "0");
}

/** For demo and simulate, whose parties have no folders of their own. */
export function addRecordsOption(command: Command): Command {
  return command.option(
    "--records <folder>",
    "keep each party's record of the job here (default: nowhere; with --dashboard your state folder)",
  );
}

export interface RecordsFlags {
  readonly records?: string;
}

/** Where records of jobs are kept; null: no records were asked for, and nothing is written. */
export function recordsFolder(flags: RecordsFlags & { readonly dashboard?: boolean }): string | null {
  if (flags.records !== undefined) return resolve(flags.records);
  if (flags.dashboard !== true) return null;
  const state = process.env["XDG_STATE_HOME"];
  // The folder keeps its name of 0.1, since it holds users' past jobs.
  return join(state === undefined || state === "" ? join(homedir(), ".local", "state") : state, "tandem", "runs");
}

/** A name for a job that begins now. */
export function keptJobName(kind: string): string {
  return `${kind}-${new Date().toISOString().slice(0, 19).replaceAll(/[-:]/g, "").replace("T", "-")}`;
}

/**
 * Runs a command while serving the page. On a terminal the page is served afterwards until interrupted; elsewhere, and
 * after a failure, it ends with the command.
 * @throws what the work throws; TandemError USAGE for an impossible address
 */
export async function besideDashboard(
  flags: DashboardFlags,
  viewers: readonly Viewer[],
  progress: Progress,
  work: () => Promise<void>,
): Promise<void> {
  if (flags.dashboard !== true) return work();
  const terminal = process.stderr.isTTY === true;
  const say = (text: string): void => (terminal ? progress.line(text) : void process.stderr.write(`${text}\n`));
  const dashboard = await serve(flags, viewers, say);
  try {
    say(`dashboard: ${dashboard.url}`);
    await work();
    if (terminal) {
      say("the dashboard is served until you press Ctrl-C");
      await interrupted();
    }
  } finally {
    await dashboard.close();
  }
}

async function serve(
  flags: DashboardFlags,
  viewers: readonly Viewer[],
  say: (text: string) => void,
  approvers?: ReadonlyMap<string, string>,
): Promise<Dashboard> {
  const port = portNumber("--dashboard-port", flags.dashboardPort);
  const { startDashboard } = await import("../dashboard/server.ts");
  const dashboard = await startDashboard({ viewers, host: flags.dashboardHost, port, approvers });
  if (!isLoopback(flags.dashboardHost))
    say(
      `warning: ${flags.dashboardHost} can be reached from other machines, and the page is not encrypted. ` +
        "Anyone with its address can see this party's jobs.",
    );
  return dashboard;
}

/** The page of a passive party's server; where there is no terminal its address goes into a file, not into a log. */
export async function serveBesideParty(
  flags: DashboardFlags,
  viewer: Viewer,
  approvers?: ReadonlyMap<string, string>,
): Promise<() => Promise<void>> {
  if (flags.dashboard !== true) return () => Promise.resolve();
  const say = (text: string): void => void process.stderr.write(`${text}\n`);
  const dashboard = await serve(flags, [viewer], say, approvers);
  if (process.stderr.isTTY === true) {
    say(`dashboard: ${dashboard.url}`);
    return () => dashboard.close();
  }
  const path = join(viewer.directory, "dashboard.url");
  await writeAddress(path, dashboard.url);
  return async () => {
    await dashboard.close();
    await removeAddress(path, dashboard.url);
  };
}

/** Its token is no longer valid. An address that another process has written since is kept. */
async function removeAddress(path: string, url: string): Promise<void> {
  if ((await readFile(path, "utf8").catch(() => "")) === `${url}\n`) await rm(path, { force: true });
}

async function writeAddress(path: string, url: string): Promise<void> {
  try {
    await mkdir(resolve(path, ".."), { recursive: true, mode: 0o700 });
    await writeFile(path, `${url}\n`, { mode: 0o600 });
    await chmod(path, 0o600);
  } catch (cause) {
    throw new TandemError("FILE_UNWRITABLE", `${path} cannot be written`, { cause });
  }
}

export function dashboardCommand(): Command {
  const command = new Command("dashboard")
    .description("show recorded jobs on a page, until interrupted")
    .argument("<folder>", "a party's output folder, or the --records folder of several parties");
  return addAddressOptions(command).action(async (folder: string, flags: DashboardFlags) => {
    const viewers = await viewersIn(resolve(folder));
    const dashboard = await serve(flags, viewers, (text) => void process.stderr.write(`${text}\n`));
    process.stdout.write(`${dashboard.url}\n`);
    await interrupted();
    await dashboard.close();
  });
}

/** @throws TandemError FILE_UNREADABLE if there is no record of a job */
async function viewersIn(folder: string): Promise<Viewer[]> {
  const { listRecords } = await import("../record/record-folders.ts");
  if ((await listRecords(folder)).length > 0) return [{ name: basename(folder), directory: folder, job: null }];
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  const viewers: Viewer[] = [];
  for (const entry of entries
    .filter((candidate) => candidate.isDirectory())
    .toSorted((a, b) => a.name.localeCompare(b.name))) {
    const directory = join(folder, entry.name);
    if ((await listRecords(directory)).length > 0) viewers.push({ name: entry.name, directory, job: null });
  }
  if (viewers.length === 0) throw new TandemError("FILE_UNREADABLE", `${folder} holds no record of a job`);
  return viewers;
}

function interrupted(): Promise<void> {
  return new Promise((done) => {
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => done());
  });
}
