import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { scratchDirectory } from "../../../test/support/command.ts";
import { expectError } from "../../../test/support/expect-error.ts";
import { dataSources } from "../../data/sources/registry.ts";
import { readPassiveConfig } from "./config.ts";

const folder = scratchDirectory();
let files = 0;

/** @param data lines under `data`; the first of them is line 11 */
function config(...data: string[]): string {
  const path = join(folder, `config-${files++}.yaml`);
  const head = ["name: retailer", "listen:", "  host: 0.0.0.0", "  port: 7443", "tls:", "  certificate: c.pem"];
  const rest = ["  key: k.pem", "active:", `  - { name: bank, fingerprint: ${"ab".repeat(32)} }`, "data:"];
  const all = [...head, ...rest, ...data.map((line) => `  ${line}`), "  id: id", "  features: all"];
  writeFileSync(path, [...all, "output:", "  directory: jobs", ""].join("\n"));
  return path;
}

const postgres = (...lines: string[]): string => config("postgres:", ...lines.map((line) => `  ${line}`));

test("paths of a table and of secrets are relative to the config", async () => {
  expect((await readPassiveConfig(config("path: [a.csv, /b.csv]"))).data.path).toEqual([
    join(folder, "a.csv"),
    "/b.csv",
  ]);
  const query = config("sql: select 1 as id");
  expect((await readPassiveConfig(query)).data.sql).toEqual({ query: "select 1 as id", folder });
  const path = postgres("url_file: secret/url", "authority: ca.pem", "query: select 1 as id");
  expect((await readPassiveConfig(path)).data.postgres).toEqual({
    url_file: join(folder, "secret/url"),
    authority: join(folder, "ca.pem"),
    insecureFiles: false,
    query: "select 1 as id",
    tls: "verify",
    timeout_seconds: 3600,
  });
});

test.each<[string, string[], number, RegExp]>([
  [
    "two sources",
    ["path: x.csv", "postgres: { url_file: U, query: q }"],
    12,
    /'data\.path' and 'data\.postgres' exclude/,
  ],
  ["no file in a list", ["path: []"], 11, /field 'data\.path'/],
  [
    "a connection string",
    ["postgres:", "  url: postgres://u:hunter2@h/d", "  query: q"],
    12,
    /'data\.postgres\.url' was removed: put the connection string into a file/,
  ],
  ["a password of its own", ["postgres:", "  url_file: U", "  password: hunter2"], 13, /is not for a config.*url_file/],
  ["a user of its own", ["postgres:", "  user: hunter2"], 12, /'data\.postgres\.user' is not for a config/],
  [
    "a variable of the environment",
    ["postgres:", "  url_env: DATABASE", "  query: q"],
    12,
    /'data\.postgres\.url_env' was removed/,
  ],
  ["no address", ["postgres:", "  query: q"], 11, /field 'data\.postgres\.url_file' is missing/],
  ["no query", ["postgres:", "  url_file: U"], 11, /field 'data\.postgres\.query' is missing/],
  [
    "half an identity",
    ["postgres:", "  url_file: U", "  query: q", "  key: k"],
    14,
    /a certificate and its key go together/,
  ],
  [
    "another server's password",
    ["mysql:", "  url_file: U", "  password: hunter2"],
    13,
    /is not for a config.*url_file/,
  ],
  [
    "another server's address",
    ["mysql: { url: mysql://u:hunter2@h/d, query: q }"],
    11,
    /'data\.mysql\.url' is not for/,
  ],
  [
    "the weak option of another server",
    ["mysql: { url_file: U, query: q, tls: off }"],
    11,
    /must be one of verify, insecure_off/,
  ],
  [
    "no TLS that there is",
    ["postgres:", "  url_file: U", "  query: q", "  tls: yes"],
    14,
    /must be one of verify, off/,
  ],
])("%s is refused by its line, and no secret is shown", async (_what, data, line, says) => {
  const { message } = await expectError(() => readPassiveConfig(config(...data)), "FILE_FORMAT", says);
  expect(message).toMatch(new RegExp(`, line ${line}: `));
  expect(message).not.toMatch(/hunter2/);
});

test("docs/sources.md has every source, in its own words", () => {
  const page = readFileSync(new URL("../../../docs/sources.md", import.meta.url), "utf8");
  const rows = [...page.matchAll(/^\| `data\.(\w+)` +\| (.*?) *\|$/gm)].map(([, name, about]) => [name, about]);
  expect(Object.fromEntries(rows)).toEqual(
    Object.fromEntries(Object.entries(dataSources).map(([name, { about }]) => [name, about])),
  );
});
