/** The secret that a party draws its columns with, unless an experiment names one. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { samplingSecretOf } from "../src/party/sampling-secret.ts";
import { scratchDirectory } from "./support/command.ts";

const folder = scratchDirectory();

function keyFile(content: string): { certificate: string; key: string } {
  const key = join(folder, `${content}.pem`);
  writeFileSync(key, content);
  return { certificate: "", key };
}

test("a party's TLS key fixes it, another key gives another, and it hides the key; an experiment's goes first", () => {
  const ours = samplingSecretOf({ tls: keyFile("ours") });
  expect(samplingSecretOf({ tls: keyFile("ours") })).toBe(ours);
  expect(samplingSecretOf({ tls: keyFile("theirs") })).not.toBe(ours);
  expect(ours).toMatch(/^[0-9a-f]{64}$/);
  expect(samplingSecretOf({ tls: keyFile("ours"), experiment: { samplingSecret: "named" } })).toBe("named");
});
