/**
 * What the operator of a relay, and a thief of a token, can do to a job: end connections, and no more. Each job ends
 * with the model of an undisturbed one, byte for byte, or never begins.
 */
import { join } from "node:path";
import { createServer as createTlsServer } from "node:tls";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import { createWebSocketStream, type WebSocket } from "ws";
import { type ActiveWorld, realWorld } from "../src/party/active/world.ts";
import { createSelfSigned, type Identity } from "../src/transport/certificates.ts";
import { certificateFingerprint } from "../src/transport/pinned-certificate.ts";
import { connectTls } from "../src/transport/tls-connect.ts";
import { listenTls } from "../src/transport/tls-listen.ts";
import { asSocket } from "../src/transport/pipes/as-socket.ts";
import { openAtRelay } from "../src/transport/pipes/relay-pipe.ts";
import { scratchDirectory } from "./support/command.ts";
import { expectError } from "./support/expect-error.ts";
import { identityOf } from "./support/raw-client.ts";
import { bankAndShops, testWorlds } from "./support/test-worlds.ts";
import { type Deviation, HostileRelay } from "./world/hostile/hostile-relay.ts";
import type { ActiveChanges, PassiveChanges, ProcessWorld } from "./world/processes.ts";
import { TestRelay } from "./world/relay.ts";

const worlds = testWorlds();
const rooms = ["first", "second"];
let origin: ProcessWorld;
let direct: readonly string[];
let relay: TestRelay;
let outsider: Identity;
beforeAll(async () => {
  origin = await worlds.found(bankAndShops(2));
  const twin = worlds.copy(origin);
  await twin.start(twin.shop);
  await twin.train("spring", {}, { passives: [twin.shop] });
  direct = outputs(twin);
  relay = await TestRelay.found(join(scratchDirectory(), "relay"), rooms);
  outsider = await createSelfSigned("shop0", 1);
});

function outputs(world: ProcessWorld): readonly string[] {
  return [world.bank, world.shop].map((company) => world.read(company, "spring", "share.json"));
}

/** Retries are those of a job, without the waits. */
const hasty: ActiveWorld = { ...realWorld, sleep: (ms) => realWorld.sleep(ms / 20) };

function ofShop(world: ProcessWorld, room = "first"): PassiveChanges {
  const { name, fingerprint } = world.bank;
  return { listen: undefined, active: [{ name, fingerprint, relay: relay.fields("passive", room) }] };
}

function ofBank({ shop }: ProcessWorld, room = "first"): ActiveChanges {
  const { name, fingerprint } = shop;
  return { passives: [{ name, fingerprint, relay: relay.fields("active", room) }], patience_seconds: 60 };
}

/** A world of its own, whose parties use this relay. */
async function disturbed(deviationOf?: (pair: number) => Deviation) {
  const hostile = await HostileRelay.start(relay.folder, deviationOf);
  onTestFinished(() => hostile.close());
  relay.port = hostile.port;
  const world = worlds.copy(origin);
  const shop = await world.start(world.shop, ofShop(world));
  onTestFinished(() => shop.stop());
  return { hostile, world, shop };
}

/** The n-th message of the first pairs towards an end is passed on as others. */
function atMessage(at: number, to: "active" | "passive", changed: (message: Buffer) => readonly Buffer[]) {
  return (pair: number): Deviation => ({
    // The first pairs are those of the checks and of the job itself.
    changed: (message, end, index) => (pair < 3 && end === to && index === at ? changed(message) : null),
  });
}

function flipped(message: Buffer): readonly Buffer[] {
  const other = Buffer.from(message);
  other[other.length >> 1] ^= 1;
  return [other];
}

test.each([
  ["flips a bit towards the passive party", atMessage(9, "passive", flipped)],
  ["flips a bit towards the active party", atMessage(9, "active", flipped)],
  ["drops a message", atMessage(8, "passive", () => [])],
  ["repeats a message", atMessage(8, "active", (message) => [message, message])],
  ["sends a message in parts, the last part first", atMessage(7, "passive", inParts)],
  ["adds bytes of its own", atMessage(6, "active", (message) => [message, Buffer.alloc(100, 23)])],
])("a relay that %s ends connections, and the model is the same", { timeout: 120_000 }, async (_what, deviationOf) => {
  const { hostile, world } = await disturbed(deviationOf);
  await world.train("spring", ofBank(world), { surroundings: { ...hasty, connect: pinging } });
  expect(outputs(world)).toEqual(direct);
  expect(hostile.pairCount, "the job needed more connections than an undisturbed one").toBeGreaterThan(2);
});

