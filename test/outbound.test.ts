/**
 * Passive parties that only dial out: every command works over connections that they have opened, models are the same
 * byte for byte, and an unknown peer at the active party's port gets nothing.
 */
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { runAlignment } from "../src/party/active/run.ts";
import { bankAndShops, testWorlds } from "./support/test-worlds.ts";
import type { ActiveChanges, PassiveChanges, ProcessWorld } from "./world/processes.ts";
import { freePort } from "./world/tandem-process.ts";
import { tandemHere } from "./world/command-here.ts";

const host = "127.0.0.1";
const worlds = testWorlds();
let world: ProcessWorld;
let direct: readonly string[];
beforeAll(async () => {
  world = await worlds.found(bankAndShops(2));
  const twin = worlds.copy(world);
  await twin.startAll();
  await twin.train("spring");
  direct = twin.outputs("spring");
});

/** The bank listens on this port, and these shops dial it. */
function dialling(port: number, shops = world.shops): { passive: PassiveChanges; active: ActiveChanges } {
  const { name, fingerprint } = world.bank;
  return {
    passive: { listen: undefined, active: [{ name, fingerprint, host, port }] },
    active: {
      listen: { host, port },
      passives: world.shops.map((shop, i) => ({
        name: shop.name,
        fingerprint: shop.fingerprint,
        ...(shops.includes(shop) ? {} : { host, port: world.parties[i].port }),
      })),
    },
  };
}

test("train, align, predict and doctor work over connections that the passive parties open", async () => {
  const { passive, active } = dialling(await freePort());
  const shops = await world.startAll(passive);
  await world.train("spring", active);
  expect(world.outputs("spring")).toEqual(direct);
  expect((await shops[0].seen("dialled")).address).toMatch(/^127\.0\.0\.1:\d+$/);

  const config = await world.activeConfig("common", active);
  const { aligned } = await runAlignment(config, join(world.bank.folder, "common.csv"), () => {});
  expect(aligned.rows.length).toBeGreaterThan(100);

  const path = world.writeActive("spring", active);
  const [input, output] = [join(world.bank.folder, "data.csv"), join(world.bank.folder, "scores.csv")];
  const files = ["--input", input, "--output", output];
  const predicted = await tandemHere("predict", "-c", path, "--model", "spring", ...files, "--unknown", "skip");
  expect(predicted.exitCode, predicted.stderr).toBe(0);

  const doctor = await tandemHere("doctor", "-c", path, "--idle", "0");
  expect(doctor.stdout).toMatch(/shop0: TCP: shop0 has connected to 127\.0\.0\.1:\d+, where this party listens/);
  expect(doctor.stdout).toMatch(/shop1: bandwidth: /);
  expect(doctor.exitCode, doctor.stdout).toBe(0);
});

test("one passive party dials, and the other is dialled", async () => {
  const port = await freePort();
  const [first, second] = world.shops;
  await world.start(second);
  const { passive, active } = dialling(port, [first]);
  await world.start(first, passive);
  await world.train("spring-mixed", active);
  expect(world.outputs("spring-mixed").length).toBe(direct.length);
});
