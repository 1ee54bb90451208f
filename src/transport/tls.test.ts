/** The TLS transport on loopback: whole jobs, admission, errors across the wire, lost connections. */
import { once } from "node:events";
import type { ClientHttp2Stream } from "node:http2";
import { connect as connectPlain } from "node:net";
import { connect as connectSecure, type ConnectionOptions } from "node:tls";
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { createGrpcTransport, Http2SessionManager } from "@connectrpc/connect-node";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { expectError, watchRejections } from "../../test/support/expect-error.ts";
import { trainFederated, trainInOnePlace } from "../../test/support/in-memory-job.ts";
import { prepareJob, type PreparedJob } from "../../test/support/prepared-job.ts";
import { collect, one } from "../../test/support/streams.ts";
import { randomTable } from "../../test/support/tables.ts";
import {
  issued,
  type Listening,
  listening,
  loopback,
  peerOnceReady,
  type TlsParties,
  tlsParties,
  withAuthority,
} from "../../test/support/tls-pair.ts";
import { startProxy } from "../../test/world/proxy.ts";
import { TandemError } from "../base/error.ts";
import { generateKey, type PrivateKey } from "../crypto/paillier/index.ts";
import { portableKernel } from "../crypto/paillier/portable-kernel.ts";
import { firstDifference } from "../gbdt/tree/model-compare.ts";
import { PassiveParty } from "../wire/generated/tandem/v1/tandem_pb.ts";
import type { PassivePeer } from "../wire/peer.ts";
import { messageBytesMax, protocolVersion } from "../wire/version.ts";
import { idsDigest } from "../protocol/ids.ts";
import { proposedParameters } from "../protocol/job-parameters.ts";
import { callsTransport } from "./calls/calls-transport.ts";
import { createAuthority } from "./certificates.ts";
import type { PassiveService } from "./passive-service.ts";
import { certificateFingerprint } from "./pinned-certificate.ts";
import { PinnedSessionManager } from "./pinned-session.ts";
import { pinnedSocket } from "./pinned-socket.ts";
import { connectTls, type TlsPeer } from "./tls-connect.ts";
import { listenTls } from "./tls-listen.ts";
import { callsPath, type TlsIdentity } from "./tls-settings.ts";

const table = randomTable("tls", { rows: 50, features: [1, 2, 2], missingFraction: 0.1 });
const rejections = watchRejections();
let parties: TlsParties;
let key: PrivateKey;
beforeAll(async () => {
  [parties, key] = await Promise.all([tlsParties(), generateKey({ bits: 256, insecure: true })]);
});

const cleanUps: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});
afterAll(() => rejections.expectNone());

async function served(service: PassiveService, own?: TlsIdentity): Promise<Listening> {
  const made = await listening(service, parties, own);
  cleanUps.push(() => made.server.close());
  return made;
}

function closing(peer: TlsPeer): TlsPeer {
  cleanUps.push(() => peer.close());
  return peer;
}

const overTls = (name: string, service: PassiveService): PassivePeer =>
  peerOnceReady(
    name,
    served(service).then((made) => closing(made.connect(name))),
  );

/** One passive party and a hello that it accepts. */
function lonely(): { job: PreparedJob; service: PassiveService; hello: Parameters<PassivePeer["join"]>[0] } {
  const job = prepareJob({ table, kernel: portableKernel, key, training: { num_round: 1 } });
  const hello = {
    protocolVersion,
    activeName: "bank",
    instanceCount: 50,
    idsDigest: idsDigest(job.ids),
    parameters: proposedParameters(job.agreed),
  };
  return { job, service: job.passives[0].service, hello };
}

async function joined(
  peer: PassivePeer,
  hello: Parameters<PassivePeer["join"]>[0],
  signal?: AbortSignal,
): Promise<AsyncIterator<unknown>> {
  const stream = peer.join(hello, signal === undefined ? {} : { signal })[Symbol.asyncIterator]();
  await stream.next();
  return stream;
}

describe("a whole job over TLS", () => {
  test.each(["batched", "unbatched"] as const)("%s: the model of centralised training, bit for bit", async (codec) => {
    const job = { table, kernel: portableKernel, key, codec: { codec } };
    const { model, traffic } = await trainFederated({ ...job, connect: overTls });
    expect(firstDifference(model, await trainInOnePlace(job))).toBeNull();
    const inMemory = await trainFederated(job);
    expect(traffic).toEqual(inMemory.traffic);
  });

  test("both sides succeed, and the servers close although connections are open", async () => {
    const job = prepareJob({ table, kernel: portableKernel, key, training: { num_round: 1 }, connect: overTls });
    await job.run();
    for (const { service } of job.passives) expect(await service.ended).toEqual({ failure: null });
  });
});

