import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { scratchDirectory } from "../../../test/support/command.ts";
import type { Emit, PartyEvent } from "../../record/events.ts";
import { readPassiveConfig } from "../config/config.ts";
import { initParty } from "../init.ts";
import { runPassive } from "./run.ts";

test("events of a crew are written to the job's record, and emitted", async () => {
  const folder = scratchDirectory();
  const path = join(folder, "passive.yaml");
  await initParty({ role: "passive", name: "shop", host: "127.0.0.1", port: 1, directory: folder });
  const text = readFileSync(path, "utf8")
    .replace(/PASTE-[\w-]+/, "ab".repeat(32))
    .replace("port: 1\n", "port: 0\n");
  writeFileSync(path, text);
  writeFileSync(join(folder, "data.csv"), "id,a\n1,2\n2,3\n");
  const config = await readPassiveConfig(path);
  const stop = new AbortController();
  const events: PartyEvent[] = [];
  let tell: Emit = () => {};
  const running = runPassive(config, (event) => events.push(event), {
    stop: stop.signal,
    onRecords: (e) => (tell = e),
  });
  await expect.poll(() => events.some(({ type }) => type === "listening")).toBe(true);
  const moved: PartyEvent = { type: "block-moved", party: "shop", block: 1, moves: 1, worker: "host-1" };
  tell({ type: "resumed", party: "shop", job: "spring", trees: 0, treeCount: 1 });
  tell(moved);
  stop.abort();
  await running;
  const record = readFileSync(join(config.output.directory, "spring", "events.jsonl"), "utf8")
    .trim()
    .split("\n");
  expect(JSON.parse(record[1])).toMatchObject(moved);
  expect(events).toContainEqual(moved);
});
