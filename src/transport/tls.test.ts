/** The TLS transport on loopback: whole jobs, errors across the wire, lost connections, limits. */
import { once } from "node:events";
import type { ClientHttp2Stream } from "node:http2";
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { createGrpcTransport, Http2SessionManager } from "@connectrpc/connect-node";
import { describe, expect, test } from "vitest";
import { expectError } from "../../test/support/expect-error.ts";
import { trainFederated, trainInOnePlace } from "../../test/support/in-memory-job.ts";
import { prepareJob } from "../../test/support/prepared-job.ts";
import { collect, one } from "../../test/support/streams.ts";
import { joined, table, TlsBed } from "../../test/support/tls-bed.ts";
import { listening, loopback, peerOnceReady } from "../../test/support/tls-pair.ts";
import { startProxy } from "../../test/world/proxy.ts";
import { TandemError } from "../base/error.ts";
import { selectKernel } from "../crypto/paillier/index.ts";
import { firstDifference } from "../gbdt/tree/model-compare.ts";
import { PassiveParty } from "../wire/generated/tandem/v1/tandem_pb.ts";
import type { PassivePeer } from "../wire/peer.ts";
import { messageBytesMax } from "../wire/version.ts";
import { callsTransport } from "./calls/calls-transport.ts";
import type { PassiveService } from "./passive-service.ts";
import { certificateFingerprint } from "./pinned-certificate.ts";
import { PinnedSessionManager } from "./pinned-session.ts";
import { dial } from "./pipes/dial.ts";
import { pinnedSocket } from "./pinned-socket.ts";
import { connectTls, type TlsPeer } from "./tls-connect.ts";
import { listenTls } from "./tls-listen.ts";
import { callsPath } from "./tls-settings.ts";

const bed = new TlsBed();

const overTls = (name: string, service: PassiveService): PassivePeer =>
  peerOnceReady(
    name,
    bed.served(service).then((made) => bed.closing(made.connect(name))),
  );

describe("a whole job over TLS", () => {
  test.each(["batched", "unbatched"] as const)("%s: the model of centralised training, bit for bit", async (codec) => {
    const job = { table, kernel: selectKernel(), key: bed.key, codec: { codec } };
    const { model, traffic } = await trainFederated({ ...job, connect: overTls });
    expect(firstDifference(model, await trainInOnePlace(job))).toBeNull();
    const inMemory = await trainFederated(job);
    expect(traffic).toEqual(inMemory.traffic);
  });

  test("both sides succeed, and the servers close although connections are open", async () => {
    const job = prepareJob({
      table,
      kernel: selectKernel(),
      key: bed.key,
      training: { num_round: 1 },
      connect: overTls,
    });
    await job.run();
    for (const { service } of job.passives) expect(await service.ended).toEqual({ failure: null });
  });
});

describe("a message that is too large", () => {
  const ids = ["x".repeat(messageBytesMax)];

  test("is not sent", async () => {
    const { service, hello } = bed.lonely();
    const peer = bed.closing((await bed.served(service)).connect("telecom"));
    await joined(peer, hello);
    await expectError(() => peer.testRows(one({ ids }), {}), "PROTOCOL_STATE", /party telecom: a message was refused/);
  });

  test("is not read either", async () => {
    const { service } = bed.lonely();
    const { server } = await bed.served(service);
    const { authority: ca, certificate: cert, key: secret } = bed.parties.active;
    const baseUrl = `https://127.0.0.1:${server.port}`;
    const sessionManager = new Http2SessionManager(
      baseUrl,
      {},
      { ca, cert, key: secret, checkServerIdentity: () => undefined },
    );
    bed.atEnd(() => sessionManager.abort());
    const transport = createGrpcTransport({ baseUrl, sessionManager });
    const nodes = new Array<number>(1 << 20).fill(0xffffffff);
    const refused = await collect(createClient(PassiveParty, transport).order({ nodes })).catch(
      (error: unknown) => error,
    );
    expect(ConnectError.from(refused).code).toBe(Code.ResourceExhausted);
  });
});

