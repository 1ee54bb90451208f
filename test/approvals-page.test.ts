/** Runs the commands of docs/approvals.md, with the request's own name. The party runs in the test's process. */
import { spawnSync } from "node:child_process";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { approversIn } from "../src/cli/company/request-decisions.ts";
import { readPassiveConfig } from "../src/party/config/config.ts";
import { ProcessWorld } from "./world/processes.ts";
import { tandemHere } from "./world/command-here.ts";
import { makePeople } from "./world/people.ts";
import { RunningParty } from "./world/running-party.ts";
import type { ProcessEnd } from "./world/tandem-process.ts";
import { scratchDirectory } from "./support/command.ts";

const root = scratchDirectory();
let party: RunningParty;
afterAll(() => party.stop());

const page = readFileSync(new URL("../docs/approvals.md", import.meta.url), "utf8");
const blocks = [...page.matchAll(/```sh (bank|retailer)( background)?\n([\s\S]*?)```/g)].map(
  ([, , background, commands]) => ({ isBackground: background !== undefined, commands: commands.trim() }),
);

function edit(path: string, changes: readonly (readonly [string, string])[]): void {
  let text = readFileSync(path, "utf8");
  for (const [from, to] of changes) {
    expect(text).toContain(from);
    text = text.replace(from, to);
  }
  writeFileSync(path, text);
}

test("the walk-through, verbatim", async () => {
  const people = makePeople(240, "approvals page");
  const { bank, shop } = await ProcessWorld.found(root, {
    bank: { people, columns: [0, 1] },
    retailer: { people, columns: [2, 3] },
  });
  const passive = join(shop.folder, "passive.yaml");
  const active = join(bank.folder, "active.yaml");
  edit(passive, [
    ["name: active", "name: bank"],
    ["PASTE-THE-ACTIVE-PARTYS-FINGERPRINT", bank.fingerprint],
    ["min_key_bits: 2048", "insecure_min_key_bits: 256"],
  ]);
  edit(active, [
    ["name: passive", "name: retailer"],
    ["PASTE-THE-PASSIVE-PARTYS-FINGERPRINT", shop.fingerprint],
    ["key_bits: 2048", "insecure_key_bits: 256"],
    ["label: label", "label: outcome"],
    ['# positive: "yes"', "positive: defaulter"],
    ["num_round: 50", "num_round: 2"],
    ["# job: spring-model", "job: spring-model"],
  ]);
  let request = "";
  let training: Promise<ProcessEnd> | null = null;
  const outputs: string[] = [];
  expect(blocks.length).toBeGreaterThan(7);
  for (const { isBackground, commands } of blocks) {
    if (commands.startsWith("tandem party")) {
      party = await RunningParty.start(await readPassiveConfig(passive));
      edit(active, [["port: 0", `port: ${party.port}`]]);
    } else if (commands.startsWith("tandem ")) {
      const words = commands.replaceAll("3f9a2c1b", request).match(/"[^"]*"|\S+/g) ?? [];
      const args = words.slice(1).map((word) => word.replaceAll('"', ""));
      const ended = tandemHere(...args.map((arg) => (arg.endsWith(".yaml") ? join(root, arg) : arg)));
      if (isBackground) {
        training = ended;
        ({ request } = await party.seen("request-waits"));
        continue;
      }
      const { exitCode, stdout, stderr } = await ended;
      expect([exitCode, stderr], commands).toEqual([0, ""]);
      outputs.push(stdout);
      if (args[0] === "approve") expect(await training).toMatchObject({ exitCode: 0 });
    } else expect(spawnSync("sh", ["-ec", commands], { cwd: root }).status, commands).toBe(0);
  }
  const [shown, approved, denied, log] = outputs;
  expect(shown).toContain("purpose, in bank's words: credit limits of new customers");
  expect(approved).toMatch(/^Approved request \w+ of bank: job spring-model/);
  expect(denied).toMatch(/^Denied request/);
  expect(log.trim().split("\n")).toHaveLength(2);
  const approvers = join(shop.folder, "approvers");
  expect(statSync(approvers).mode & 0o077).toBe(0);
  expect([...(await approversIn(approvers, false)).keys()]).toEqual(["alice"]);
});
