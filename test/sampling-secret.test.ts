/** The secret that seeds a party's column sampling, unless an experiment sets one. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { deriveSamplingSecret } from "../src/party/sampling-secret.ts";
import { scratchDirectory } from "./support/command.ts";

const folder = scratchDirectory();

function keyFile(content: string): { certificate: string; key: string } {
  const key = join(folder, `${content}.pem`);
  writeFileSync(key, content);
  return { certificate: "", key };
}

test("it is derived from TLS key and job by a one-way function; that of an experiment takes precedence", () => {
  const ours = deriveSamplingSecret({ tls: keyFile("ours") }, "march");
  expect(deriveSamplingSecret({ tls: keyFile("ours") }, "march")).toBe(ours);
  expect(deriveSamplingSecret({ tls: keyFile("ours") }, "april")).not.toBe(ours);
  expect(deriveSamplingSecret({ tls: keyFile("theirs") }, "march")).not.toBe(ours);
  expect(ours).toMatch(/^[0-9a-f]{64}$/);
  expect(deriveSamplingSecret({ tls: keyFile("ours"), experiment: { samplingSecret: "named" } }, "march")).toBe(
    "named",
  );
});
