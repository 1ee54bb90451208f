/**
 * Wrong situations of two companies, and the exact line that `tandem doctor` prints for each
 * (test/fixtures/doctor-lines.txt): none blames the wrong side, none is an error of OpenSSL or of the system alone.
 * Then errors of `train` and `party` that are the same.
 */
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer as createHttpServer } from "node:http";
import { type AddressInfo, createServer, type Server } from "node:net";
import { join } from "node:path";
import { createServer as createTlsServer } from "node:tls";
import { generateKeyPairSync } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runActive } from "../src/party/active/run.ts";
import { readIdentity } from "../src/party/identity.ts";
import { createAuthority, createSelfSigned } from "../src/transport/certificates.ts";
import { certificateFingerprint } from "../src/transport/pinned-certificate.ts";
import { listenTls } from "../src/transport/tls-listen.ts";
import { Diagnosis } from "../src/wire/generated/tandem/v1/diagnosis_pb.ts";
import { protocolVersion } from "../src/wire/version.ts";
import type { ErrorCode } from "../src/base/error.ts";
import { expectError } from "./support/expect-error.ts";
import { bankAndShops, testWorlds } from "./support/test-worlds.ts";
import { tandemHere } from "./world/command-here.ts";
import { makePeople } from "./world/people.ts";
import type { Company, ProcessWorld } from "./world/processes.ts";
import type { RunningParty } from "./world/running-party.ts";

type Fields = Record<string, unknown>;
interface Configs {
  readonly active: Fields & { tls: Fields; data: Fields; output: Fields; passives: Fields[] };
  readonly passive: Fields & { tls: Fields; data: Fields; output: Fields; active: Fields[]; listen: Fields };
}

const worlds = testWorlds();
const holdings = bankAndShops(1, makePeople(240, "doctor"));
const host = "127.0.0.1";
const dayMs = 86_400_000;
let world: ProcessWorld;
let bank: Company;
let shop: Company;
let party: RunningParty;
/** Ports of other servers, by what they are. */
const ports: Record<string, number> = {};
const closing: { close(): unknown }[] = [];
let strange = "";
/** A label that is too long: no name server is asked, so that the error is the same without a network. */
const noHost = `${"a".repeat(64)}.invalid`;

beforeAll(async () => {
  world = await worlds.found(holdings);
  ({ bank, shop } = world);
  withColumn(shop, "words.csv", "town", (i) => (i % 2 === 0 ? "Bern" : "Chur"));
  withColumn(bank, "words.csv", "town", (i) => (i % 2 === 0 ? "Bern" : "Chur"));
  withColumn(bank, "twice.csv", "note", () => "1", true);
  writeFileSync(join(bank.folder, "text.pem"), "no certificate\n");
  writeFileSync(join(bank.folder, "text.key"), "no key\n", { mode: 0o600 });
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const locked = privateKey.export({ type: "pkcs8", format: "pem", cipher: "aes-256-cbc", passphrase: "x" });
  writeFileSync(join(bank.folder, "locked.key"), locked, { mode: 0o600 });
  mkdirSync(join(bank.folder, "folder"));
  for (const [name, days, at] of [
    ["expired", 1, -3 * dayMs],
    ["future", 20, 10 * dayMs],
    ["ending", 30.5, 0],
    ["open", 100, 0],
    ["foreign", 100, 0],
  ] as const)
    await makeIdentity(bank.folder, name, days, at);
  await makeIdentity(shop.folder, "expired", 1, -3 * dayMs);
  chmodSync(join(bank.folder, "open.key"), 0o644);
  const authority = await createAuthority("an authority", 100);
  writeFileSync(join(bank.folder, "authority.pem"), authority.certificate);
  const issued = await authority.issue("bank", [host], 100);
  writeFileSync(join(bank.folder, "issued.pem"), issued.certificate);
  writeFileSync(join(bank.folder, "issued.key"), issued.key, { mode: 0o600 });
  party = await world.start(shop);
  ports["shop"] = party.port;
  await startOthers();
});

afterAll(() => closing.forEach((server) => server.close()));

function withColumn(
  { folder }: Company,
  file: string,
  name: string,
  cell: (i: number) => string,
  isRepeated = false,
): void {
  const [header, ...rows] = readFileSync(join(folder, "data.csv"), "utf8").trim().split("\n");
  const lines = [`${header},${name}`, ...rows.map((row, i) => `${row},${cell(i)}`)];
  writeFileSync(join(folder, file), `${(isRepeated ? [...lines, lines[1]] : lines).join("\n")}\n`);
}

