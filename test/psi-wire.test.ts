/**
 * PSI messages over real TLS with self-signed certificates: deviations are refused, and no session stays open.
 */
import { create } from "@bufbuild/protobuf";
import { createClient } from "@connectrpc/connect";
import { createGrpcTransport, Http2SessionManager } from "@connectrpc/connect-node";
import { describe, expect, onTestFinished, test } from "vitest";
import { hashDomain } from "../src/psi/hash-to-curve.ts";
import { ActiveMaskedIdsSchema, Alignment } from "../src/wire/generated/tandem/v1/alignment_pb.ts";
import { protocolVersion } from "../src/wire/version.ts";
import { createSelfSigned } from "../src/transport/certificates.ts";
import { certificateFingerprint } from "../src/transport/pinned-certificate.ts";
import { connectTls, type TlsPeer } from "../src/transport/tls-connect.ts";
import { listenTls } from "../src/transport/tls-listen.ts";
import type { TlsIdentity } from "../src/transport/tls-settings.ts";
import { testWorlds } from "./support/test-worlds.ts";
import { makePeople } from "./world/people.ts";
import type { Company } from "./world/processes.ts";
import type { RunningParty } from "./world/running-party.ts";
import { expectError } from "./support/expect-error.ts";
import { identityOf, rawClient } from "./support/raw-client.ts";
import { collect, one } from "./support/streams.ts";

const worlds = testWorlds();
const people = makePeople(30, "wire");

interface Pair {
  readonly bank: Company;
  readonly shop: Company;
  readonly party: RunningParty;
  connect(): TlsPeer;
}

async function pair(): Promise<Pair> {
  const world = await worlds.found({ bank: { people, columns: [0] }, shop: { people, columns: [1] } });
  const { bank, shop } = world;
  const party = await world.start(shop);
  const connect = (): TlsPeer => {
    const peer = connectTls("shop", identityOf(bank), [shop.fingerprint], { host: "127.0.0.1", port: party.port });
    onTestFinished(() => peer.close());
    return peer;
  };
  return { bank, shop, party, connect };
}

const offer = { hashDomain, normalisations: [], activeIdCount: 2 };
const wireOffer = { ...offer, protocolVersion, job: "j" };
const point = (x: number): Uint8Array => Uint8Array.from({ length: 32 }, (_, i) => (i === 0 ? x : 0));
const twoPoints = Uint8Array.from([...point(9), ...point(4)]);

test("bytes that cannot be decoded end the PSI like any other deviation, not as an internal error", async () => {
  const made = await pair();
  const client = rawClient(Alignment, made.bank, made.party.port);
  await client.begin(wireOffer);
  const unreadable = create(ActiveMaskedIdsSchema);
  unreadable.$unknown = [{ no: 2, wireType: 2, data: Uint8Array.of(9, 1) }];
  await expect(collect(client.remask(one(unreadable)))).rejects.toThrow(/parse binary/);
  expect((await made.party.seen("refused")).code).toBe("PROTOCOL_STATE");
});

