/**
 * Wrong situations of two companies that start together, beyond those of `tandem doctor` (test/doctor.test.ts): the one
 * line that the command prints for each (test/fixtures/wrong-situations.txt). None is a stack or an error of OpenSSL
 * alone, none blames the wrong side, and each is over before the partner's rows are asked about.
 */
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer as createHttpServer } from "node:http";
import { type AddressInfo, createServer, type Server } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createSelfSigned } from "../src/transport/certificates.ts";
import { bankAndShops, testWorlds } from "./support/test-worlds.ts";
import { tandemHere } from "./world/command-here.ts";
import { makePeople } from "./world/people.ts";
import type { Company, ProcessWorld } from "./world/processes.ts";
import type { RunningParty } from "./world/running-party.ts";

type Fields = Record<string, unknown>;
interface Configs {
  readonly active: Fields & { tls: Fields; data: Fields; training: Fields; output: Fields; passives: Fields[] };
  readonly passive: Fields & {
    tls: Fields;
    data: Fields;
    policy: Fields;
    output: Fields;
    active: Fields[];
    listen: Fields;
  };
}
type Change = (config: Configs) => unknown;

const worlds = testWorlds();
const host = "127.0.0.1";
const noHost = `${"a".repeat(64)}.invalid`;
const ports: Record<string, number> = {};
const closing: Server[] = [];
let world: ProcessWorld;
let bank: Company;
let shop: Company;
let party: RunningParty;
let denied = "";

beforeAll(async () => {
  world = await worlds.found(bankAndShops(1, makePeople(240, "wrong situations")));
  ({ bank, shop } = world);
  for (const { folder } of [bank, shop]) await expiredIdentity(folder);
  for (const [company, change] of [
    [bank, (row: string, i: number) => `${row},${i === 0 ? "town" : "Bern"}`],
    [shop, (row: string, i: number) => `${row},${i === 0 ? "town" : "Bern"}`],
  ] as const) {
    const rows = readFileSync(join(company.folder, "data.csv"), "utf8").trim().split("\n");
    writeFileSync(join(company.folder, "words.csv"), `${rows.map(change).join("\n")}\n`);
    writeFileSync(join(company.folder, "few.csv"), `${rows.slice(0, 6).join("\n")}\n`);
    writeFileSync(
      join(company.folder, "others.csv"),
      `${rows.map((row, i) => (i === 0 ? row : `x${row}`)).join("\n")}\n`,
    );
    writeFileSync(join(company.folder, "torn.csv"), `${rows.join("\n")}\nlast`);
    writeFileSync(join(company.folder, "empty.csv"), "");
  }
  mkdirSync(join(bank.folder, "folder"));
  writeFileSync(join(shop.folder, "short"), "short\n", { mode: 0o600 });
  writeFileSync(join(shop.folder, "open-secret"), `${"s".repeat(40)}\n`);
  chmodSync(join(shop.folder, "open-secret"), 0o644);
  writeFileSync(join(shop.folder, "approvers"), "alice short\n", { mode: 0o600 });
  await listen(
    "http",
    createHttpServer((_request, response) => void response.end("hello")),
  );
  const vacant = createServer();
  await listen("vacant", vacant);
  vacant.close();
  party = await world.start(shop, { policy: { max_trees: 20, max_outputs: 1, min_instances: 100 } });
  ports["shop"] = party.port;
  await world.train("finished");
  party = await world.start(shop, {
    policy: { max_trees: 20, max_outputs: 1, min_instances: 100, approval: "required" },
  });
  ports["shop"] = party.port;
  const training = tandemHere(
    "train",
    "-c",
    configFile("active", ({ active }) => (active["job"] = "denied")),
  );
  ({ request: denied } = await party.seen("request-waits"));
  await tandemHere("deny", denied, "-c", join(shop.folder, "passive.json"), "--reason", "not before the audit");
  await training;
});

afterAll(() => closing.forEach((server) => server.close()));

async function expiredIdentity(folder: string): Promise<void> {
  const now = Date.now;
  Date.now = () => now() - 3 * 86_400_000;
  const { certificate, key } = await createSelfSigned("expired", 1).finally(() => (Date.now = now));
  writeFileSync(join(folder, "expired.pem"), certificate);
  writeFileSync(join(folder, "expired.key"), key, { mode: 0o600 });
}

async function listen(what: string, server: Server): Promise<void> {
  closing.push(server);
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  ports[what] = (server.address() as AddressInfo).port;
}

