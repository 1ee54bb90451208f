/** Faults of a real server: it dies, restarts with or without its files, is full, or rejects clients. */
import { type AddressInfo, createServer, type Socket } from "node:net";
import { TLSSocket } from "node:tls";
import { connect } from "@nats-io/transport-node";
import { afterAll, describe, expect, test } from "vitest";
import { expectError } from "../../test/support/expect-error.ts";
import { hasNatsServer, type NatsServer, startNatsServer } from "../../test/support/nats-server.ts";
import { createAuthority } from "../transport/certificates.ts";
import type { Engine, StoredMessage } from "./engine.ts";
import { type NatsEngineOptions, openNatsEngine } from "./nats-engine.ts";

const server = hasNatsServer ? await startNatsServer(["shop", "bank"]) : null;
const mortal = hasNatsServer ? await startNatsServer(["shop", "bank"]) : null;
const opened: Engine[] = [];
afterAll(() => Promise.all(opened.map((engine) => engine.close())));

const keeping = { store: "file", replicas: 1, leaseMs: 500, statusMs: 1000 } as const;
const bytes = (words: string): Uint8Array => new TextEncoder().encode(words);

async function open(to: NatsServer, user: string, rest: Partial<NatsEngineOptions> = {}): Promise<Engine> {
  const identity = to.users.get(user) ?? { certificate: "", key: "" };
  const tls = { ...identity, authority: to.authority };
  const crew = user.split("-")[0];
  const engine = await openNatsEngine({ servers: [to.url], tls, client: user, crew, patienceMs: 5000, ...rest });
  opened.push(engine);
  return engine;
}

/** A fake server. */
async function listen(greet: (socket: Socket) => void): Promise<string> {
  const listener = createServer((socket) => greet(socket.on("error", () => {})));
  await new Promise<void>((resolve) => listener.listen(0, "127.0.0.1", resolve));
  listener.unref();
  return `tls://127.0.0.1:${(listener.address() as AddressInfo).port}`;
}