/** @param at when it is made, from now */
async function makeIdentity(folder: string, name: string, days: number, at: number): Promise<void> {
  const now = Date.now;
  Date.now = () => now() + at;
  const made = createSelfSigned(name, days);
  const { certificate, key } = await made.finally(() => (Date.now = now));
  writeFileSync(join(folder, `${name}.pem`), certificate);
  writeFileSync(join(folder, `${name}.key`), key, { mode: 0o600 });
}

async function startOthers(): Promise<void> {
  const listen = async (what: string, server: Server): Promise<void> => {
    closing.push(server);
    await new Promise<void>((resolve) => server.listen(0, host, resolve));
    ports[what] = (server.address() as AddressInfo).port;
  };
  const read = (name: string) =>
    readIdentity({ certificate: join(bank.folder, `${name}.pem`), key: join(bank.folder, `${name}.key`) });
  const tlsServer = async (name: string, options: object): Promise<Server> => {
    const { certificate: cert, key } = await read(name);
    return createTlsServer({ cert, key, ...options }, (socket) => void socket.on("error", () => {}));
  };
  await listen(
    "http",
    createHttpServer((_request, response) => void response.end("hello")),
  );
  await listen(
    "closing",
    createServer((socket) => void socket.on("error", () => {}).destroy()),
  );
  await listen(
    "ssh",
    createServer((socket) => void socket.on("error", () => {}).write("SSH-2.0-server\r\n")),
  );
  await listen("web", await tlsServer("foreign", { ALPNProtocols: ["http/1.1"] }));
  await listen("tls12", await tlsServer("foreign", { maxVersion: "TLSv1.2" }));
  await listen("stale", await tlsServer("expired", { ALPNProtocols: ["h2"] }));
  strange = certificateFingerprint((await read("expired")).certificate);
  const vacant = createServer();
  await listen("vacant", vacant);
  vacant.close();
  const own = await readIdentity({
    certificate: join(shop.folder, "certificate.pem"),
    key: join(shop.folder, "key.pem"),
  });
  const partyLike = async (what: string, says: Fields | null, pinned = bank.fingerprint): Promise<void> => {
    const probe = () => ({
      protocolVersion,
      release: "0.6.0",
      name: "shop0",
      caller: "bank",
      clockMs: Date.now(),
      ...says,
    });
    const server = await listenTls(
      { routes: (router) => says !== null && void router.service(Diagnosis, { probe }) },
      own,
      [{ name: "bank", fingerprints: [pinned] }],
      { host, port: 0 },
    );
    closing.push(server);
    ports[what] = server.port;
  };
  await partyLike("older", { protocolVersion: protocolVersion - 1, release: "0.5.0" });
  await partyLike("newer", { protocolVersion: protocolVersion + 1, release: "9.0.0" });
  await partyLike("ahead", { clockMs: Date.now() + 3600_000 });
  await partyLike("mute", null);
  await partyLike("rival", {}, "9".repeat(64));
}

/** The configs as they should be, which a situation changes. */
function configs(): Configs {
  const tls = { certificate: "certificate.pem", key: "key.pem" };
  const data = { path: "data.csv", id: "id", features: "all" };
  return {
    active: {
      name: "bank",
      passives: [{ name: "shop0", host, port: ports["shop"], fingerprint: shop.fingerprint }],
      tls: { ...tls },
      data: { ...data, label: "outcome", positive: "defaulter", test_fraction: 0.25 },
      training: { num_round: 1, max_depth: 2 },
      insecure_key_bits: 256,
      output: { directory: "jobs" },
    },
    passive: {
      name: "shop0",
      listen: { host, port: 0 },
      tls: { ...tls },
      active: [{ name: "bank", fingerprint: bank.fingerprint }],
      data: { ...data },
      output: { directory: "other-jobs" },
    },
  };
}

let written = 0;
function configFile(role: "active" | "passive", change: Change): string {
  const config = configs();
  const given = change(config);
  const path = join((role === "active" ? bank : shop).folder, `doctor-${written++}.json`);
  writeFileSync(path, given instanceof Text ? given.text : JSON.stringify(config[role]), { mode: 0o600 });
  return path;
}

