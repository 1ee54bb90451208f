/**
 * Strangers at the door of a passive party: floods from the very address that its active party has. Whatever they do,
 * the active party gets its answer, keeps its connection, and the log stays short.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { hashDomain } from "../src/align/hash-to-curve.ts";
import { readIdentity } from "../src/party/identity.ts";
import { connectTls, type TlsPeer } from "../src/transport/tls-connect.ts";
import { scratchDirectory } from "./support/command.ts";
import { type Company, foundCompany, makePeople, type RunningParty, startParty } from "./support/companies.ts";

const root = scratchDirectory();
const people = makePeople(20, "door");
let bank: Company;
let shop: Company;
let stranger: Company;
beforeAll(async () => {
  bank = await foundCompany(root, "bank", people, [0], true);
  shop = await foundCompany(root, "shop", people, [1]);
  stranger = await foundCompany(root, "stranger", people, [2]);
});

/** Floods until the test ends; settles when so many connections have been made. */
async function flood(port: number, kind: string, count: number): Promise<void> {
  const files = ["certificate.pem", "key.pem"].map((name) => join(stranger.folder, name));
  const child = spawn(
    process.execPath,
    [join(import.meta.dirname, "support", "flooder.mjs"), String(port), kind, String(count), ...files],
    { stdio: ["pipe", "pipe", "inherit"] },
  );
  onTestFinished(async () => {
    child.kill();
    await once(child, "close");
  });
  await once(child.stdout, "data");
}

async function connected(port: number): Promise<TlsPeer> {
  const identity = await readIdentity({
    certificate: join(bank.folder, "certificate.pem"),
    key: join(bank.folder, "key.pem"),
  });
  const peer = connectTls("shop", identity, shop.fingerprint, { host: "127.0.0.1", port });
  onTestFinished(() => peer.close());
  return peer;
}

/** What `tandem align` begins with. */
function offer(peer: TlsPeer): Promise<{ passiveIdCount: number }> {
  return peer.alignment("door").begin({ hashDomain, normalisations: [], activeIdCount: 20 }, {});
}

function linesAboutStrangers({ events }: RunningParty): number {
  return events.filter(({ type }) => type === "turned-away").length;
}

describe.each(["silent", "half a hello", "trickle", "wrong certificate", "reconnect"])("a flood: %s", (kind) => {
  test.each([32, 1000])("of %d connections keeps nobody out who belongs there", async (count) => {
    const party = await startParty(shop, [bank], { output: { directory: `${kind} ${count}` } });
    const before = await connected(party.port);
    expect((await offer(before)).passiveIdCount).toBe(20);
    await flood(party.port, kind, count);
    for (let call = 0; call < 3; call++) expect((await offer(await connected(party.port))).passiveIdCount).toBe(20);
    // Whoever was inside before still is: its connection is never opened again.
    expect((await offer(before)).passiveIdCount).toBe(20);
    expect(linesAboutStrangers(party)).toBeLessThan(10);
  });
});

test("connections of the party itself that lead nowhere do not keep it out", async () => {
  const party = await startParty(shop, [bank], { output: { directory: "many" } });
  const peers: TlsPeer[] = [];
  for (let i = 0; i < 40; i++) {
    peers.push(await connected(party.port));
    expect((await offer(peers[i])).passiveIdCount).toBe(20);
  }
  await expect(offer(peers[0])).rejects.toThrow(/shop/);
});