function inParts(message: Buffer): readonly Buffer[] {
  const middle = message.length >> 1;
  return [message.subarray(middle), message.subarray(0, middle)];
}

/** As in a job, but a connection on which nothing comes back is given up soon. */
const pinging: ActiveWorld["connect"] = async ({ passives }, watchOf) =>
  passives.map(({ name, channel, fingerprint }) =>
    connectTls(name, identityOf(origin.bank), fingerprint, channel, {
      pingIntervalMs: 500,
      pingTimeoutMs: 1000,
      watch: watchOf(name),
    }),
  );

test("the bytes that a relay sees name no party, no certificate and no id", async () => {
  const { hostile, world } = await disturbed();
  await world.train("spring", ofBank(world), { surroundings: hasty });
  expect(outputs(world)).toEqual(direct);
  const seen = Buffer.concat(hostile.seen);
  expect(seen.length).toBeGreaterThan(40_000);
  const { certificate } = identityOf(world.shop);
  const der = Buffer.from(certificate.replaceAll(/-----[^-]+-----|\s/g, ""), "base64");
  const ids = world.read(world.bank, "spring", "predictions.csv").split("\n")[1].split(",")[0];
  for (const secret of ["bank", "shop0", "tandem", "127.0.0.1", ids, der.subarray(200, 240)])
    expect(seen.includes(secret), String(secret)).toBe(false);
});

test("a relay that joins the bank to another room's party is refused by the bank", async () => {
  const { hostile, world } = await disturbed(() => ({
    roomOf: (room, end) => (end === "active" ? "second" : room),
  }));
  const other = await world.start(world.shops[1], { ...ofShop(world, "second") });
  await expectError(
    () => world.train("spring", { ...ofBank(world), patience_seconds: 1 }, { surroundings: hasty }),
    "PARTY_LOST",
    /the relay joined this party to another one than shop0: its certificate is refused: it is not the pinned one/,
  );
  expect(hostile.pairCount).toBeGreaterThan(0);
  expect(other.events.map(({ type }) => type).filter((type) => type.startsWith("job"))).toEqual([]);
});

test("a relay that presents a certificate of its own is refused by the bank, and gets no byte of a job", async () => {
  let decrypted = 0;
  const server = createTlsServer({ cert: outsider.certificate, key: outsider.key, ALPNProtocols: ["h2"] });
  server
    .on("tlsClientError", () => {})
    .on("secureConnection", (secure) => {
      secure.on("error", () => {}).on("data", (data: Buffer) => (decrypted += data.length));
    });
  const taken = (active: WebSocket): void => {
    const stream = createWebSocketStream(active).on("error", () => {});
    server.emit("connection", stream);
  };
  const { world } = await disturbed(() => ({ taken }));
  await expectError(
    () => world.train("spring", { ...ofBank(world), patience_seconds: 1 }, { surroundings: hasty }),
    "PARTY_LOST",
    new RegExp(`its fingerprint is ${certificateFingerprint(outsider.certificate)}`),
  );
  expect(decrypted).toBe(0);
});

test("a thief of the active end's token is turned away by the shop, and does not stop the job", async () => {
  const { world, shop } = await disturbed();
  const thief = connectTls("shop0", outsider, [world.shop.fingerprint], { relay: relay.access("active", "first") });
  onTestFinished(() => thief.close());
  const asked = thief.alignment("stolen").begin({ hashDomain: "x", normalisations: [], activeIdCount: 1 }, {});
  await expectError(() => asked, "CERTIFICATE", /does not know this party's certificate/);
  expect((await shop.seen("turned-away")).why).toContain(certificateFingerprint(outsider.certificate));
  await world.train("spring", ofBank(world), { surroundings: hasty });
  expect(outputs(world)).toEqual(direct);
});

test("a thief of the passive end's token delays the bank, and the job ends when the thief is gone", async () => {
  relay.port = 0;
  await relay.start({ absentMs: 500 });
  onTestFinished(() => relay.stop());
  const world = worlds.copy(origin);
  const thief = await listenTls({ routes: () => {} }, outsider, [], null);
  onTestFinished(() => thief.close());
  const stolen = await openAtRelay(relay.access("passive", "first"));
  void stolen.paired.then(async () => thief.servePipe(await asSocket(stolen), "stolen"));
  let isStarted = false;
  await world.train("spring", ofBank(world), {
    surroundings: hasty,
    onEvent: (event) => {
      if (event.type === "waiting" && !isStarted) {
        isStarted = true;
        void world.start(world.shop, ofShop(world));
      }
    },
  });
  expect(outputs(world)).toEqual(direct);
  expect(isStarted).toBe(true);
});