describe.skipIf(server === null)("permissions", () => {
  if (server === null) return;

  test("an unknown certificate and one of another authority are rejected", async () => {
    await expectError(() => open(server, "unlisted", { crew: "shop" }), "CERTIFICATE", /no user for this certificate/);
    const otherAuthority = await createAuthority("otherAuthority", 1);
    const forged = await otherAuthority.issue("shop-party", ["shop-party"]);
    const tls = { ...forged, authority: server.authority };
    // The server's error message and its end of the connection race.
    await expect(open(server, "shop-party", { tls, patienceMs: 100 })).rejects.toThrow(
      /it (?:closes|rejects).* this certificate/,
    );
  });

  test("an expired certificate is rejected", async () => {
    const { certificate, key } = server.expired;
    const tls = { certificate, key, authority: server.authority };
    await expectError(() => open(server, "shop-party", { tls }), "CERTIFICATE", /expired at .*tandem init crew/);
  });

  test("a server of another authority is rejected", async () => {
    const { certificate } = await createAuthority("others", 1);
    const { certificate: own, key } = server.users.get("shop-party") ?? { certificate: "", key: "" };
    const tls = { certificate: own, key, authority: certificate };
    await expectError(
      () => open(server, "shop-party", { tls }),
      "CERTIFICATE",
      /not signed .*(?:SELF_SIGNED|UNABLE_TO)/,
    );
  });

  test("a key of another certificate and invalid PEM are rejected at once", async () => {
    const own = server.users.get("shop-worker") ?? { certificate: "", key: "" };
    const { key } = server.users.get("shop-party") ?? { key: "" };
    const tls = { ...own, authority: server.authority };
    const opening = (wrong: Partial<typeof tls>) => () => open(server, "shop-worker", { tls: { ...tls, ...wrong } });
    await expectError(opening({ key }), "CERTIFICATE", /key does not belong to its certificate/);
    await expectError(opening({ key: "a key" }), "CERTIFICATE", /is not PEM/);
    await expectError(opening({ certificate: "" }), "CERTIFICATE", /is not PEM/);
  });

  test("a server certificate for another host, such as a worker's, is rejected", async () => {
    const { certificate, key } = server.users.get("shop-worker") ?? { certificate: "", key: "" };
    const url = await listen((socket) => {
      socket.write('INFO {"tls_required":true,"max_payload":2000000}\r\n');
      new TLSSocket(socket, { isServer: true, cert: certificate, key }).on("error", () => {});
    });
    await expectError(() => open(server, "shop-party", { servers: [url] }), "CERTIFICATE", /for other hosts/);
  });

  test("a server without TLS is rejected", async () => {
    const url = await listen((socket) => socket.write('INFO {"max_payload":2000000}\r\n'));
    await expectError(() => open(server, "shop-party", { servers: [url] }), "CERTIFICATE", /does not speak TLS/);
  });

  test("a user of another account receives nothing, sees no stream, and may not use the crew's subjects", async () => {
    const shop = await open(server, "shop-party", { keeping });
    const bank = await open(server, "bank-party", { keeping });
    const epoch = await shop.begin("e1");
    await epoch.append("log.0", bytes("a"));
    const intruder = await open(server, "bank-party", { crew: "shop" });
    expect(await intruder.join("e1"), "no such stream").toBeNull();
    const own = await open(server, "bank-party", { crew: "shop", keeping });
    const forged = await own.begin("e1"); // in its own account, where it is useless too
    await expectError(() => forged.append("log.0", bytes("x")), "CERTIFICATE", /the crew's permissions/);
    expect(await epoch.stored("log.>")).toBe(1);
    const stop = new AbortController();
    const received: string[] = [];
    const listening = (async () => {
      for await (const { subject } of (await bank.begin("e1")).hear("held.>", stop.signal)) received.push(subject);
    })();
    epoch.say("held.0", bytes("x"));
    await shop.begin("e2");
    stop.abort();
    await listening;
    expect(received).toEqual([]);
    expect(await bank.join("e1"), "the deletion of one does not affect the other").not.toBeNull();
  });

  test("a worker may write answers, but neither logs nor tasks", async () => {
    const shop = await open(server, "shop-party", { keeping });
    const epoch = await shop.begin("e3");
    const worker = await open(server, "shop-worker");
    const joined = await worker.join("e3");
    await joined?.append("sum.0", bytes("a"));
    await expectError(async () => joined?.append("log.0", bytes("a")), "CERTIFICATE", /the crew's permissions/);
    await expectError(async () => joined?.end(), "CERTIFICATE", /the crew's permissions/);
    expect(await epoch.stored("sum.>")).toBe(1);
  });

  test("a worker may read as often as it likes, but not delete a consumer: another worker's lease", async () => {
    const shop = await open(server, "shop-party", { keeping });
    const epoch = await shop.begin("e5", true);
    await epoch.offer("task", bytes("t"));
    const joined = await (await open(server, "shop-worker")).join("e5");
    await epoch.append("log.0", bytes("a"));
    for (let reader = 0; reader < 3; reader++) {
      const stop = new AbortController();
      for await (const { position } of joined?.follow("log.0", 0, stop.signal) ?? []) {
        expect(position).toBe(1);
        stop.abort();
      }
    }
    const user = server.users.get("shop-worker") ?? { certificate: "", key: "" };
    const raw = await connect({
      servers: server.url,
      tls: { cert: user.certificate, key: user.key, ca: server.authority },
    });
    const refused = await raw
      .request("$JS.API.CONSUMER.DELETE.tandem-shop-e5-tasks.task", "", { timeout: 500 })
      .catch((error: unknown) => error);
    expect(String(refused)).toMatch(/permission/i);
    await raw.close();
    expect(await joined?.take("task", AbortSignal.timeout(5000)), "the queue is still there").not.toBeNull();
  });

  test("a worker may take tasks and write results, but neither offer tasks nor purge", async () => {
    const shop = await open(server, "shop-party", { keeping });
    const epoch = await shop.begin("e4", true);
    await epoch.offer("task", bytes("t"));
    const connection = await open(server, "shop-worker");
    const joined = await connection.join("e4");
    const lease = await joined?.take("task", AbortSignal.timeout(5000));
    await joined?.append("done.1", bytes("a"));
    await lease?.done();
    await expectError(async () => joined?.purge("done.>"), "CERTIFICATE", /the crew's permissions/);
    const pretend = async (): Promise<void> =>
      (await (await open(server, "shop-worker", { keeping })).join("e4"))?.offer("task", bytes("t"));
    await expectError(pretend, "CERTIFICATE", /the crew's permissions/);
    expect([await epoch.offered("task"), await epoch.stored("done.>")]).toEqual([0, 1]);
    await epoch.end();
  });
});

describe.skipIf(mortal === null)("a server that fails", () => {
  if (mortal === null) return;

  test("a full stream rejects messages, and accepts more when there is room", async () => {
    const party = await open(mortal, "shop-party", {
      keeping: { ...keeping, store: "memory", streamBytesMax: 20_000 },
    });
    const epoch = await party.begin("e1");
    await epoch.append("log.0", new Uint8Array(15_000));
    await expectError(() => epoch.append("log.0", new Uint8Array(15_000)), "ENGINE_FULL", /no room/);
    await epoch.purge("log.>");
    await epoch.append("log.0", new Uint8Array(15_000));
    await epoch.offer("task", new Uint8Array(15_000));
    await expectError(() => epoch.offer("task", new Uint8Array(15_000)), "ENGINE_FULL", /no room/);
  });

  test("a server that loses its data is detected; one that keeps its files continues", async () => {
    const [party, other] = [
      await open(mortal, "shop-party", { keeping }),
      await open(mortal, "bank-party", {
        keeping: { ...keeping, store: "memory" },
      }),
    ];
    const [kept, forgotten] = [await party.begin("e1"), await other.begin("e1")];
    await kept.append("log.0", bytes("before"));
    await forgotten.append("log.0", bytes("before"));
    for (let i = 0; i < 3; i++) await kept.append("sum.0", bytes("of a round that is over"));
    const stop = new AbortController();
    const seen: StoredMessage[] = [];
    let [tellFirst, tellOther, tellSums] = [(): void => {}, (): void => {}, (): void => {}];
    const before = [
      new Promise<void>((resolve) => (tellFirst = resolve)),
      new Promise<void>((resolve) => (tellOther = resolve)),
      new Promise<void>((resolve) => (tellSums = resolve)),
    ];
    const following = (async () => {
      for await (const message of kept.follow("log.0", -1, stop.signal)) {
        if (seen.some(({ position }) => position === message.position)) continue; // repeated after a restart
        seen.push(message);
        tellFirst();
        if (seen.length === 2) break;
      }
    })();
    const summing = (async () => {
      for await (const { message, position } of kept.follow("sum.>", -1, stop.signal)) {
        if (position === 3) tellSums();
        if (new TextDecoder().decode(message) === "a sum") break;
      }
    })();
    const lost = expectError(async () => {
      for await (const { position } of forgotten.follow("log.0", -1, stop.signal)) if (position > 0) tellOther();
    }, "ENGINE_LOST");
    await Promise.all(before);
    const reader = await open(mortal, "shop-worker");
    await party.statusTable.put("epoch", bytes("e1"), true);
    expect(new TextDecoder().decode((await reader.statusTable.entries()).get("epoch"))).toBe("e1");
    await party.statusTable.remove("epoch");
    await kept.purge("sum.>"); // killed now, the server forgets that its sequence had reached 3
    await mortal.stop();
    const appending = kept.append("log.0", bytes("meanwhile"));
    await mortal.start();
    await appending;
    await following;
    await kept.append("sum.0", bytes("a sum"));
    await summing;
    await party.statusTable.put("epoch", bytes("e2"), true); // by the same number as e1
    expect(new TextDecoder().decode((await reader.statusTable.entries()).get("epoch"))).toBe("e2");
    expect(seen.map(({ message }) => new TextDecoder().decode(message))).toEqual(["before", "meanwhile"]);
    expect(await kept.stored("log.>")).toBe(2);
    await expectError(() => forgotten.stored("log.>"), "ENGINE_LOST");
    await lost;
    const worker = await open(mortal, "bank-worker");
    expect([...(await other.statusTable.entries())], "its table is lost and created again").toEqual([]);
    await worker.statusTable.put("worker.w1", bytes("2 threads"));
    expect([...(await other.statusTable.entries()).keys()]).toEqual(["worker.w1"]);
  });

  test("an unreachable server is given up after the patience", async () => {
    const party = await open(mortal, "shop-party", { keeping, patienceMs: 300 });
    const epoch = await party.begin("e1");
    await mortal.stop();
    await expectError(() => epoch.append("log.0", bytes("a")), "ENGINE_LOST", /has not answered/);
    const waits: string[] = [];
    const unreachable = open(mortal, "shop-party", { patienceMs: 300, onWait: (why) => waits.push(why) });
    await expectError(() => unreachable, "ENGINE_LOST", /no server of tls:.* can be reached: .*Start nats-server/);
    expect(waits).toEqual([expect.stringMatching(/refused/) as unknown]);
  });
});
