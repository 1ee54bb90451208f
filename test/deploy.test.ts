/**
 * Runs the commands of docs/deploy.md verbatim, one company after the other, with two loopback addresses instead of two
 * hosts; then those of docs/registry.md, and of docs/feature-sources.md where MariaDB is installed.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { chmodSync, copyFileSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, expect, onTestFinished, test } from "vitest";
import type { PartyTable } from "../src/data/dataset.ts";
import { trainPlain } from "../src/party/active/plain-training.ts";
import { withGrid } from "../src/party/job-grid.ts";
import { resolveJob } from "../src/party/resolve-job.ts";
import { rowsOfTable } from "../src/party/tables/table-rows.ts";
import { scratchDirectory } from "./support/command.ts";
import { activeJobFiles } from "./support/job-files.ts";
import { MariadbServer, withoutMariadb } from "./support/mariadb-server.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const directory = scratchDirectory();
/** Every address 127.x.y.z is this machine on Linux only. */
const passiveHost = process.platform === "linux" ? "127.0.0.2" : "127.0.0.1";

interface Block {
  readonly who: string;
  readonly background: boolean;
  readonly commands: string;
}

function blocks(name: string, port: number): Block[] {
  const page = readFileSync(join(root, "docs", name), "utf8");
  return [...page.matchAll(/```sh (bank|retailer)( background)?\n([\s\S]*?)```/g)].map(
    ([, who, background, commands]) => ({
      who,
      background: background !== undefined,
      commands: commands.replaceAll("10.77.0.2", passiveHost).replaceAll("7443", String(port)),
    }),
  );
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, passiveHost, () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });
}

/** Of the first walk-through, which the second continues. */
let environment: NodeJS.ProcessEnv;
let port: number;

const servers: ChildProcess[] = [];
afterAll(() => servers.forEach((server) => server.kill("SIGKILL")));

function run(
  { commands, background }: Block,
  environment: NodeJS.ProcessEnv,
): { ended: Promise<{ code: number | null; output: string }>; says(text: string): Promise<void>; child: ChildProcess } {
  // `exec` for the server, so that a signal to the child reaches it.
  const child = spawn("sh", ["-ec", background ? `exec ${commands}` : commands], {
    cwd: directory,
    env: environment,
    stdio: ["ignore", "pipe", "pipe"],
  });
  if (background) servers.push(child);
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => (output += text));
  const ended = new Promise<{ code: number | null; output: string }>((resolve) =>
    child.once("close", (code) => resolve({ code, output })),
  );
  const says = async (text: string): Promise<void> => {
    while (!output.includes(text) && child.exitCode === null) await new Promise((resolve) => setTimeout(resolve, 20));
    expect(output).toContain(text);
  };
  return { ended, says, child };
}

/** Sixty-four random hexadecimal digits may contain what looks like an id. */
function withoutFingerprints(output: string): string {
  return output.replaceAll(/"fingerprint":"[0-9a-f]{64}"/g, "");
}

/** Runs a page's commands one after the other. @returns what they print, and the party in the background */
async function followed(page: ReturnType<typeof blocks>) {
  const outputs: string[] = [];
  let party: ReturnType<typeof run> | undefined;
  for (const block of page) {
    const started = run(block, environment);
    if (block.background) {
      party = started;
      await started.says('"event":"listening"');
      continue;
    }
    const { code, output } = await started.ended;
    expect(code, `${block.commands}\n${output}`).toBe(0);
    outputs.push(output);
  }
  return { outputs, party };
}

test("the walk-through, verbatim", async () => {
  const bin = join(directory, "bin");
  mkdirSync(bin);
  writeFileSync(
    join(bin, "tandem"),
    `#!/bin/sh\nexec "${process.execPath}" "${join(root, "bin", "tandem.js")}" "$@"\n`,
  );
  chmodSync(join(bin, "tandem"), 0o755);
  environment = { ...process.env, PATH: `${bin}:${process.env["PATH"] ?? ""}` };
  const all = blocks("deploy.md", (port = await freePort()));
  expect(all.length).toBeGreaterThan(9);
  const { outputs, party } = await followed(all);
  const text = outputs.join("\n");
  expect(text).toMatch(/retailer +801 +701\n/);
  expect(text).toContain("▣ retailer");
  expect(JSON.parse(readFileSync(join(directory, "model.json"), "utf8"))).toMatchObject({
    learner: { feature_names: expect.arrayContaining(["visits"]) as unknown },
  });
  expect(text).toMatch(/test +0\.\d{4} +0\.\d{4} +0\.\d{4}/);
  expect(readdirSync(join(directory, "bank", "jobs", "spring-model")).toSorted()).toEqual([
    ...activeJobFiles,
    "transcript.jsonl",
  ]);
  expect(readdirSync(join(directory, "retailer", "jobs", "spring-model")).toSorted()).toEqual([
    "aligned.csv",
    "alignment.json",
    "events.jsonl",
    "evidence",
    "evidence.json",
    "job.json",
    "own.jsonl",
    "progress.json",
    "reference.json",
    "share.json",
    "transcript.jsonl",
  ]);
  expect(
    readFileSync(join(directory, "retailer", "jobs", "spring-model", "job.json"), "utf8"),
    "the secret of the order is gone",
  ).toContain('"secret":null');
  for (const name of activeJobFiles)
    expect(statSync(join(directory, "bank", "jobs", "spring-model", name)).mode & 0o077, name).toBe(0);

  expect(readFileSync(join(directory, "bank", "scores.csv"), "utf8")).toMatch(
    /^id,prediction\n(c03[01]\d,0\.\d+\n){20}$/,
  );

  // Both configs are as `tandem init` wrote them: guarded, with hidden sums.
  expect(text).toContain("privacy: guarded hides sums in this job");
  const rows = readCsv(join(directory, "bank", "jobs", "spring-model", "predictions.csv"));
  const guarded = aucOf(rows.map(({ label, prediction }) => [Number(label), Number(prediction)]));
  const exact = await exactAuc(new Set(rows.map(({ id }) => id)));
  expect(exact).toBeGreaterThan(0.7);
  expect(guarded).toBeGreaterThan(exact - 0.01);

  party?.child.kill("SIGTERM");
  const { code, output } = (await party?.ended) ?? { code: null, output: "" };
  expect(code).toBe(0);
  const log = output
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as { event: string; party: string });
  expect(log.map(({ event }) => event)).toEqual([
    "certificate", // its own, and that of the bank
    "listening",
    "certificate",
    "aligning",
    "aligned",
    "aligning",
    "aligned",
    "job",
    "joined",
    "budget",
    "passive-tree",
    "passive-tree",
    "passive-tree",
    "budget",
    "job-ended",
    "scored",
    "stopping",
    "stopped",
  ]);
  // The text on what a job may reveal is general.
  expect(withoutFingerprints(output.replaceAll(/"reveals":\[[^\]]*\]/g, ""))).not.toMatch(/c0\d\d\d|c1000|threshold/);
});

