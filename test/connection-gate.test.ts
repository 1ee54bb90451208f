/**
 * Floods of connections from unknown peers at the active party's own address: the active party still gets answers and
 * keeps its connection, and the log stays short.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, mkdirSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { hashDomain } from "../src/psi/hash-to-curve.ts";
import { startDashboard } from "../src/dashboard/server.ts";
import { listenHttp } from "../src/scoring/http/http-server.ts";
import { connectTls, type TlsPeer } from "../src/transport/tls-connect.ts";
import { partOf } from "./support/campaign.ts";
import { scratchDirectory } from "./support/command.ts";
import { identityOf } from "./support/raw-client.ts";
import { testWorlds } from "./support/test-worlds.ts";
import { makePeople } from "./world/people.ts";
import { type Company, foundCompany, type ProcessWorld } from "./world/processes.ts";
import type { RunningParty } from "./world/running-party.ts";

const root = scratchDirectory();
const worlds = testWorlds();
const people = makePeople(20, "gate");
let world: ProcessWorld;
let outsider: Company;
beforeAll(async () => {
  world = await worlds.found({ bank: { people, columns: [0] }, shop: { people, columns: [1] } });
  outsider = await foundCompany(world.root, "outsider", { people, columns: [2] });
});

/** Floods until the test ends; resolves when `count` connections have been made. */
async function flood(port: number, kind: string, count: number): Promise<void> {
  const files = ["certificate.pem", "key.pem"].map((name) => join(outsider.folder, name));
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

function connected(port: number): TlsPeer {
  const peer = connectTls("shop", identityOf(world.bank), [world.shop.fingerprint], { host: "127.0.0.1", port });
  onTestFinished(() => peer.close());
  return peer;
}

/** What `tandem align` begins with. */
function offer(peer: TlsPeer): Promise<{ passiveIdCount: number }> {
  return peer.alignment("gate").begin({ hashDomain, normalisations: [], activeIdCount: 20 }, {});
}

function rejectionLines({ events }: RunningParty): number {
  return events.filter(({ type }) => type === "turned-away").length;
}

const floods = ["silent", "half a hello", "wrong certificate", "trickle", "reconnect"];
describe.each(floods)("a flood: %s", (kind) => {
  test.each(partOf([32, 1000], floods.indexOf(kind), 2))(
    "of %d connections does not keep a pinned party out",
    async (count) => {
      const party = await world.start(world.shop, { output: { directory: `${kind} ${count}` } });
      const before = connected(party.port);
      expect((await offer(before)).passiveIdCount).toBe(20);
      await flood(party.port, kind, count);
      for (let call = 0; call < 3; call++) expect((await offer(connected(party.port))).passiveIdCount).toBe(20);
      // The connection from before the flood stays open: it is never opened again.
      expect((await offer(before)).passiveIdCount).toBe(20);
      expect(rejectionLines(party)).toBeLessThan(10);
    },
  );
});

test("idle connections of the pinned party itself do not keep it out", async () => {
  const party = await world.start(world.shop, { output: { directory: "many" } });
  const peers: TlsPeer[] = [];
  for (let i = 0; i < 40; i++) {
    peers.push(connected(party.port));
    expect((await offer(peers[i])).passiveIdCount).toBe(20);
  }
  await expect(offer(peers[0])).rejects.toThrow(/shop/);
});

const httpFloods = ["silent", "half a request", "half a body", "reconnect"];
describe.each(httpFloods)("HTTP, a flood: %s", (kind) => {
  test.each(partOf([null, "s3cret-s3cret-s3cret"], httpFloods.indexOf(kind), 2))(
    "the scoring server still answers (token %s)",
    async (token) => {
      const server = await listenHttp(
        [{ method: "POST", path: "/predict", handle: (body) => ({ status: 200, body }) }],
        {
          host: "127.0.0.1",
          port: 0,
          token,
          bodyBytesMax: 1000,
          stopGraceMs: 100,
          onAnswer: () => {},
          onBug: () => {},
        },
      );
      onTestFinished(() => server.close());
      await flood(server.port, kind, 1500);
      for (let call = 0; call < 3; call++) {
        const answer = await fetch(`http://127.0.0.1:${server.port}/predict`, {
          method: "POST",
          headers: { "content-type": "application/json", authorization: `Bearer ${token}`, connection: "close" },
          body: JSON.stringify({ call }),
        });
        expect(await answer.json()).toEqual({ call });
      }
    },
  );

  // The same server as for scores: by default half of the floods.
  test.runIf(partOf(httpFloods, 1, 2).includes(kind))(
    "the dashboard opens, and an open page continues to receive events",
    async () => {
      const dashboard = await startDashboard({
        viewers: [{ name: "shop", directory: root, job: null }],
        host: "127.0.0.1",
        port: 0,
      });
      onTestFinished(() => dashboard.close());
      const { origin, port } = new URL(dashboard.url);
      const enter = async (): Promise<string> =>
        (await fetch(dashboard.url, { headers: { connection: "close" } })).headers.get("set-cookie") ?? "";
      const cookie = (await enter()).split(";")[0];
      const leaving = new AbortController();
      onTestFinished(() => leaving.abort());
      const page = await fetch(`${origin}/api/stream?viewer=shop&job=live`, {
        headers: { cookie },
        signal: leaving.signal,
      });
      const reader = (page.body as ReadableStream<Uint8Array>).getReader();
      await reader.read();
      await flood(Number(port), kind, 1500);
      expect(await enter()).toContain("HttpOnly");
      const folder = join(root, "live");
      mkdirSync(folder, { recursive: true });
      appendFileSync(join(folder, "events.jsonl"), `{"kind":"${kind}"}\n`);
      let received = "";
      while (!received.includes(kind)) received += Buffer.from((await reader.read()).value ?? []).toString();
      expect(received).toContain(`data: e{"kind":"${kind}"}`);
    },
  );
});

test("an unknown peer's incomplete request is cut off in less than half a minute", async () => {
  const server = await listenHttp([], {
    host: "127.0.0.1",
    port: 0,
    token: null,
    bodyBytesMax: 1000,
    stopGraceMs: 100,
    onAnswer: () => {},
    onBug: () => {},
  });
  onTestFinished(() => server.close());
  const socket = connect(server.port, "127.0.0.1");
  socket.write("GET / HTTP/1.1\r\n");
  const received: Buffer[] = [];
  socket.on("data", (data) => received.push(data));
  await once(socket, "close");
  expect(Buffer.concat(received).toString()).toMatch(/^HTTP\/1\.1 408 /);
});
