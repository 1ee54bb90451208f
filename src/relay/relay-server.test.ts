/** A relay alone: who gets in, what passes, and what a holder of a token can make it hold. */
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { request } from "node:https";
import { type AddressInfo, connect as connectPlain, createServer } from "node:net";
import { join } from "node:path";
import { connect as connectTls } from "node:tls";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import { WebSocket } from "ws";
import { scratchDirectory } from "../../test/support/command.ts";
import { TestRelay } from "../../test/world/relay.ts";
import { StepError, troubleWords } from "../transport/connection-trouble.ts";
import { openAtRelay, openThroughRelay, type RelayAccess } from "../transport/pipes/relay-pipe.ts";
import { type RelayEnd, relayProtocol, roomPath } from "../transport/pipes/relay-terms.ts";
import type { WebSocketPipe } from "../transport/pipes/web-socket-pipe.ts";
import { RelayMetrics } from "./relay-metrics.ts";
import type { RelayLimits } from "./relay-options.ts";
import type { RunningRelay } from "./relay-server.ts";

let founded: TestRelay;
beforeAll(async () => {
  founded = await TestRelay.found(join(scratchDirectory(), "relay"), ["room", "other"]);
});

async function running(limits: Partial<RelayLimits> = {}): Promise<RunningRelay> {
  founded.port = 0;
  founded.events.length = 0;
  const relay = await founded.start(limits);
  onTestFinished(() => founded.stop());
  return relay;
}

async function waiting(end: RelayEnd = "passive", room?: string): Promise<WebSocketPipe> {
  return closing(await openAtRelay(founded.access(end, room)));
}

function closing(pipe: WebSocketPipe): WebSocketPipe {
  pipe.on("error", () => {});
  onTestFinished(() => void pipe.destroy());
  return pipe;
}

async function joined(room?: string): Promise<{ active: WebSocketPipe; passive: WebSocketPipe }> {
  const passive = await waiting("passive", room);
  const active = await waiting("active", room);
  expect(await active.paired).toBe(true);
  expect(await passive.paired).toBe(true);
  return { active, passive };
}

async function refusalOf(access: RelayAccess): Promise<string> {
  const error = await openThroughRelay(access, "shop", { timeoutMs: 2000 }).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(StepError);
  return troubleWords((error as StepError).trouble, "shop", "bank");
}

test("bytes pass in both directions, in any sizes, and a close ends the other end", async () => {
  await running();
  const { active, passive } = await joined();
  for (const [from, to] of [
    [active, passive],
    [passive, active],
  ]) {
    const sent = randomBytes(3_000_000);
    const got: Buffer[] = [];
    let size = 0;
    const all = new Promise<void>((resolve) =>
      to.on("data", (data: Buffer) => {
        got.push(data);
        if ((size += data.length) === sent.length) resolve();
      }),
    );
    from.write(sent.subarray(0, 1));
    from.write(sent.subarray(1)); // more than a message may have
    await all;
    expect(Buffer.concat(got).equals(sent)).toBe(true);
  }
  active.destroy();
  await once(passive, "close");
});

test("the newest connection that waits is joined first", async () => {
  await running();
  await waiting();
  const newest = await waiting();
  await waiting("active");
  expect(await newest.paired).toBe(true);
});

