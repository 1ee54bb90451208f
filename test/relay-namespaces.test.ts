/**
 * Real processes in network namespaces: a bank and a retailer that see a third network only, where a relay and squid
 * run. The namespaces are the test's own, and no other network is addressed. Needs root, iproute2 and squid.
 */
import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { initRelay } from "../src/party/relay-files/init-relay.ts";
import { isCampaign } from "./support/campaign.ts";
import { scratchDirectory } from "./support/command.ts";
import { bankAndShops, testWorlds } from "./support/test-worlds.ts";
import type { ActiveChanges, PassiveChanges, ProcessWorld } from "./world/processes.ts";
import { TandemProcess, until } from "./world/tandem-process.ts";

const mine = `td${process.pid}`;
/** The middle is in both networks, and does not forward between them. */
const hosts = {
  bank: { space: `${mine}b`, address: "10.78.1.2" },
  shop: { space: `${mine}s`, address: "10.78.2.2" },
  middle: { space: `${mine}m`, address: "" },
};
const middle = { bank: "10.78.1.1", shop: "10.78.2.1" };
const squid = "/usr/sbin/squid";
const room = "bank-shop";
const ports = { relay: 8443, proxy: 3128, direct: 7443 };

const missing = ((): string | null => {
  if (!isCampaign) return "it runs with TANDEM_CAMPAIGN=1";
  if (process.getuid?.() !== 0) return "it needs root";
  if (spawnSync("ip", ["-V"]).status !== 0) return "it needs iproute2";
  if (spawnSync("ip", ["netns", "add", `${mine}x`]).status !== 0) return "this machine has no network namespaces";
  spawnSync("ip", ["netns", "delete", `${mine}x`]);
  return null;
})();
if (missing !== null) console.log(`parties in network namespaces: skipped, ${missing}`);

function ip(...words: string[]): void {
  const { status, stderr } = spawnSync("ip", words, { encoding: "utf8" });
  if (status !== 0) throw new Error(`ip ${words.join(" ")}: ${stderr}`);
}

const inside = (host: keyof typeof hosts): string[] => ["ip", "netns", "exec", hosts[host].space];
const children: (TandemProcess | ChildProcess)[] = [];
const worlds = testWorlds();
let origin: ProcessWorld;
let direct: readonly string[];
let relay: { folder: string; config: string; fingerprint: string };