describe("errors across the wire", () => {
  async function errorOf(thrown: unknown): Promise<{ error: TandemError; service: PassiveService }> {
    const { service, hello, job } = bed.lonely();
    job.passives[0].role.answers.finishTree = () => {
      throw thrown;
    };
    const peer = bed.closing((await bed.served(service)).connect("telecom"));
    await joined(peer, hello);
    const error = await peer.finishTree({ tree: 0 }, {}).then(
      () => null,
      (refused: unknown) => refused,
    );
    expect(error).toBeInstanceOf(TandemError);
    return { error: error as TandemError, service };
  }

  test("a TandemError arrives with code and message", async () => {
    const { error } = await errorOf(new TandemError("KEY_FORMAT", "ümläut and % and \u001b[2J"));
    expect(error).toMatchObject({ code: "KEY_FORMAT", message: "ümläut and % and  [2J" });
  });

  test.each([
    ["an exception", new RangeError("gradient 0.123 of row 5")],
    ["an assertion", new TandemError("INTERNAL", "assertion failed: gradient 0.123 of row 5")],
    ["not even an error", "gradient 0.123 of row 5"],
  ])("%s arrives without stack or data, and the party that threw it ends with it", async (_name, thrown) => {
    const { error, service } = await errorOf(thrown);
    expect(error).toMatchObject({
      code: "PARTY_LOST",
      message: expect.stringMatching(/^party telecom failed: an internal error/) as string,
    });
    const received =
      JSON.stringify(error.cause, Object.getOwnPropertyNames(error.cause)) + String((error.cause as Error).cause);
    expect(received).not.toMatch(/0\.123|passive-service|passive-role/);
    expect((await service.ended).failure).toMatchObject({
      code: "INTERNAL",
      message: expect.stringContaining("0.123") as string,
    });
  });
});

describe("a connection that is cut", () => {
  async function cuttable(service: PassiveService): Promise<{ peer: TlsPeer; cut: () => void }> {
    const { server } = await bed.served(service);
    const way = await startProxy(server.port);
    bed.atEnd(() => way.close());
    const pinned = [certificateFingerprint(bed.parties.passive.certificate)];
    return {
      peer: bed.closing(connectTls("telecom", bed.parties.active, pinned, { host: "127.0.0.1", port: way.port })),
      cut: way.cut,
    };
  }

  test("in mid-call: every open call fails with PARTY_LOST, and the passive party knows which was lost", async () => {
    const { service, hello, job } = bed.lonely();
    const [{ role }] = job.passives;
    let called = (): void => {};
    const underWay = new Promise<void>((resolve) => (called = resolve));
    role.answers.gradients = () => (called(), new Promise(() => {}));
    const { peer, cut } = await cuttable(service);
    const stream = await joined(peer, hello);
    const calls = [stream.next(), peer.gradients(endless(), {})];
    await underWay;
    cut();
    for (const call of calls) await expectError(() => call, "PARTY_LOST", /^party telecom is gone/);
    expect((await service.ended).failure).toMatchObject({
      code: "PARTY_LOST",
      message: expect.stringMatching(/^the active party bank is gone/) as string,
    });
  });

  test("in mid-tree: the job ends with PARTY_LOST, and the other party is notified", async () => {
    let cut = (): void => {};
    const job = prepareJob({
      table,
      kernel: selectKernel(),
      key: bed.key,
      connect: (name, service, index) => {
        if (index === 0) return overTls(name, service);
        return peerOnceReady(
          name,
          cuttable(service).then((made) => ((cut = made.cut), made.peer)),
        );
      },
    });
    const { role } = job.passives[1];
    const histograms = role.answers.histograms;
    role.answers.histograms = (nodes) => (cut(), histograms(nodes));
    await expectError(() => job.run(), "PARTY_LOST", /passive-2|telecom/);
    expect((await job.passives[0].service.ended).failure?.message).toMatch(
      /^the active party gave up: party (passive-2|telecom)/,
    );
    expect((await job.passives[1].service.ended).failure?.message).toMatch(/^the active party bank is gone/);
  });

  test("by an active party that leaves right after its hello", async () => {
    const { service, hello } = bed.lonely();
    const peer = bed.closing((await bed.served(service)).connect("telecom"));
    const controller = new AbortController();
    await joined(peer, hello, controller.signal);
    controller.abort();
    expect((await service.ended).failure?.message).toMatch(/^the active party bank is gone/);
  });

  test("a server closes although a client keeps its calls open", async () => {
    const { service, hello } = bed.lonely();
    const made = await listening(service, bed.parties);
    const peer = bed.closing(made.connect("telecom"));
    const stream = await joined(peer, hello);
    const lost = expectError(() => stream.next(), "PARTY_LOST", /party telecom/);
    await made.server.close();
    await lost;
  });

  async function* endless(): AsyncGenerator<{ tree: number; sequence: number }> {
    yield { tree: 0, sequence: 0 };
    await new Promise(() => {});
  }
});