test("each wrong situation has its own line, and says who must act", async () => {
  await running({ absentMs: 100 });
  const access = founded.access("active");
  const file = join(founded.folder, "another.token");
  writeFileSync(file, "a-token-that-was-never-made\n", { mode: 0o600 });
  expect(await refusalOf(access)).toMatch(
    /relay .* is there, and shop is not: .*room room\. shop must start its party/,
  );
  expect(await refusalOf({ ...access, tokenFile: file })).toMatch(/no room room, or another token.*bank must compare/);
  const unknown = await refusalOf({ ...access, room: "nowhere" });
  expect(unknown.replace("nowhere", "room")).toBe(await refusalOf({ ...access, tokenFile: file }));
  const { tokenFile } = founded.access("passive");
  expect(await refusalOf({ ...access, tokenFile })).toMatch(
    /not that of the active end of room room, but of the other/,
  );
  expect(await refusalOf({ ...access, tokenFile: "/nowhere/token" })).toMatch(/token cannot be read\. bank must store/);
  expect(await refusalOf({ ...access, fingerprints: ["00".repeat(32)] })).toMatch(
    /shows another certificate than the pinned one of the relay.*bank and shop must compare relay\.fingerprint/,
  );
  expect(await refusalOf({ ...access, fingerprints: [] })).toMatch(
    /certificate of the relay .* is not trusted.*bank must pin it by relay\.fingerprint/,
  );
  expect(await refusalOf({ ...access, host: "no-such-name.invalid" })).toMatch(
    /no-such-name\.invalid .*unknown.*bank must/,
  );
  await founded.stop();
  expect(await refusalOf(access)).toMatch(
    /nothing listens at .*where the relay should\. the relay's operator must start/i,
  );
});

test("a server that is no relay is named as one", async () => {
  const plain = createServer((socket) => socket.on("error", () => {}).end("HTTP/1.1 400 Bad Request\r\n\r\n"));
  plain.listen(0, "127.0.0.1");
  onTestFinished(() => void plain.close());
  await once(plain, "listening");
  const { port } = plain.address() as AddressInfo;
  expect(await refusalOf({ ...founded.access("active"), port })).toMatch(/is not a relay: it does not speak TLS/);
});

test("an end has a limit of connections and of new ones in a minute, and other rooms have theirs", async () => {
  await running({ connectionsPerEnd: 3 });
  for (let i = 0; i < 3; i++) await waiting("passive");
  expect(await refusalOf({ ...founded.access("passive") })).toMatch(
    /as many connections as it may have\. the relay's op/,
  );
  await joined("other");
  await founded.stop();
  await running({ connectionsPerMinute: 5 });
  for (let i = 0; i < 5; i++) (await waiting("passive")).destroy();
  expect(await refusalOf(founded.access("passive"))).toMatch(/connected too often within a minute/);
  await joined("other");
});

test(
  "an end that does not read makes the other wait: the relay holds no more than its limits",
  { timeout: 90_000 },
  async () => {
    const limits = { waitingBytes: 256 << 10, frameBytes: 128 << 10 };
    const relay = await running(limits);
    const { active, passive } = await joined();
    passive.pause();
    const writing = randomBytes(64 << 10);
    let written = 0;
    let most = 0;
    const write = (): void => {
      // A hostile sender does not look at back-pressure: it writes as long as the system takes bytes.
      for (let i = 0; i < 4; i++) active.write(writing, () => (written += writing.length));
    };
    for (const started = performance.now(); performance.now() - started < 1500;) {
      if (active.writableLength < 8 << 20) write();
      await new Promise((resolve) => setImmediate(resolve));
      most = Math.max(most, relay.rooms[0].heldBytes);
    }
    // What is being read when the limit is reached still arrives: a socket's buffer and a message.
    expect(most).toBeLessThanOrEqual(limits.waitingBytes + limits.frameBytes + (128 << 10));
    expect(most).toBeGreaterThan(0);
    let read = 0;
    passive.on("data", (data: Buffer) => (read += data.length)).resume();
    await expect.poll(() => read, { timeout: 60_000 }).toBeGreaterThan(4 << 20);
    expect(written).toBeGreaterThan(0);
  },
);

test("a room's rate is kept", { timeout: 60_000 }, async () => {
  await running({ bytesPerSecond: 1_000_000 });
  const { active, passive } = await joined();
  let read = 0;
  passive.on("data", (data: Buffer) => (read += data.length));
  const started = performance.now();
  const sent = randomBytes(4_000_000);
  for (let at = 0; at < sent.length; at += 50_000) active.write(sent.subarray(at, at + 50_000));
  await expect.poll(() => read, { timeout: 30_000 }).toBe(sent.length);
  expect((performance.now() - started) / 1000).toBeGreaterThan(1.5); // two seconds' worth pass at once
});

