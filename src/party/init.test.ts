import { X509Certificate } from "node:crypto";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { scratchDirectory } from "../../test/support/command.ts";
import { tandem } from "../../test/world/tandem-process.ts";
import { expectError } from "../../test/support/expect-error.ts";
import { readActiveConfig, readPassiveConfig } from "./config/config.ts";
import { initParty } from "./init.ts";

const root = scratchDirectory();
const modeOf = (path: string): number => statSync(path).mode & 0o777;

test.each(["active", "passive"] as const)(
  "%s: a secret key, a certificate, and a config that lacks nothing but the other's fingerprint",
  async (role) => {
    const directory = join(root, role);
    const made = await initParty({ role, name: 'Bank, "North" & Co', host: "10.0.0.2", port: 7443, directory });
    expect(modeOf(directory)).toBe(0o700);
    expect(modeOf(join(directory, "key.pem"))).toBe(0o600);
    const certificate = new X509Certificate(readFileSync(made.certificatePath));
    expect(certificate.fingerprint256.replaceAll(":", "").toLowerCase()).toBe(made.fingerprint);
    expect(certificate.ca).toBe(false);
    expect(certificate.subject).toContain("North");
    const text = readFileSync(made.configPath, "utf8");
    const read = role === "active" ? (path: string) => readActiveConfig(path, () => "j") : readPassiveConfig;
    await expectError(() => read(made.configPath), "FILE_FORMAT", /fingerprint/);
    writeFileSync(made.configPath, text.replace(/PASTE-[A-Z-]+/, "0".repeat(64)));
    expect((await read(made.configPath)).name).toBe('Bank, "North" & Co');
  },
);

test.each(["active", "passive"] as const)("%s: what stands there as a comment can be taken", async (role) => {
  const directory = join(root, `${role}-taken`);
  const { configPath } = await initParty({ role, name: "p", host: "h", port: 1, directory });
  const text = readFileSync(configPath, "utf8").replace(/PASTE-[A-Z-]+/, "0".repeat(64));
  writeFileSync(configPath, text.replace("# header: false", "header: false").replace("# classes: [", "classes: ["));
  if (role === "passive") expect((await readPassiveConfig(configPath)).data.header).toBe(false);
  else
    expect((await readActiveConfig(configPath, () => "j")).data).toMatchObject({
      header: false,
      classes: ["low", "mid", "high"],
    });
});

test("nothing is overwritten", async () => {
  const directory = join(root, "twice");
  await initParty({ role: "passive", name: "p", host: "h", port: 1, directory });
  const key = readFileSync(join(directory, "key.pem"), "utf8");
  await expectError(
    () => initParty({ role: "active", name: "a", host: "h", port: 1, directory }),
    "FILE_UNWRITABLE",
    /key\.pem exists already/,
  );
  expect(readFileSync(join(directory, "key.pem"), "utf8")).toBe(key);
});

test("the commands say what to do next, and what is wrong", async () => {
  const directory = join(root, "command");
  const made = await tandem("init", "passive", "--name", "retailer", "--out", directory);
  expect(made).toMatchObject({ exitCode: 0, stderr: "" });
  expect(made.stdout).toMatch(/fingerprint: {2}[0-9a-f]{64}[\s\S]*tandem party -c/);
  expect(made.stdout).toContain(
    "Next: send this party's name and fingerprint to the active party. Write that party's name and fingerprint,\n",
  );
  const printed = await tandem("fingerprint", join(directory, "certificate.pem"));
  expect(made.stdout).toContain(printed.stdout.trim());
  expect((await tandem("fingerprint", join(directory, "key.pem"))).stderr).toMatch(
    /not a certificate in PEM form \(FILE_FORMAT\)/,
  );
  const neither = await tandem("init", "both");
  expect(neither.stderr).toMatch(/init takes 'active', 'passive', 'crew', 'relay' or 'room'; got 'both' \(USAGE\)/);
});