function configs(): Configs {
  const tls = { certificate: "certificate.pem", key: "key.pem" };
  const data = { path: "data.csv", id: "id", features: "all" };
  return {
    active: {
      name: "bank",
      job: `wrong-${written}`,
      passives: [{ name: "shop0", host, port: ports["shop"], fingerprint: shop.fingerprint }],
      tls: { ...tls },
      data: { ...data, label: "outcome", positive: "defaulter", test_fraction: 0.25 },
      training: { num_round: 1, max_depth: 2 },
      insecure_key_bits: 256,
      output: { directory: "jobs" },
      patience_seconds: 1,
    },
    passive: {
      name: "shop0",
      listen: { host, port: 0 },
      tls: { ...tls },
      active: [{ name: "bank", fingerprint: bank.fingerprint }],
      data: { ...data },
      policy: { insecure_min_key_bits: 256 },
      output: { directory: "other-jobs" },
    },
  };
}

let written = 0;
function configFile(role: "active" | "passive", change: Change = () => {}): string {
  const config = configs();
  change(config);
  const path = join((role === "active" ? bank : shop).folder, `wrong-${written++}.json`);
  writeFileSync(path, JSON.stringify(config[role]), { mode: 0o600 });
  return path;
}

const ofActive =
  (part: "data" | "training" | "output" | "tls", fields: Fields): Change =>
  ({ active }) =>
    Object.assign(active[part], fields);
const ofPassive =
  (part: "data" | "policy" | "output" | "listen" | "tls", fields: Fields): Change =>
  ({ passive }) =>
    Object.assign(passive[part], fields);
const partner =
  (fields: () => Fields): Change =>
  ({ active }) =>
    Object.assign(active.passives[0], fields());
const set =
  (fields: Fields): Change =>
  ({ active, passive }) =>
    void (Object.assign(active, fields), Object.assign(passive, fields));
const shopConfig = (): string => join(shop.folder, "passive.json");

/** A command, what is wrong, and the arguments; `-c` and a config are added where a change of it is given. */
type Situation = readonly [command: string, what: string, change: Change | null, args?: () => readonly string[]];

const situations: readonly Situation[] = [
  // own files of the bank
  ["train", "own certificate expired", ofActive("tls", { certificate: "expired.pem", key: "expired.key" })],
  ["train", "key of another certificate", ofActive("tls", { key: "expired.key" })],
  ["train", "certificate not there", ofActive("tls", { certificate: "gone.pem" })],
  ["train", "output folder is a file", ofActive("output", { directory: "data.csv" })],
  ["train", "predictions into a folder that is not there", ofActive("output", { predictions: "none/p.csv" })],
  ["train", "no config there", null, () => ["-c", join(bank.folder, "gone.yaml")]],
  ["train", "the retailer's config", null, () => ["-c", shopConfig()]],
  ["train", "data not there", ofActive("data", { path: "gone.csv" })],
  ["train", "an empty table", ofActive("data", { path: "empty.csv" })],
  ["train", "a torn last line", ofActive("data", { path: "torn.csv" })],
  ["train", "label column not there", ofActive("data", { label: "defaults" })],
  ["train", "text column without enable_categorical", ofActive("data", { path: "words.csv" })],
  ["train", "an unknown objective", ofActive("training", { objective: "binary:logistik" })],
  ["train", "no trees", ofActive("training", { num_round: 0 })],
  ["train", "a short key without insecure", set({ insecure_key_bits: undefined, key_bits: 1024 })],
  ["train", "a purpose of 600 characters", set({ purpose: "x".repeat(600) })],
  ["train", "the name of a finished job", set({ job: "finished" })],
  ["train", "a name that is a path", set({ job: "../spring" })],
  ["train", "start model not there", set({ warm_start: { model: "none" } })],
  // the way to the partner
  ["train", "unknown DNS name", partner(() => ({ host: noHost }))],
  ["train", "plain HTTP at that port", partner(() => ({ port: ports["http"] }))],
  ["train", "no party listens", partner(() => ({ port: ports["vacant"] }))],
  ["train", "another certificate than the pinned one", partner(() => ({ fingerprint: "7".repeat(64) }))],
  ["train", "own fingerprint pinned", partner(() => ({ fingerprint: bank.fingerprint }))],
  ["train", "fingerprint never pasted", partner(() => ({ fingerprint: "PASTE-THE-FINGERPRINT" }))],
  ["train", "bank not pinned by the retailer", ofActive("tls", { certificate: "unknown.pem", key: "unknown.key" })],
  // what the retailer's policy refuses
  ["train", "more trees than allowed", ofActive("training", { num_round: 50 })],
  ["train", "deeper trees than allowed", ofActive("training", { max_depth: 12 })],
  ["train", "a scheme that is not allowed", set({ scheme: "curve", insecure_key_bits: undefined })],
  ["train", "several classes", ofActive("training", { objective: "multi:softprob", num_class: 3 })],
  ["train", "fewer rows than allowed", ofActive("data", { path: "few.csv" })],
  ["train", "a request that was denied", set({ job: "denied" })],
  ["align", "the retailer's config", null, () => ["-c", shopConfig()]],
  // the retailer
  ["party", "own certificate expired", ofPassive("tls", { certificate: "expired.pem", key: "expired.key" })],
  ["party", "port in use", ({ passive }) => (passive.listen["port"] = ports["http"])],
  ["party", "address of another machine", ofPassive("listen", { host: "203.0.113.7" })],
  ["party", "another process in the output folder", ofPassive("output", { directory: "jobs" })],
  ["party", "the bank's config", null, () => ["-c", configFile("active")]],
  ["party", "fingerprint never pasted", ({ passive }) => (passive.active[0]["fingerprint"] = "PASTE-IT")],
  ["party", "data not there", ofPassive("data", { path: "gone.csv" })],
  ["party", "id column not there", ofPassive("data", { id: "customer" })],
  ["party", "a preset that does not exist", ofPassive("policy", { privacy: "strickt" })],
  ["party", "a word for approval that does not exist", ofPassive("policy", { approval: "manual" })],
  ["party", "automatic approval for an unknown partner", ofPassive("policy", { automatic_for: ["bnak"] })],
  [
    "party",
    "a webhook without TLS",
    ofPassive("policy", { webhook: { url: "http://x.example/", secret_file: "short" } }),
  ],
  [
    "party",
    "a secret that is too short",
    ofPassive("policy", { webhook: { url: "https://x.example/", secret_file: "short" } }),
  ],
  [
    "party",
    "a secret that others may read",
    ofPassive("policy", { webhook: { url: "https://x.example/", secret_file: "open-secret" } }),
  ],
  [
    "party",
    "an approver with a short token",
    () => {},
    () => ["--dashboard", "--approvers", join(shop.folder, "approvers")],
  ],
  // decisions
  ["approve", "a request that does not exist", null, () => ["00000000", "-c", shopConfig()]],
  ["approve", "no days", null, () => [denied, "-c", shopConfig(), "--days", "0"]],
  ["approve", "the bank's config", null, () => [denied, "-c", configFile("active")]],
  ["deny", "no request named", null, () => ["-c", shopConfig()]],
  ["deny", "a reason of 600 characters", null, () => [denied, "-c", shopConfig(), "--reason", "x".repeat(600)]],
  // scoring
  [
    "predict",
    "a model that does not exist",
    () => {},
    () => ["--model", "none", "--input", join(bank.folder, "data.csv"), "--output", join(bank.folder, "p.csv")],
  ],
  [
    "predict",
    "people not there",
    () => {},
    () => ["--model", "finished", "--input", join(bank.folder, "gone.csv"), "--output", join(bank.folder, "p.csv")],
  ],
];

