/** `tandem init crew` and `tandem worker` as users run them; with a real engine where one is installed. */
import { type ChildProcess, spawn } from "node:child_process";
import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { scratchDirectory } from "./support/command.ts";
import { tandemHere } from "./world/command-here.ts";
import { freePort, startTandem, tandem } from "./world/tandem-process.ts";
import { natsProgram } from "./support/nats-server.ts";

const folder = scratchDirectory();
const crew = join(folder, "crew");
const worker = join(crew, "worker.yaml");
const port = await freePort();
let engine: ChildProcess | null = null;
afterAll(() => engine?.kill("SIGKILL"));

const events = (stderr: string): string[] =>
  [...stderr.matchAll(/^\{.*"event":"([\w-]+)".*\}$/gm)].map(([, event]) => event);

test("init crew prints which machine needs which file, and the next step", async () => {
  await tandemHere("init", "passive", "--name", "shop", "--host", "127.0.0.1", "--out", folder);
  const party = join(folder, "passive.yaml");
  const { exitCode, stdout } = await tandemHere("init", "crew", "--party", party, "--port", `${port}`, "--out", crew);
  expect(exitCode).toBe(0);
  expect(stdout).toMatch(/the engine needs +nats.conf ca.pem server.pem server.key, and never crew.key/);
  expect(stdout).not.toContain(readFileSync(join(crew, "crew.key"), "utf8").trim());
  expect((await tandemHere("init", "crew")).stderr).toMatch(/^error: --party is missing\. .* \(USAGE\)\n$/);
});

test("a worker waits for its engine, and exits with 0 on SIGTERM", async () => {
  const waiting = startTandem(["worker", "-c", worker, "--threads", "1"]);
  await waiting.errorMatches(new RegExp(`"event":"engine-waited".*tls://localhost:${port}: connection refused`));
  waiting.child.kill("SIGTERM");
  const { exitCode, stderr } = await waiting.finished;
  expect([exitCode, events(stderr)]).toEqual([0, ["worker-started", "engine-waited", "stopped"]]);
});

test.skipIf(natsProgram === null)("it connects to an engine that starts later, and shuts down cleanly", async () => {
  const working = startTandem(["worker", "-c", worker, "--threads", "1"]);
  await working.errorMatches(/"event":"engine-waited"/);
  const config = join(crew, "nats.conf");
  // Another process on this machine may use the default metrics port.
  writeFileSync(config, readFileSync(config, "utf8").replace(/^http: "127.0.0.1:\d+"/m, 'http: "127.0.0.1:-1"'));
  engine = spawn(natsProgram ?? "", ["-c", "nats.conf"], { cwd: crew, stdio: "ignore" });
  await working.errorMatches(/"event":"engine-found"/);
  working.child.kill("SIGTERM");
  const { exitCode, stderr } = await working.finished;
  expect(exitCode).toBe(0);
  expect(events(stderr)).toEqual(["worker-started", "engine-waited", "engine-found", "stopping", "stopped"]);
});

test.skipIf(process.platform === "win32")("errors in its files are reported at once", async () => {
  const wrong = join(crew, "wrong.yaml");
  writeFileSync(wrong, readFileSync(worker, "utf8").replace("secret:", "secrets:"));
  const misspelt = await tandemHere("worker", "-c", wrong);
  expect([misspelt.exitCode, misspelt.stderr]).toEqual([
    2,
    `error: ${wrong}, line 10: unknown field 'secrets'; did you mean 'secret'? (FILE_FORMAT)\n`,
  ]);
  writeFileSync(wrong, readFileSync(worker, "utf8").replace("worker.pem", "gone.pem"));
  expect((await tandemHere("worker", "-c", wrong)).stderr).toMatch(/gone.pem cannot be read. 'tandem init crew' makes/);
  chmodSync(join(crew, "crew.key"), 0o644);
  const readable = await tandem("worker", "-c", worker);
  expect([readable.exitCode, readable.stderr]).toEqual([2, expect.stringMatching(/crew.key is a secret.*chmod 600/)]);
});
