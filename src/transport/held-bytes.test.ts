/** A pinned party makes a server hold as many bytes as it can, over TLS: the accounted bytes stay in their bound. */
import { readFileSync } from "node:fs";
import { type ClientHttp2Session, type ClientHttp2Stream, connect as connectHttp2, constants } from "node:http2";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { create, toBinary } from "@bufbuild/protobuf";
import { type Client, Code, type ConnectRouter, createClient, type ServiceImpl } from "@connectrpc/connect";
import { createGrpcTransport, Http2SessionManager } from "@connectrpc/connect-node";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { issued, loopback, type TlsParties, tlsParties } from "../../test/support/tls-pair.ts";
import { ActiveGradientsSchema, PassiveParty } from "../wire/generated/tandem/v1/tandem_pb.ts";
import { connectionsPerParty } from "./connection-gate.ts";
import { frameBytes } from "./calls/frames.ts";
import { callBytesMax, openCallBytes, PartyAccounts, partyBytesMax } from "./held-bytes.ts";
import { certificateFingerprint } from "./pinned-certificate.ts";
import { listenTls } from "./tls-listen.ts";
import { callsPath, type TlsIdentity, windowBytes } from "./tls-settings.ts";

const megabyte = 1 << 20;
let parties: TlsParties;
let other: TlsIdentity;
beforeAll(async () => {
  parties = await tlsParties();
  other = await issued(parties.authority, "insurer");
});

interface Served {
  readonly port: number;
  readonly accounts: PartyAccounts;
  /** What the hostile party's calls hold. */
  readonly held: () => number;
  readonly peak: () => number;
}

/** A server for two pinned parties, whose calls may hold `max` bytes each. */
async function served(calls: Partial<ServiceImpl<typeof PassiveParty>>, max?: number): Promise<Served> {
  const accounts = new PartyAccounts(max);
  const pinned = [parties.active, other].map(({ certificate }, i) => ({
    name: ["bank", "insurer"][i],
    fingerprints: [certificateFingerprint(certificate)],
  }));
  const routes = (router: ConnectRouter): void => void router.service(PassiveParty, calls);
  const server = await listenTls({ routes }, parties.passive, pinned, loopback, { accounts });
  onTestFinished(() => server.close());
  const account = accounts.of(pinned[0].name);
  return { port: server.port, accounts, held: () => account.held, peak: () => account.peak };
}

const optionsOf = ({ authority, certificate, key }: TlsIdentity) => ({
  ca: authority,
  cert: certificate,
  key,
  checkServerIdentity: () => undefined,
});

function session({ port }: Served): ClientHttp2Session {
  const made = connectHttp2(`https://127.0.0.1:${port}`, optionsOf(parties.active));
  made.on("error", () => {});
  onTestFinished(() => made.destroy());
  return made;
}

function opened(made: ClientHttp2Session, path: string): ClientHttp2Stream {
  const headers = { ":method": "POST", ":path": path, "content-type": "application/grpc+proto", te: "trailers" };
  const stream = made.request(headers, { endStream: false });
  return stream.on("error", () => {});
}

function client({ port }: Served, identity: TlsIdentity): Client<typeof PassiveParty> {
  const baseUrl = `https://127.0.0.1:${port}`;
  const sessionManager = new Http2SessionManager(baseUrl, {}, optionsOf(identity));
  onTestFinished(() => sessionManager.abort());
  return createClient(PassiveParty, createGrpcTransport({ baseUrl, sessionManager }));
}

/** A gRPC message that lacks its last byte. */
function incomplete(bytes: number): Buffer {
  const message = Buffer.alloc(5 + bytes - 1);
  message.writeUInt32BE(bytes, 1);
  return message;
}

const callPath = (call: string): string => `/tandem.v1.PassiveParty/${call}`;

/** Waits until a number has stopped changing. */
async function settled(read: () => number): Promise<void> {
  for (let before = -1, same = 0; same < 5; before = read()) {
    await wait(20);
    same = read() === before ? same + 1 : 0;
  }
}

async function expectHonestCalls(server: Served): Promise<void> {
  const honest = client(server, other);
  for (let tree = 0; tree < 3; tree++) expect((await honest.finishTree({ tree })).digest[0]).toBe(tree);
}

const finishTree = ({ tree }: { readonly tree: number }) => ({ digest: Uint8Array.of(tree) });