describe("admission refuses", () => {
  async function expectRefused(
    connect: (made: Listening) => TlsPeer,
    code: "CERTIFICATE" | "PARTY_LOST",
    own?: TlsIdentity,
  ): Promise<TandemError> {
    const { service, hello, job } = lonely();
    const made = await served(service, own);
    const peer = closing(connect(made));
    const error = await expectError(() => joined(peer, hello), code, /party telecom/);
    expect(error.message).toMatch(/certificate/);
    expect(job.observed, "no call has reached the role").toEqual([]);
    if (own === undefined) {
      // A refused peer neither ends the party's job nor keeps the pinned party out.
      await joined(closing(made.connect("telecom")), hello);
      expect(job.observed).toEqual([["passive-1", "joined", "bank"]]);
    }
    return error;
  }

  test("a client certificate of another authority", async () => {
    const other = await createAuthority("another", 1);
    const foreign = withAuthority(await other.issue("bank", ["127.0.0.1"]), parties.authority);
    await expectRefused((made) => made.connect("telecom", foreign), "PARTY_LOST");
  });

  test("no client certificate", async () => {
    const { service, hello } = lonely();
    const { server } = await served(service);
    const transport = createGrpcTransport({
      baseUrl: `https://127.0.0.1:${server.port}`,
      nodeOptions: { ca: parties.authority.certificate },
    });
    const answers = createClient(PassiveParty, transport).join(hello)[Symbol.asyncIterator]();
    const refused = await answers.next().catch((error: unknown) => error);
    expect(String((refused as ConnectError).cause)).toMatch(/certificate required/);
  });

  test("a client of the same authority that is not the pinned one", async () => {
    const mallory = await issued(parties.authority, "bank");
    const error = await expectRefused((made) => made.connect("telecom", mallory), "PARTY_LOST");
    expect(error.message).toMatch(/has it pinned this party's certificate/);
  });

  test("a server of the same authority that is not the pinned one", async () => {
    const mallory = await issued(parties.authority, "telecom");
    await expectRefused((made) => made.connect("telecom"), "CERTIFICATE", mallory);
  });

  test("a server of another authority, even if its certificate is pinned", async () => {
    const other = await createAuthority("another", 1);
    const foreign = withAuthority(await other.issue("telecom", ["127.0.0.1"]), parties.authority);
    await expectRefused(
      (made) => made.connect("telecom", parties.active, certificateFingerprint(foreign.certificate)),
      "CERTIFICATE",
      foreign,
    );
  });

  test("an expired server certificate, even if it is pinned", async () => {
    const past = await createAuthority("past", -0.02);
    const expired = withAuthority(await past.issue("telecom", ["127.0.0.1"]), parties.authority);
    const trusting = { ...parties.active, authority: past.certificate };
    const error = await expectRefused(
      (made) => made.connect("telecom", trusting, certificateFingerprint(expired.certificate)),
      "CERTIFICATE",
      expired,
    );
    expect(error.message).toMatch(/expired/);
  });

  test("an expired client certificate, even if it is pinned", async () => {
    const past = await createAuthority("past", -0.02);
    const expired = withAuthority(await past.issue("bank", ["127.0.0.1"]), parties.authority);
    const { service, hello } = lonely();
    const made = await listening(
      service,
      { ...parties, active: expired },
      { ...parties.passive, authority: past.certificate },
    );
    cleanUps.push(() => made.server.close());
    await expectError(
      () => joined(closing(made.connect("telecom", expired)), hello),
      "PARTY_LOST",
      /party telecom.*certificate/,
    );
  });

  test("a client that speaks no TLS", async () => {
    const { server } = await served(lonely().service);
    const socket = connectPlain(server.port, "127.0.0.1");
    socket.on("error", () => {});
    socket.write("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
    const received: Buffer[] = [];
    socket.on("data", (data) => received.push(data));
    await once(socket, "close");
    expect(Buffer.concat(received).toString("latin1")).not.toMatch(/HTTP|tandem/);
  });

  async function outcomeOf(options: ConnectionOptions): Promise<string> {
    const { server } = await served(lonely().service);
    const socket = connectSecure({
      host: "127.0.0.1",
      port: server.port,
      ca: parties.authority.certificate,
      cert: parties.active.certificate,
      key: parties.active.key,
      checkServerIdentity: () => undefined,
      ...options,
    });
    cleanUps.push(() => socket.destroy());
    return new Promise((resolve) => {
      socket.once("secureConnect", () => resolve(`${socket.getProtocol()} ${String(socket.alpnProtocol)}`));
      socket.once("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    });
  }

  test("a client that speaks TLS 1.2, although its certificate is the right one", async () => {
    expect(await outcomeOf({ maxVersion: "TLSv1.2", ALPNProtocols: ["h2"] })).toMatch(/PROTOCOL_VERSION/);
    expect(await outcomeOf({ ALPNProtocols: ["h2"] })).toBe("TLSv1.3 h2");
  });
});

describe("a message that is too large", () => {
  const ids = ["x".repeat(messageBytesMax)];

  test("is not sent", async () => {
    const { service, hello } = lonely();
    const peer = closing((await served(service)).connect("telecom"));
    await joined(peer, hello);
    await expectError(() => peer.testRows(one({ ids }), {}), "PROTOCOL_STATE", /party telecom: a message was refused/);
  });

  test("is not read either", async () => {
    const { service } = lonely();
    const { server } = await served(service);
    const { authority: ca, certificate: cert, key: secret } = parties.active;
    const baseUrl = `https://127.0.0.1:${server.port}`;
    const sessionManager = new Http2SessionManager(
      baseUrl,
      {},
      { ca, cert, key: secret, checkServerIdentity: () => undefined },
    );
    cleanUps.push(() => sessionManager.abort());
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
    const { service, hello, job } = lonely();
    job.passives[0].role.answers.finishTree = () => {
      throw thrown;
    };
    const peer = closing((await served(service)).connect("telecom"));
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
    const { server } = await served(service);
    const way = await startProxy(server.port);
    cleanUps.push(() => way.close());
    const pinned = certificateFingerprint(parties.passive.certificate);
    return {
      peer: closing(connectTls("telecom", parties.active, pinned, { host: "127.0.0.1", port: way.port })),
      cut: way.cut,
    };
  }

  test("in mid-call: every open call fails with PARTY_LOST, and the passive party knows which was lost", async () => {
    const { service, hello, job } = lonely();
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
      kernel: portableKernel,
      key,
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
    const { service, hello } = lonely();
    const peer = closing((await served(service)).connect("telecom"));
    const controller = new AbortController();
    await joined(peer, hello, controller.signal);
    controller.abort();
    expect((await service.ended).failure?.message).toMatch(/^the active party bank is gone/);
  });

  test("a server closes although a client keeps its calls open", async () => {
    const { service, hello } = lonely();
    const made = await listening(service, parties);
    const peer = closing(made.connect("telecom"));
    const stream = await joined(peer, hello);
    const next = stream.next();
    await made.server.close();
    await expectError(() => next, "PARTY_LOST", /party telecom/);
  });

  async function* endless(): AsyncGenerator<{ tree: number; sequence: number }> {
    yield { tree: 0, sequence: 0 };
    await new Promise(() => {});
  }
});

test("a party sends heartbeats while it works on a call, and not otherwise", async () => {
  const { service, hello, job } = lonely();
  let finish = (): void => {};
  job.passives[0].role.answers.finishTree = () => new Promise((resolve) => (finish = resolve));
  const server = await listenTls(
    service,
    parties.passive,
    [{ name: "bank", fingerprint: certificateFingerprint(parties.active.certificate) }],
    loopback,
    { heartbeatMs: 10 },
  );
  cleanUps.push(() => server.close());
  const address = { host: "127.0.0.1", port: server.port };
  const peer = closing(
    connectTls("telecom", parties.active, certificateFingerprint(parties.passive.certificate), address),
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
  const { server } = await served(lonely().service);
  const { active, passive } = parties;
  const sessions = new PinnedSessionManager(
    `https://127.0.0.1:${server.port}`,
    { pingIntervalMs: 20_000, pingTimeoutMs: 20_000, isReplaced: false },
    () =>
      pinnedSocket("telecom", active, certificateFingerprint(passive.certificate), {
        host: "127.0.0.1",
        port: server.port,
      }),
  );
  cleanUps.push(() => sessions.abort());
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
  const { service, hello, job } = lonely();
  const chunkCount = 200;
  let consumed = 0;
  let proceed = (): void => {};
  const pause = new Promise<void>((resolve) => (proceed = resolve));
  job.passives[0].role.answers.gradients = async (chunks) => {
    const iterator = chunks[Symbol.asyncIterator]();
    while ((await iterator.next()).done !== true) if (++consumed === 1) await pause;
  };
  const peer = closing((await served(service)).connect("telecom"));
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
