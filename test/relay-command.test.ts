/** The commands of docs/relay.md as an operator runs them: files for a relay, a process that runs and stops, a room. */
import { appendFileSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { packagePath } from "../src/base/package-root.ts";
import { readRelayConfig } from "../src/party/config/relay-config.ts";
import { scratchDirectory } from "./support/command.ts";
import { tandemHere } from "./world/command-here.ts";
import { TandemProcess } from "./world/tandem-process.ts";

const page = readFileSync(packagePath("docs", "relay.md"), "utf8");

/** The words of a command on the page, with this folder in place of `relay`. */
function words(start: string, folder: string): string[] {
  const line = new RegExp(`${start}[^\\n\`]*`).exec(page)?.[0] ?? "";
  return line
    .split(" ")
    .slice(1)
    .map((word) => word.replace(/^relay(?=$|\/)/, folder).replace(/^443$/, "0"));
}

test("a relay, and another room of it", async () => {
  const folder = join(scratchDirectory(), "relay");
  const made = await tandemHere("init", "relay", ...words("tandem init relay", folder).slice(2));
  expect(made.exitCode, made.stderr).toBe(0);
  const secrets = readdirSync(folder).filter((name) => /\.token$|^key/.test(name));
  expect(secrets.toSorted()).toEqual(["bank-retailer.active.token", "bank-retailer.passive.token", "key.pem"]);
  for (const name of secrets) expect(statSync(join(folder, name)).mode & 0o077, name).toBe(0);

  const room = await tandemHere("init", "room", ...words("tandem init room", folder).slice(2));
  const lines = /( {2}- name: other[\s\S]*)$/.exec(room.stdout)?.[1] ?? "";
  const config = join(folder, "relay.yaml");
  appendFileSync(config, `\nrooms_of_another:\n`);
  await expect(readRelayConfig(config)).rejects.toThrow(/unknown field 'rooms_of_another'/);
  expect(lines.match(/[0-9a-f]{64}/g)).toHaveLength(2);
  const again = await tandemHere("init", "room", ...words("tandem init room", folder).slice(2));
  expect(again.stderr).toMatch(/exists already. Choose another room/);
});

test("it runs until SIGTERM, and its log has no token", async () => {
  const folder = join(scratchDirectory(), "running");
  await tandemHere("init", "relay", ...words("tandem init relay", folder).slice(2));
  const running = new TandemProcess(["relay", "-c", join(folder, "relay.yaml")]);
  onTestFinished(async () => void (await running.stop("SIGKILL")));
  await running.errorMatches(/"event":"listening"/);
  const { exitCode, stderr } = await running.stop();
  expect(exitCode).toBe(0);
  expect(stderr).toMatch(/"event":"stopping".*\n.*"event":"stopped"/);
  for (const end of ["active", "passive"]) {
    const token = readFileSync(join(folder, `bank-retailer.${end}.token`), "utf8").trim();
    expect(stderr).not.toContain(token);
    expect(readFileSync(join(folder, "relay.yaml"), "utf8")).not.toContain(token);
  }
});