describe("out of order", () => {
  test("masked ids without begin, and a second begin", async () => {
    const { connect, party } = await pair();
    const peer = connect().alignment("j");
    await expectError(
      () => collect(peer.maskedIds({})),
      "PROTOCOL_STATE",
      /shop has no alignment under way on this connection/,
    );
    await expectError(() => peer.accept(0, one(new Uint32Array(0)), {}), "PROTOCOL_STATE", /no alignment under way/);
    await peer.begin(offer, {});
    expect(await peer.begin(offer, {})).toMatchObject({ passiveIdCount: 30 });
    await collect(peer.remask(one(twoPoints), {}));
    expect((await collect(peer.maskedIds({}))).reduce((sum, chunk) => sum + chunk.length, 0)).toBe(30 * 32);
    await expectError(() => collect(peer.maskedIds({})), "PROTOCOL_STATE", /exchanged: .* out of order/);
    expect((await party.seen("refused")).code).toBe("PROTOCOL_STATE");
  });

  test("masked ids before all points have been received; another begin draws other masks", async () => {
    const { connect } = await pair();
    const peer = connect().alignment("j");
    await peer.begin(offer, {});
    await expectError(() => collect(peer.maskedIds({})), "PROTOCOL_STATE", /begun: .* out of order/);
    await expectError(() => collect(peer.remask(one(twoPoints), {})), "PROTOCOL_STATE", /no alignment under way/);
    await peer.begin(offer, {});
    await expectError(() => collect(peer.remask(one(point(9)), {})), "PROTOCOL_STATE", /ended after 1 of 2/);
    await expectError(() => collect(peer.maskedIds({})), "PROTOCOL_STATE", /no alignment under way/);
    const answers: string[] = [];
    for (let beginning = 0; beginning < 2; beginning++) {
      await peer.begin(offer, {});
      const [answer] = await collect(peer.remask(one(twoPoints), {}));
      answers.push(Buffer.from(answer).toString("hex"));
    }
    expect(answers[0]).not.toBe(answers[1]);
    await expectError(() => collect(peer.remask(one(twoPoints), {})), "PROTOCOL_STATE", /remasked: .* out of order/);
  });

  test("another connection, even of the same party, has no access", async () => {
    const { connect } = await pair();
    const first = connect().alignment("j");
    await first.begin(offer, {});
    const second = connect().alignment("j");
    await expectError(() => collect(second.maskedIds({})), "PROTOCOL_STATE", /on this connection/);
    const third = connect().alignment("another"); // of its own
    await third.begin(offer, {});
    await expectError(() => connect().alignment("too many").begin(offer, {}), "PARTY_BUSY");
    await collect(first.remask(one(twoPoints), {}));
    expect(await collect(first.maskedIds({}))).toHaveLength(1);
  });

  test("the same party and job on another connection replaces the first, which may be dead", async () => {
    const { connect } = await pair();
    const first = connect().alignment("j");
    await first.begin(offer, {});
    const second = connect().alignment("j");
    await second.begin(offer, {});
    await expectError(() => collect(first.maskedIds({})), "PROTOCOL_STATE", /on this connection/);
    await collect(second.remask(one(twoPoints), {}));
    expect(await collect(second.maskedIds({}))).toHaveLength(1);
  });

  test("a connection that closes frees the party", async () => {
    const { connect, party } = await pair();
    const first = connect();
    await first.alignment("j").begin(offer, {});
    first.close();
    expect((await party.seen("refused")).message).toMatch(/gone/);
    await connect().alignment("j").begin(offer, {});
  });
});

describe("messages that deviate", () => {
  test("another version, another hash domain, a job name that is a path", async () => {
    const { bank, party } = await pair();
    const client = rawClient(Alignment, bank, party.port);
    const refused = (change: object) =>
      client.begin({ ...wireOffer, ...change }).then(
        () => "",
        (error: unknown) => String(error),
      );
    expect(await refused({ protocolVersion: 99 })).toMatch(
      /the active party runs another release of Tandem .protocol version 99., and shop runs Tandem/,
    );
    expect(await refused({ hashDomain: "other" })).toMatch(/hashes ids differently/);
    expect(await refused({ normalisations: ["reverse"] })).toMatch(/normalise: .* shop does not know/);
    expect(await refused({ job: "../up" })).toMatch(/job: shop takes names/);
    expect(await refused({})).toBe("");
  });

  test("points out of order, and a changing count", async () => {
    const { bank, party } = await pair();
    const client = rawClient(Alignment, bank, party.port);
    await client.begin(wireOffer);
    async function* skipping() {
      yield { sequence: 1, points: point(9) };
    }
    await expect(collect(client.remask(skipping()))).rejects.toThrow(/points out of order/);
    await client.begin(wireOffer);
    async function* two() {
      yield { sequence: 0, points: point(9) };
      yield { sequence: 1, points: point(4) };
    }
    expect(await collect(client.remask(two()))).toHaveLength(2);
    await collect(client.maskedIds({}));
    async function* changing() {
      yield { commonCount: 2, positions: [0] };
      yield { commonCount: 1, positions: [1] };
    }
    await expect(client.accept(changing())).rejects.toThrow(/changes its mind/);
  });
});