describe.skipIf(missing !== null)("parties in network namespaces", { timeout: 300_000 }, () => {
  beforeAll(async () => {
    for (const { space } of Object.values(hosts)) {
      ip("netns", "add", space);
      ip("-n", space, "link", "set", "lo", "up");
    }
    for (const side of ["bank", "shop"] as const) {
      const [near, far] = [`${mine}${side[0]}0`, `${mine}${side[0]}1`];
      ip("link", "add", near, "type", "veth", "peer", "name", far);
      for (const [name, space, address] of [
        [near, hosts[side].space, hosts[side].address],
        [far, hosts.middle.space, middle[side]],
      ]) {
        ip("link", "set", name, "netns", space);
        ip("-n", space, "addr", "add", `${address}/24`, "dev", name);
        ip("-n", space, "link", "set", name, "up");
      }
    }
    origin = await worlds.found(bankAndShops(1));
    const twin = worlds.copy(origin);
    await twin.startAll();
    await twin.train("spring");
    direct = twin.outputs("spring");
    const folder = join(scratchDirectory(), "relay");
    const made = await initRelay({ host: "0.0.0.0", port: ports.relay, room, directory: folder });
    relay = { folder, config: made.configPath, fingerprint: made.fingerprint };
  }, 120_000);
  afterAll(async () => {
    for (const child of children) {
      if (child instanceof TandemProcess) await child.stop("SIGKILL");
      else child.kill("SIGKILL");
    }
    for (const { space } of Object.values(hosts)) spawnSync("ip", ["netns", "delete", space]);
  });

  function started(host: keyof typeof hosts, env: Record<string, string>, ...args: string[]): TandemProcess {
    const child = new TandemProcess(args, { through: inside(host), env });
    children.push(child);
    return child;
  }

  async function startedRelay(): Promise<TandemProcess> {
    const running = started("middle", {}, "relay", "-c", relay.config);
    await running.errorMatches(/"event":"listening"/);
    return running;
  }

  function relayFields(side: "bank" | "shop") {
    const end = side === "bank" ? "active" : "passive";
    return {
      url: `wss://${middle[side]}:${ports.relay}`,
      room,
      fingerprint: relay.fingerprint,
      token_file: join(relay.folder, `${room}.${end}.token`),
    };
  }

  /** Trains between two processes in their namespaces, with a kill in the middle. */
  async function trained(
    active: (world: ProcessWorld) => ActiveChanges,
    passive: (world: ProcessWorld) => PassiveChanges,
    { env = {}, midway }: { env?: Record<string, string>; midway?: () => Promise<unknown> } = {},
  ): Promise<void> {
    const world = worlds.copy(origin);
    const party = started("shop", env, "party", "-c", world.writePassive(world.shop, passive(world)));
    await party.errorMatches(/"event":"dialled"/);
    const sockets = spawnSync(inside("shop")[0], [...inside("shop").slice(1), "ss", "-Hltn"], { encoding: "utf8" });
    expect(
      sockets.stdout
        .split("\n")
        .filter((line) => !line.includes("127.0.0.1"))
        .join(""),
      "it only dials",
    ).toBe("");
    const experiment = join(world.bank.folder, "experiment.json");
    writeFileSync(experiment, JSON.stringify({ samplingSecret: "columns of bank" }));
    const config = world.writeActive("spring", active(world));
    const bank = started("bank", env, "train", "-c", config, "--experiment", experiment);
    if (midway !== undefined) {
      await bank.errorMatches(/"event":"tree"|tree 1|"event":"joined"|"event":"aligned"/);
      await midway();
    }
    const { exitCode, stderr } = await bank.finished;
    expect(exitCode, stderr.slice(-3000)).toBe(0);
    expect(world.outputs("spring")).toEqual(direct);
    await party.stop();
  }

  const pinned = ({ bank }: ProcessWorld) => ({ name: bank.name, fingerprint: bank.fingerprint });
  const shopOf = ({ shop }: ProcessWorld) => ({ name: shop.name, fingerprint: shop.fingerprint });

  test("both dial a relay, and it is killed in the middle", async () => {
    let running = await startedRelay();
    await trained(
      (world) => ({ passives: [{ ...shopOf(world), relay: relayFields("bank") }], training: { num_round: 2 } }),
      (world) => ({ listen: undefined, active: [{ ...pinned(world), relay: relayFields("shop") }] }),
      {
        midway: async () => {
          await running.stop("SIGKILL");
          running = await startedRelay();
        },
      },
    );
    await running.stop();
    expect(running.child.exitCode).toBe(0);
  });

  test.skipIf(!existsSync(squid))("both reach the relay through squid only", async () => {
    // squid runs as a user of its own, who must reach this folder.
    const folder = mkdtempSync(join(tmpdir(), "tandem-squid-"));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    chmodSync(folder, 0o777);
    const config = join(folder, "squid.conf");
    writeFileSync(
      config,
      [
        `http_port ${ports.proxy}`,
        `acl relay port ${ports.relay}`,
        "acl CONNECT method CONNECT",
        "http_access allow CONNECT relay",
        "http_access deny all",
        `pid_filename ${join(folder, "squid.pid")}`,
        `access_log stdio:${join(folder, "access.log")}`,
        `cache_log ${join(folder, "cache.log")}`,
        "shutdown_lifetime 1 seconds",
        "",
      ].join("\n"),
    );
    const [program, ...args] = [...inside("middle"), squid, "-N", "-f", config];
    children.push(spawn(program, args, { stdio: "ignore" }));
    const running = await startedRelay();
    await until("squid listens", () => {
      const { stdout } = spawnSync("ip", ["netns", "exec", hosts.middle.space, "ss", "-Hltn"], { encoding: "utf8" });
      return stdout.includes(`:${ports.proxy}`);
    });
    const proxied = (side: "bank" | "shop") => ({
      relay: relayFields(side),
      proxy: `http://${middle[side]}:${ports.proxy}`,
    });
    await trained(
      (world) => ({ passives: [{ ...shopOf(world), ...proxied("bank") }] }),
      (world) => ({ listen: undefined, active: [{ ...pinned(world), ...proxied("shop") }] }),
    );
    await running.stop();
    const log = readFileSync(join(folder, "access.log"), "utf8");
    for (const address of [hosts.bank.address, hosts.shop.address])
      expect(log).toMatch(new RegExp(`${address} .*CONNECT`));
  });
});