/** A WebSocket with a valid token whose holder does as it likes. */
async function raw(end: RelayEnd): Promise<WebSocket> {
  const socket = new WebSocket(`wss://127.0.0.1:${founded.port}${roomPath("room", end)}`, relayProtocol, {
    rejectUnauthorized: false,
    headers: { authorization: `Bearer ${founded.token("room", end)}` },
    perMessageDeflate: false,
  });
  socket.on("error", () => {});
  onTestFinished(() => socket.terminate());
  await once(socket, "open");
  return socket;
}

test("messages that are too long, text, and bytes before the other end is there end the connection", async () => {
  await running({ frameBytes: 64 << 10 });
  for (const message of [randomBytes(65 << 10), "text"]) {
    const passive = await waiting();
    const hostile = await raw("active");
    expect(await passive.paired).toBe(true);
    passive.resume();
    hostile.send(message);
    const [code] = (await once(hostile, "close")) as [number];
    expect([1003, 1009]).toContain(code);
  }
  await joined();
});

test("endless fragments of a message end the connection", async () => {
  await running({ frameBytes: 64 << 10 });
  await waiting();
  const hostile = await raw("active");
  const sending = setInterval(() => hostile.send(randomBytes(1000), { fin: false }), 1);
  onTestFinished(() => clearInterval(sending));
  expect(await once(hostile, "close")).toBeDefined();
});

test("silent and slow peers neither get in nor keep others out", async () => {
  await running();
  const silent = Array.from({ length: 300 }, () => connectPlain(founded.port, "127.0.0.1").on("error", () => {}));
  const slow = Array.from({ length: 50 }, () => {
    const socket = connectTls({ port: founded.port, host: "127.0.0.1", rejectUnauthorized: false });
    socket.on("error", () => {}).once("secureConnect", () => socket.write("GET /v1/rooms/room/active HTTP/1.1\r\nx: "));
    return socket;
  });
  onTestFinished(() => [...silent, ...slow].forEach((socket) => socket.destroy()));
  const { active, passive } = await joined();
  active.write("here");
  expect(String((await once(passive, "data"))[0])).toBe("here");
});

test("no token, and no byte of a pipe, is in what the relay says of itself", async () => {
  const relay = await running();
  const metrics = new RelayMetrics();
  metrics.watch(relay.rooms);
  const { active, passive } = await joined();
  active.write("a secret of the bank");
  await once(passive, "data");
  active.destroy();
  await expect.poll(() => founded.events.map(({ type }) => type)).toContain("separated");
  founded.events.forEach((event) => metrics.see(event));
  const said = JSON.stringify(founded.events) + metrics.text();
  for (const end of ["active", "passive"] as const) expect(said).not.toContain(founded.token("room", end));
  expect(said).not.toContain("secret");
  expect(metrics.text()).toMatch(/tandem_relay_bytes_total\{room="room",to="passive"\} 20\n/);
});

test("its health can be asked over TLS; other paths and methods get nothing", async () => {
  await running();
  const answered = (path: string, method = "GET"): Promise<number | undefined> =>
    new Promise((resolve, reject) => {
      const options = { host: "127.0.0.1", port: founded.port, path, method, rejectUnauthorized: false, agent: false };
      request(options, (response) => {
        response.resume();
        resolve(response.statusCode);
      })
        .once("error", reject)
        .end();
    });
  expect(await answered("/health")).toBe(200);
  for (const path of ["/", "/v1/rooms/room/active", "/metrics"]) expect(await answered(path)).toBe(400);
  expect(await answered("/health", "POST")).toBe(400);
});