/** The whole text of a config file. */
class Text {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** May return another text of the file. */
type Change = (config: Configs) => unknown;
/** Whom the line may ask to act: null where all is well. */
type Blamed = "bank" | "shop0" | "both" | null;

const tls =
  (certificate: string, key: string, authority?: string): Change =>
  ({ active }) =>
    Object.assign(active.tls, { certificate, key, ...(authority !== undefined && { authority }) });
const identityOf = (name: string): Change => tls(`${name}.pem`, `${name}.key`);
const data =
  (fields: Fields): Change =>
  ({ active }) =>
    Object.assign(active.data, fields);
const partner =
  (fields: () => Fields): Change =>
  ({ active }) =>
    Object.assign(active.passives[0], fields());
const at = (what: string): Change => partner(() => ({ port: ports[what] }));

const ofBank: readonly [what: string, blamed: Blamed, change: Change][] = [
  ["nothing is wrong", null, () => {}],
  [
    "a fingerprint with colons",
    null,
    partner(() => ({ fingerprint: shop.fingerprint.replaceAll(/(..)(?=.)/g, "$1:") })),
  ],
  ["a fingerprint in capitals", null, partner(() => ({ fingerprint: shop.fingerprint.toUpperCase() }))],
  ["two pins, one of them right", null, partner(() => ({ fingerprint: ["7".repeat(64), shop.fingerprint] }))],
  ["no YAML", "bank", () => new Text("name: [bank")],
  ["an empty config", "bank", () => new Text("")],
  ["a misspelt field", "bank", ({ active }) => Object.assign(active, { passves: [] })],
  ["no id", "bank", ({ active }) => delete active.data["id"]],
  ["a worker's config", "bank", () => new Text("name: crew\nservers: []\n")],
  ["a fingerprint that was never pasted", "bank", partner(() => ({ fingerprint: "PASTE-IT" }))],
  ["a fingerprint that lost a digit", "bank", partner(() => ({ fingerprint: shop.fingerprint.slice(1) }))],
  ["a port out of range", "bank", partner(() => ({ port: 74430 }))],
  ["no certificate", "bank", tls("gone.pem", "key.pem")],
  ["a certificate that is text", "bank", tls("text.pem", "key.pem")],
  ["key and certificate exchanged", "bank", tls("key.pem", "certificate.pem")],
  ["an expired certificate", "bank", identityOf("expired")],
  ["a certificate of the future", "bank", identityOf("future")],
  ["a certificate that ends soon", "bank", identityOf("ending")],
  ["no key", "bank", tls("certificate.pem", "gone.key")],
  ["a key that is text", "bank", tls("certificate.pem", "text.key")],
  ["a key with a password", "bank", tls("certificate.pem", "locked.key")],
  ["a key that others may read", "bank", identityOf("open")],
  ["the key of another certificate", "bank", tls("certificate.pem", "foreign.key")],
  ["no authority", "bank", tls("certificate.pem", "key.pem", "gone.pem")],
  ["an authority that is text", "bank", tls("certificate.pem", "key.pem", "text.pem")],
  ["an authority that issued nothing", "bank", tls("certificate.pem", "key.pem", "authority.pem")],
  ["the own fingerprint pasted", "bank", partner(() => ({ fingerprint: bank.fingerprint }))],
  [
    "one fingerprint for two partners",
    "bank",
    ({ active }) => active.passives.push({ ...active.passives[0], name: "other" }),
  ],
  ["the own name for the partner", "bank", partner(() => ({ name: "bank" }))],
  ["an output folder that is a file", "bank", ({ active }) => (active.output["directory"] = "data.csv/jobs")],
  [
    "predictions into a folder that is not there",
    "bank",
    ({ active }) => (active.output["predictions"] = "none/p.csv"),
  ],
  ["predictions that are a folder", "bank", ({ active }) => (active.output["predictions"] = "folder")],
  ["no data", "bank", data({ path: "gone.csv" })],
  ["a label that is not there", "bank", data({ label: "none" })],
  ["an id that is not there", "bank", data({ id: "none" })],
  ["a positive label that never occurs", "bank", data({ positive: "bankrupt" })],
  ["an id twice", "bank", data({ path: "twice.csv" })],
  ["a column of text without enable_categorical", "bank", data({ path: "words.csv" })],
  ["a program that does not exist", "bank", data({ path: undefined, command: ["no-such-program"] })],
  ["a host name that does not exist", "bank", partner(() => ({ host: noHost }))],
  ["a host name with a typing error", "bank", partner(() => ({ host: `127.0.0.1.${noHost}` }))],
  ["no party listens", "shop0", at("vacant")],
  ["a web server without TLS", "both", at("http")],
  ["another program", "both", at("ssh")],
  ["a firewall that closes connections", "shop0", at("closing")],
  ["a web server with TLS", "both", at("web")],
  ["a server without TLS 1.3", "both", at("tls12")],
  ["another certificate than the pinned one", "both", partner(() => ({ fingerprint: "7".repeat(64) }))],
  ["a pinned certificate that expired", "shop0", partner(() => ({ port: ports["stale"], fingerprint: strange }))],
  ["a partner with no certificate of the authority", "both", tls("issued.pem", "issued.key", "authority.pem")],
  ["a partner that has not pinned the bank", "shop0", at("rival")],
  ["a partner with an older release", "shop0", at("older")],
  ["a partner with a newer release", "bank", at("newer")],
  ["a partner that cannot be probed", "shop0", at("mute")],
  ["a clock that is ahead", "both", at("ahead")],
  ["the partner called otherwise", "bank", partner(() => ({ name: "retailer" }))],
  ["the bank called otherwise by the partner", "shop0", ({ active }) => (active["name"] = "Bank plc")],
];

const passiveTls =
  (name: string): Change =>
  ({ passive }) =>
    Object.assign(passive.tls, { certificate: `${name}.pem`, key: `${name}.key` });
const ofShop: readonly [what: string, blamed: Blamed, change: Change][] = [
  ["nothing is wrong", null, () => {}],
  ["an expired certificate", "shop0", passiveTls("expired")],
  ["the own fingerprint pasted", "shop0", ({ passive }) => (passive.active[0]["fingerprint"] = shop.fingerprint)],
  ["a port in use", "shop0", ({ passive }) => (passive.listen["port"] = ports["http"])],
  ["an address of another machine", "shop0", ({ passive }) => (passive.listen["host"] = "203.0.113.7")],
  ["no data", "shop0", ({ passive }) => (passive.data["path"] = "gone.csv")],
  ["no active party", "shop0", ({ passive }) => passive.active.splice(0)],
];

/** With what differs from run to run left out. */
function plain(text: string): string {
  return text
    .replaceAll(bank.folder, "BANK")
    .replaceAll(shop.folder, "SHOP")
    .replaceAll(/doctor-\d+\.json/g, "CONFIG")
    .replaceAll(/127\.0\.0\.1:\d+/g, "HOST:PORT")
    .replaceAll(/\d{4}-\d\d-\d\d|[A-Z][a-z]{2} +\d+ \d\d:\d\d:\d\d \d{4} GMT/g, "DATE")
    .replaceAll(/\d{4} s ahead/g, "3600 s ahead")
    .replaceAll(/\b\d+\.\d+\.\d+ \(protocol \d+\)/g, "RELEASE")
    .replaceAll(/Tandem \d+\.\d+\.\d+/g, "Tandem RELEASE")
    .replaceAll(/[0-9a-f]{64}/g, "FINGERPRINT");
}

const golden = new URL("fixtures/doctor-lines.txt", import.meta.url);
const seen: string[] = [];
const raw = /ERR_|SSL routines|OpenSSL|errno|undefined|\bat .*\.[jt]s:|Error:/;

test.each([
  ...ofBank.map((situation) => ["active", ...situation] as const),
  ...ofShop.map((situation) => ["passive", ...situation] as const),
])("%s: %s", { timeout: 60_000 }, async (role, what, blamed, change) => {
  const { stdout, stderr, exitCode } = await tandemHere("doctor", "-c", configFile(role, change), "--idle", "0");
  expect(stderr).toBe("");
  expect(stdout).not.toMatch(raw);
  const lines = stdout.split("\n").filter((line) => /^(failed|warning) /.test(line));
  const own = role === "active" ? "bank" : "shop0";
  expect(exitCode).toBe(lines.some((line) => line.startsWith("failed")) ? 2 : 0);
  seen.push(`${own}, ${what}\n${lines.map((line) => `  ${plain(line)}\n`).join("")}`);
  if (blamed === null) return expect(lines).toEqual([]);
  expect(lines.length).toBeGreaterThan(0);
  const who = / (bank|shop0|retailer|other|Bank plc|bank and shop0|this party) must /.exec(lines[0])?.[1];
  // Errors in the own config and data say what to do without a name: the line is of this party.
  const asked = who === undefined || who === "this party" ? own : who;
  expect(asked).toBe(blamed === "both" ? "bank and shop0" : blamed);
});

test("the lines are those of the fixture", () => {
  const text = seen.join("\n");
  if (process.env["TANDEM_UPDATE"] !== undefined) writeFileSync(golden, text);
  expect(text).toBe(readFileSync(golden, "utf8"));
  expect(seen.length).toBeGreaterThan(60);
});

test("as JSON it is one line, with every check", async () => {
  const { stdout } = await tandemHere(
    "doctor",
    "-c",
    configFile("active", () => {}),
    "--idle",
    "1",
    "--json",
  );
  const { checks, failures } = JSON.parse(stdout) as {
    checks: { of: string; name: string; state: string }[];
    failures: number;
  };
  expect(failures).toBe(0);
  expect(checks.filter(({ of }) => of === "shop0").map(({ name, state }) => `${name} ${state}`)).toEqual([
    ...["name", "TCP", "TLS", "fingerprint", "accepted", "version", "names", "clocks", "columns"].map(
      (name) => `${name} ok`,
    ),
    ...["round trip", "largest body", "bandwidth", "idle connection"].map((name) => `${name} ok`),
  ]);
});

const early: readonly [what: string, change: Change, code: ErrorCode, words: RegExp][] = [
  [
    "an expired certificate",
    identityOf("expired"),
    "CERTIFICATE",
    /own certificate .*expired.pem expired on .*bank must/,
  ],
  [
    "the key of another certificate",
    tls("certificate.pem", "foreign.key"),
    "CERTIFICATE",
    /foreign.key is not the key of/,
  ],
  [
    "a host name that does not exist",
    partner(() => ({ host: noHost })),
    "PARTY_LOST",
    /a{64}.invalid of shop0 is unknown/,
  ],
  ["a web server without TLS", at("http"), "PARTY_LOST", /does not speak TLS/],
  ["a partner that has not pinned the bank", at("rival"), "CERTIFICATE", /shop0 must pin/],
  [
    "predictions that cannot be written",
    ({ active }: Configs) => (active.output["predictions"] = "none/p.csv"),
    "FILE_UNWRITABLE",
    /none\/p.csv cannot be written \(ENOENT\)/,
  ],
];

test.each(early)("train reports %s at once, before the partner is asked", async (_what, change, code, words) => {
  const path = configFile("active", (config) => {
    change(config);
    config.active["job"] = `wrong-${written}`;
  });
  const { readActiveConfig } = await import("../src/party/config/config.ts");
  const config = await readActiveConfig(path, () => "");
  const events: string[] = [];
  const before = party.events.length;
  await expectError(() => runActive(config, ({ type }) => events.push(type)), code, words);
  expect(events).not.toContain("waiting");
  expect(party.events.slice(before).map(({ type }) => type)).not.toContain("aligning");
});

test("a partner's column of text is found before the alignment", async () => {
  const words = await world.start(shop, { data: { path: "words.csv", id: "id", features: "all" } });
  ports["shop"] = words.port;
  await expectError(
    () => world.train("wordy"),
    "CELL_UNPARSABLE",
    /the table of shop0 has columns of text, and this job trains without enable_categorical\. bank or shop0 must/,
  );
  expect(words.events.map(({ type }) => type)).not.toContain("aligning");
});

test("another name for the partner is a notice", async () => {
  const { port } = await world.start(shop);
  const events = await world.train(
    "named",
    {},
    { passives: [{ ...shop, name: "retailer" }], ports: { retailer: port } },
  );
  expect(events.find(({ type }) => type === "notice")).toMatchObject({
    words:
      "the party that is called 'retailer' in the config of bank calls itself 'shop0'. " +
      "bank must write 'name: shop0' under passives, or agree on the name",
  });
});

test("a passive party with an expired certificate does not start", async () => {
  await expectError(
    () => world.start(shop, { tls: { certificate: "expired.pem", key: "expired.key" } }),
    "CERTIFICATE",
    /this party's own certificate .*expired.pem expired on .*shop0 must/,
  );
});