function plain(text: string): string {
  return text
    .replaceAll(bank.folder, "BANK")
    .replaceAll(shop.folder, "SHOP")
    .replaceAll(noHost, "HOST-NAME")
    .replaceAll(/wrong-\d+\.json/g, "CONFIG")
    .replaceAll(/wrong-\d+/g, "JOB")
    .replaceAll(denied, "REQUEST")
    .replaceAll(/127\.0\.0\.1:\d+/g, "HOST:PORT")
    .replaceAll(/port \d+/g, "port PORT")
    .replaceAll(/\d{4}-\d\d-\d\d|[A-Z][a-z]{2} +\d+ \d\d:\d\d:\d\d \d{4} GMT/g, "DATE")
    .replaceAll(/[0-9a-f]{64}/g, "FINGERPRINT")
    .replaceAll(/after waiting for \d+ s/g, "after waiting for N s");
}

const golden = new URL("fixtures/wrong-situations.txt", import.meta.url);
const seen: string[] = [];
const raw = /ERR_|SSL routines|OpenSSL|errno|undefined|\bat .*\.[jt]s:|Error:|internal error/;

const cases = situations.map(([command, what, change, args = () => []]) => ({ command, what, change, args }));

test.each(cases)("$command: $what", { timeout: 120_000 }, async ({ command, what, change, args }) => {
  if (what === "bank not pinned by the retailer") {
    const { certificate, key } = await createSelfSigned("unknown", 10);
    writeFileSync(join(bank.folder, "unknown.pem"), certificate);
    writeFileSync(join(bank.folder, "unknown.key"), key, { mode: 0o600 });
  }
  const role = command === "party" ? "passive" : "active";
  const config = change === null ? [] : ["-c", configFile(role, change)];
  const before = party.events.length;
  const { stderr, exitCode } = await tandemHere(command, ...config, ...args());
  const lines = stderr.split("\n").filter((line) => line.startsWith("error: "));
  seen.push(`${command}: ${what}\n  ${plain(lines.join("\n  "))}\n`);
  expect([exitCode, lines.length], stderr).toEqual([2, 1]);
  expect(stderr).not.toMatch(raw);
  expect(party.events.slice(before).map(({ type }) => type)).not.toContain("aligning");
});

test("the lines are those of the fixture", () => {
  const text = seen.join("\n");
  if (process.env["TANDEM_UPDATE"] !== undefined) writeFileSync(golden, text);
  expect(text).toBe(readFileSync(golden, "utf8"));
  expect(seen.length).toBeGreaterThanOrEqual(50);
});