test("points of small order and other encodings of a point, over the wire", async () => {
  const { connect } = await pair();
  const peer = connect().alignment("j");
  const highBit = point(9);
  highBit[31] = 0x80;
  for (const [bad, message] of [
    [point(0), /small order/],
    [point(1), /small order/],
    [highBit, /canonical/],
    [new Uint8Array(32).fill(255), /canonical/],
  ] as const) {
    await peer.begin(offer, {});
    const points = Uint8Array.from([...point(9), ...bad]);
    await expectError(() => collect(peer.remask(one(points), {})), "PROTOCOL_STATE", message);
    await expectError(() => collect(peer.maskedIds({})), "PROTOCOL_STATE", /no alignment under way/);
  }
});

describe("self-signed certificates", () => {
  const noRoutes = { routes: () => {} };
  const valid = (): Promise<TlsIdentity> => createSelfSigned("valid", 1);
  const expired = (): Promise<TlsIdentity> => createSelfSigned("expired", -0.02);

  async function attempt(
    server: TlsIdentity,
    client: TlsIdentity,
    pinned = certificateFingerprint(server.certificate),
  ): Promise<{ turnedAway: string[]; call: Promise<unknown> }> {
    const turnedAway: string[] = [];
    const listening = await listenTls(
      noRoutes,
      server,
      [{ name: "bank", fingerprints: [certificateFingerprint(client.certificate)] }],
      { host: "127.0.0.1", port: 0 },
      { onRejected: (_address, why) => turnedAway.push(why) },
    );
    const peer = connectTls("shop", client, [pinned], { host: "127.0.0.1", port: listening.port });
    onTestFinished(async () => {
      peer.close();
      await listening.close();
    });
    return { turnedAway, call: peer.alignment("j").begin(offer, {}) };
  }

  test("that are not pinned, or have expired, at either end", async () => {
    const wrong = await attempt(await valid(), await valid(), "0".repeat(64));
    await expectError(
      () => wrong.call,
      "CERTIFICATE",
      /party shop: .* it is not the pinned one; its fingerprint is [0-9a-f]{64}/,
    );
    const old = await attempt(await expired(), await valid());
    await expectError(() => old.call, "CERTIFICATE", /it expired at/);
    const oldClient = await attempt(await valid(), await expired());
    await expectError(() => oldClient.call, "CERTIFICATE", /shop finds this party's certificate expired/);
    await expect.poll(() => oldClient.turnedAway[0]).toMatch(/it expired at/);
  });

  test("without one", async () => {
    const server = await valid();
    const turnedAway: string[] = [];
    const listening = await listenTls(
      noRoutes,
      server,
      [{ name: "bank", fingerprints: ["0".repeat(64)] }],
      { host: "127.0.0.1", port: 0 },
      { onRejected: (_address, why) => turnedAway.push(why) },
    );
    onTestFinished(() => listening.close());
    const baseUrl = `https://127.0.0.1:${listening.port}`;
    const sessionManager = new Http2SessionManager(baseUrl, {}, { rejectUnauthorized: false });
    onTestFinished(() => sessionManager.abort());
    await expect(
      createClient(Alignment, createGrpcTransport({ baseUrl, sessionManager })).begin(wireOffer),
    ).rejects.toThrow(/./);
    await expect.poll(() => turnedAway).toEqual(["it shows no certificate"]);
  });

  test("no server at the address", async () => {
    const peer = connectTls("shop", await valid(), ["0".repeat(64)], { host: "127.0.0.1", port: 1 });
    await expectError(
      () => peer.alignment("j").begin(offer, {}),
      "PARTY_LOST",
      /^party shop cannot be reached at 127\.0\.0\.1:\d+: nothing listens at \S+, where shop should\. shop must start/,
    );
  });
});
