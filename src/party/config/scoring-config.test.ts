import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { scratchDirectory } from "../../../test/support/command.ts";
import { expectError } from "../../../test/support/expect-error.ts";
import { readPassiveConfig } from "./config.ts";

const folder = scratchDirectory();
const path = join(folder, "passive.yaml");

/** @param features under `scoring.features`, on line 12 */
function config(features: string): string {
  const head = ["name: retailer", "listen: { host: 0.0.0.0, port: 7443 }", "tls:", "  certificate: c.pem"];
  const rest = ["  key: k.pem", "active:", `  - { name: bank, fingerprint: ${"ab".repeat(32)} }`, "data:"];
  const data = ["  path: x.csv", "  id: id", "  features: all"];
  writeFileSync(
    path,
    [...head, ...rest, ...data, `scoring: { features: ${features} }`, "output: { directory: jobs }", ""].join("\n"),
  );
  return path;
}

test("paths are relative to the config, and bounds have defaults", async () => {
  const { scoring } = await readPassiveConfig(config("{ http: { url: https://h/x, token_file: t, authority: a } }"));
  expect(scoring.features).toEqual({
    timeout_ms: 2000,
    cache_seconds: 0,
    cache_people: 100_000,
    source: {
      http: {
        url: "https://h/x",
        token_file: join(folder, "t"),
        authority: join(folder, "a"),
        insecure_http: false,
        insecureFiles: false,
        response_bytes: 8 << 20,
      },
    },
  });
  const query = "{ mysql: { url_file: U, query: select id from t where id in (?) } }";
  const { features } = (await readPassiveConfig(config(query))).scoring;
  expect(features?.source).toMatchObject({ mysql: { url_file: join(folder, "U"), tls: "verify" } });
});

test.each([
  ["{ timeout_ms: 5000 }", /must have one of postgres, mysql, http; without it the table is used/],
  ["{ http: { url: https://h }, mysql: { url_file: U, query: '?' } }", /'scoring\.features\.mysql' and 'http' exclude/],
  ["{ http: { url: http://h/x } }", /must begin with https:\/\/\. .*insecure_http: true/],
  ["{ http: { url: ftp://h/x } }", /must be an address, https:/],
  ["{ http: { url: https://h, fingerprint: abc } }", /must be a SHA-256 fingerprint of a certificate/],
  ["{ http: { url: https://h, key: k } }", /a certificate and its key go together/],
  ["{ postgres: { url_file: U, query: select 1 } }", /must select by \$1, the array of ids/],
  ["{ postgres: { url_file: U, query: select $12 } }", /must select by \$1/],
  ["{ postgres: { url_file: U, query: $1, password: hunter2 } }", /'scoring\.features\.postgres\.password' is not for/],
  ["{ mysql: { url_file: U, query: select 1 } }", /must have one '\?', which stands for the ids/],
  ["{ mysql: { url_file: U, query: select ? and ? } }", /must have one '\?'/],
  ["{ mysql: { url_file: U, query: '?', tls: off } }", /must be one of verify, insecure_off/],
])("%s", async (features, says) => {
  const { message } = await expectError(() => readPassiveConfig(config(features)), "FILE_FORMAT", says);
  expect(message).toMatch(/, line 12: /);
  expect(message).not.toContain("hunter2");
});