describe("messages that lack a byte, on every connection that a party may have", () => {
  test("in separate streams: calls beyond the limit are refused, and another party is served", async () => {
    const max = 24 * megabyte;
    const made = await served({ finishTree }, max);
    const message = incomplete(megabyte);
    const refused = new Set<ClientHttp2Stream>();
    const sessions = Array.from({ length: connectionsPerParty }, () => session(made));
    for (const each of sessions)
      for (let call = 0; call < 4; call++) {
        const stream = opened(each, callPath("FinishTree"));
        // A call is refused in its trailers, or by a reset where not even its opening fits.
        const status = ({ "grpc-status": code }: { readonly "grpc-status"?: unknown }): void => {
          if (Number(code) === Number(Code.ResourceExhausted)) refused.add(stream);
        };
        stream.on("response", status);
        stream.on("trailers", status);
        stream.on("close", () => {
          if (stream.rstCode === constants.NGHTTP2_ENHANCE_YOUR_CALM) refused.add(stream);
        });
        stream.write(message);
      }
    await settled(() => refused.size + made.peak());
    expect(made.peak()).toBeLessThanOrEqual(max);
    expect(made.peak()).toBeGreaterThan(max - 2 * megabyte);
    expect(refused.size).toBeGreaterThan(30);
    await expectHonestCalls(made);
    for (const each of sessions) each.destroy();
    await settled(made.held);
    expect(made.held()).toBe(0);
    expect((await client(made, parties.active).finishTree({ tree: 7 })).digest[0]).toBe(7);
  });

  test("in shared streams: calls under way count until they end", async () => {
    const max = 8 * megabyte;
    const made = await served(
      { finishTree: ({ tree }) => (tree > 3 ? new Promise(() => {}) : finishTree({ tree })) },
      max,
    );
    const message = Buffer.concat([
      Buffer.from([8, 9]), // tree 9: its handler does not end
      Buffer.from([0x82, 0x7d, 0x80, 0x80, 0x20]), // an unknown field of 512 kB
      Buffer.alloc(512 << 10),
    ]);
    for (let i = 0; i < connectionsPerParty; i++) {
      const stream = opened(session(made), callsPath);
      for (let call = 1; call <= 3; call++) {
        for (const piece of frameBytes(call, "open", [Buffer.from(callPath("FinishTree"))])) stream.write(piece);
        for (const piece of frameBytes(call, "message", [message])) stream.write(piece);
        if (call < 3) for (const piece of frameBytes(call, "end")) stream.write(piece);
      }
    }
    await settled(made.peak);
    expect(made.peak()).toBeLessThanOrEqual(max);
    expect(made.peak()).toBeGreaterThan(max - 2 * megabyte);
    await expectHonestCalls(made);
  });
});

test("answers that are not read count too", async () => {
  const max = 6 * megabyte;
  const answer = ({ tree }: { readonly tree: number }) =>
    tree === 9 ? { digest: new Uint8Array(megabyte) } : finishTree({ tree });
  const made = await served({ finishTree: answer }, max);
  for (let i = 0; i < 4; i++) {
    const each = session(made);
    each.settings({ initialWindowSize: 0 });
    for (let call = 0; call < 4; call++) opened(each, callPath("FinishTree")).end(Buffer.from([0, 0, 0, 0, 2, 8, 9]));
  }
  await settled(made.peak);
  expect(made.peak()).toBeLessThanOrEqual(max);
  expect(made.peak()).toBeGreaterThan(max - 2 * megabyte);
  await expectHonestCalls(made);
});

describe("an honest stream of many messages", () => {
  test("passes through a separate call with little held, although its handler is slow", async () => {
    let received = 0;
    const made = await served({
      gradients: async (chunks) => {
        for await (const { scheme } of chunks) {
          if (received++ === 0) await wait(300);
          expect(scheme.length).toBe(256 << 10);
        }
        return {};
      },
    });
    async function* chunks() {
      for (let sequence = 0; sequence < 80; sequence++) yield { sequence, scheme: new Uint8Array(256 << 10) };
    }
    await client(made, parties.active).gradients(chunks());
    expect(received).toBe(80);
    expect(made.peak()).toBeLessThan(windowBytes + 4 * megabyte);
    await settled(made.held);
    expect(made.held()).toBe(0);
  });

  test("is decoded from pieces of any size, and each message is freed when the next is requested", async () => {
    const seen: number[] = [];
    let most = 0;
    const made = await served({
      gradients: async (chunks) => {
        for await (const { scheme } of chunks) {
          seen.push(scheme.length);
          most = Math.max(most, made.held());
        }
        return {};
      },
    });
    const stream = opened(session(made), callPath("Gradients"));
    const sizes = [0, 1, 70_000, 3, 0, 20_000];
    const sent = Buffer.concat(
      sizes.map((size) => {
        const content = toBinary(
          ActiveGradientsSchema,
          create(ActiveGradientsSchema, { scheme: new Uint8Array(size) }),
        );
        const prefix = Buffer.alloc(5);
        prefix.writeUInt32BE(content.length, 1);
        return Buffer.concat([prefix, content]);
      }),
    );
    for (let at = 0; at < sent.length; at += 7001) {
      stream.write(sent.subarray(at, at + 7001));
      await wait(1);
    }
    stream.end();
    await settled(() => seen.length);
    expect(seen).toEqual(sizes);
    expect(most).toBeLessThan(openCallBytes + 70_000 + 4 * 7001);
  });
});

test("docs/operate.md states the bound", () => {
  const text = readFileSync(join(import.meta.dirname, "../../docs/operate.md"), "utf8").replaceAll(/\s+/g, " ");
  for (const stated of [`${partyBytesMax / megabyte} MiB per pinned party`, `${callBytesMax / megabyte} MiB`])
    expect(text.includes(stated), stated).toBe(true);
});