test("a party sends heartbeats while it works on a call, and not otherwise", async () => {
  const { service, hello, job } = bed.lonely();
  let finish = (): void => {};
  job.passives[0].role.answers.finishTree = () => new Promise((resolve) => (finish = resolve));
  const server = await listenTls(
    service,
    bed.parties.passive,
    [{ name: "bank", fingerprints: [certificateFingerprint(bed.parties.active.certificate)] }],
    loopback,
    { heartbeatMs: 10 },
  );
  bed.atEnd(() => server.close());
  const address = { host: "127.0.0.1", port: server.port };
  const peer = bed.closing(
    connectTls("telecom", bed.parties.active, [certificateFingerprint(bed.parties.passive.certificate)], address),
  );
  const stream = await joined(peer, hello);
  let beats = 0;
  const beating = (async () => {
    while ((await stream.next()).done !== true) beats++;
  })().catch(() => {});
  await new Promise((resolve) => setTimeout(resolve, 60));
  expect(beats).toBe(0);
  const answer = peer.finishTree({ tree: 0 }, {});
  await settled(() => Math.min(beats, 3));
  expect(beats).toBeGreaterThan(2);
  finish();
  await answer;
  peer.close();
  await beating;
});

test("a connection has one stream for many calls, and a second one is closed", async () => {
  const { server } = await bed.served(bed.lonely().service);
  const { active, passive } = bed.parties;
  const sessions = new PinnedSessionManager(
    `https://127.0.0.1:${server.port}`,
    { pingIntervalMs: 20_000, pingTimeoutMs: 20_000, isReplaced: false },
    async () => {
      const address = { host: "127.0.0.1", port: server.port };
      const pins = [certificateFingerprint(passive.certificate)];
      return pinnedSocket("telecom", active, pins, await dial(address), address.host);
    },
  );
  bed.atEnd(() => sessions.abort());
  const [first, second] = [await open(), await open()];
  await once(second, "close");
  const client = createClient(
    PassiveParty,
    callsTransport(() => Promise.resolve(first)),
  );
  await expect(client.setUp({})).rejects.toThrow(/waiting and cannot take this message/);

  async function open(): Promise<ClientHttp2Stream> {
    const stream = await sessions.request("POST", callsPath, {}, { endStream: false });
    return stream.on("error", () => {});
  }
});

test("back-pressure: a party that stops reading stops the sender within the windows", async () => {
  const { service, hello, job } = bed.lonely();
  const chunkCount = 200;
  let consumed = 0;
  let proceed = (): void => {};
  const pause = new Promise<void>((resolve) => (proceed = resolve));
  job.passives[0].role.answers.gradients = async (chunks) => {
    const iterator = chunks[Symbol.asyncIterator]();
    while ((await iterator.next()).done !== true) if (++consumed === 1) await pause;
  };
  const peer = bed.closing((await bed.served(service)).connect("telecom"));
  await joined(peer, hello);
  let produced = 0;
  async function* chunks(): AsyncGenerator<
    Parameters<PassivePeer["gradients"]>[0] extends AsyncIterable<infer T> ? T : never
  > {
    const scheme = new Uint8Array(256 << 10);
    for (; produced < chunkCount; produced++) yield { tree: 0, sequence: produced, scheme };
  }
  const sending = peer.gradients(chunks(), {});
  await settled(() => produced);
  expect(consumed).toBe(1);
  // 8 MB of HTTP/2 window are 32 chunks; sockets and streams hold a few more.
  expect(produced).toBeLessThan(80);
  expect(produced).toBeGreaterThan(8);
  proceed();
  await sending;
  expect([produced, consumed]).toEqual([chunkCount, chunkCount]);
});

/** Waits until a number has stopped changing. */
async function settled(read: () => number): Promise<void> {
  for (let before = -1, same = 0; same < 10;) {
    await new Promise((resolve) => setTimeout(resolve, 20));
    same = read() === before && before > 0 ? same + 1 : 0;
    before = read();
  }
}