function readCsv(path: string): Record<string, string>[] {
  const [head, ...lines] = readFileSync(path, "utf8").trim().split("\n");
  const names = head.split(",");
  return lines.map((line) => Object.fromEntries(line.split(",").map((cell, i) => [names[i], cell])));
}

/** How often a positive is ranked above a negative. */
function aucOf(rows: readonly (readonly [label: number, score: number])[]): number {
  let [above, pairs] = [0, 0];
  for (const [, high] of rows.filter(([label]) => label === 1))
    for (const [, low] of rows.filter(([label]) => label === 0)) {
      pairs++;
      above += high > low ? 1 : high === low ? 0.5 : 0;
    }
  return above / pairs;
}

/** Of the model that `privacy: exact` would have made of the same rows. */
async function exactAuc(held: ReadonlySet<string>): Promise<number> {
  const tables = [
    readCsv(join(directory, "bank", "data.csv")),
    readCsv(join(directory, "retailer", "data.csv")),
  ] as const;
  const ofRetailer = new Map(tables[1].map((row) => [row["id"], row]));
  const common = tables[0].filter(({ id }) => ofRetailer.has(id));
  const partyTables = (isHeld: boolean): PartyTable[] => {
    const own = common.filter(({ id }) => held.has(id) === isHeld);
    const columns = (names: readonly string[], of: (row: Record<string, string>) => Record<string, string>) =>
      names.map((name) => Float32Array.from(own, (row) => Number(of(row)[name])));
    const ids = own.map(({ id }) => id);
    const labels = Float64Array.from(own, ({ label }) => Number(label));
    const bank = ["income", "debt"];
    const retailer = ["visits", "basket"];
    return [
      { ids, featureNames: bank, features: columns(bank, (row) => row), labels },
      { ids, featureNames: retailer, features: columns(retailer, ({ id }) => ofRetailer.get(id) ?? {}), labels: null },
    ];
  };
  const training = { objective: "binary:logistic", eval_metric: "auc", num_round: 3, max_depth: 3, eta: 0.3 };
  const train = partyTables(false);
  const rows = rowsOfTable(train[0]);
  const job = withGrid(resolveJob({ training }), rows.trainedCount);
  const { metrics } = await trainPlain({ job, train, test: partyTables(true), rows, samplingSecrets: ["", ""] });
  return metrics.test?.auc ?? Number.NaN;
}

test("the registry, verbatim: promoted with the retailer's agreement, rolled back and retired", async () => {
  const { outputs, party } = await followed(blocks("registry.md", port));
  party?.child.kill("SIGTERM");
  expect((await party?.ended)?.code).toBe(0);
  const text = outputs.join("\n");
  expect(text).toMatch(/nothing was changed: retailer cannot score with the model of job summer-model: .*\(POLICY\)/);
  expect(text).toMatch(/credit@1 +champion +spring-model/);
  expect(outputs.at(-1)).toMatch(/credit@2 +retired +summer-model/);
});

test.skipIf(withoutMariadb !== null)("features from MariaDB, verbatim: the same scores", async () => {
  const server = await MariadbServer.start();
  onTestFinished(() => server.stop());
  copyFileSync(join(server.folder, "authority.pem"), join(directory, "retailer", "warehouse-ca.pem"));
  const { party } = await followed(
    blocks("feature-sources.md", port).map((block) => ({
      ...block,
      commands: block.commands
        .replaceAll("/run/mysqld/mysqld.sock", server.socket)
        .replaceAll("db.internal:3306", `127.0.0.1:${server.port}`),
    })),
  );
  party?.child.kill("SIGTERM");
  const { code, output } = (await party?.ended) ?? { code: null, output: "" };
  expect(code).toBe(0);
  expect(output).toMatch(/"event":"scored"/);
  expect(withoutFingerprints(output)).not.toMatch(/a-long-password|c0\d\d\d/);
});
