/** Lines over real TLS: who is refused at either end, by certificates as `tandem init crew` makes them. */
import { once } from "node:events";
import { connect } from "node:net";
import { afterEach, expect, test } from "vitest";
import { testKey } from "../../../test/support/crews.ts";
import { createAuthority } from "../../transport/certificates.ts";
import { CrewLineHelloSchema, CrewWantedSchema } from "../../wire/generated/tandem/v1/crew_pb.ts";
import { encodeMessage } from "../../wire/scheme-message.ts";
import { partyUser, workerUser } from "../crew-name.ts";
import { sealOf } from "../seal.ts";
import { SealedMessages } from "../sealed-messages.ts";
import { framed, FrameReader } from "./frames.ts";
import { helloSubject } from "./line-host.ts";
import { type LineIdentity, listenForLines, type ListeningLines, tlsDial } from "./tls-line.ts";

const crew = "shop";
const authority = await createAuthority("shop", 1);
const foreign = await createAuthority("foreign", 1);
const [party, worker] = [partyUser(crew), workerUser(crew)];

async function identity(name: string, from = authority, days = 1): Promise<LineIdentity> {
  return { crew, tls: { ...(await from.issue(name, [name], days)), authority: authority.certificate } };
}

const messages = new SealedMessages(sealOf(testKey, "now"));
const payload = Buffer.alloc(400_000, "payload");
const cleanUps: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0)) await cleanUp();
});

async function listening(name = party, from = authority): Promise<ListeningLines> {
  const made = await listenForLines({ host: "127.0.0.1", port: 0 }, await identity(name, from), 0);
  made.lines.share({ messages, partOf: () => payload });
  cleanUps.push(() => made.close());
  return made;
}

/** What a party sends to a worker that says hello, and asks twice. @throws any error */
async function answered(host: ListeningLines, who: LineIdentity): Promise<readonly Uint8Array[]> {
  const frames: Uint8Array[] = [];
  const reader = new FrameReader(1_000_000, (frame) => frames.push(frame));
  const [address] = host.lines.addresses();
  const stream = await tlsDial(who)(address, new AbortController().signal, (bytes) => reader.push(bytes));
  let failure: Error | null = null;
  stream.on("error", (error) => (failure = error));
  cleanUps.push(() => stream.destroy());
  stream.write(framed(messages.seal(CrewLineHelloSchema, helloSubject, { worker: "w" })));
  const question = framed(encodeMessage(CrewWantedSchema, { block: 1, round: 1, sequence: 1 }));
  stream.write(question);
  stream.write(question);
  while (frames.length < 2 && !stream.destroyed) await new Promise((resolve) => setTimeout(resolve, 5));
  if (frames.length < 2) throw failure ?? new Error("the party closed the connection");
  return frames;
}

test("a worker of the crew receives payloads", async () => {
  const frames = await answered(await listening(), await identity(worker));
  expect(frames.map((frame) => payload.equals(frame))).toEqual([true, true]);
});

test.each([
  ["a foreign certificate", worker, foreign, 1],
  ["an expired certificate", worker, authority, -0.02],
  ["the engine's certificate", "engine", authority, 1],
  ["the party's own certificate", party, authority, 1],
  ["the certificate of another crew's worker", workerUser("bank"), authority, 1],
] as const)("the party refuses %s", async (_, name, from, days) => {
  const host = await listening();
  const who = await identity(name, from, days);
  await expect(answered(host, who)).rejects.toThrow(/closed|alert|ECONNRESET|EPIPE|hang up|disconnected/i);
});

test.each([
  ["a foreign certificate", party, foreign],
  ["the engine's certificate", "engine", authority],
  ["a worker's certificate", worker, authority],
] as const)("a worker refuses a party with %s, and sends it nothing", async (_, name, from) => {
  const host = await listening(name, from);
  const proven: unknown[] = [];
  const { lines } = host;
  const accept = lines.accept.bind(lines);
  lines.accept = (stream, onProven) => accept(stream, () => (proven.push(stream), onProven?.()));
  const who = await identity(worker);
  await expect(answered(host, who)).rejects.toThrow(/altnames|unable to|self.signed|issuer/i);
  expect(proven).toEqual([]);
});

test("one that does not speak TLS is closed, and a stopped party is reported", async () => {
  const host = await listening();
  const [address] = host.lines.addresses();
  const socket = connect(Number(address.split(":")[1]), "127.0.0.1");
  socket.on("error", () => {}).resume();
  socket.write("GET / HTTP/1.1\r\n\r\n");
  await once(socket, "close");
  await host.close();
  await expect(answered(host, await identity(worker))).rejects.toThrow(/ECONNREFUSED/);
});

test("a port that is taken is named", async () => {
  const host = await listening();
  const port = Number(host.lines.addresses()[0].split(":")[1]);
  const again = listenForLines({ host: "127.0.0.1", port }, await identity(party), 0);
  await expect(again).rejects.toThrow(`cannot listen on 127.0.0.1:${port}: another program uses this port`);
});

test("a party that listens on all addresses is reached at those of its network cards", async () => {
  const host = await listenForLines({ host: "0.0.0.0", port: 0 }, await identity(party), 0);
  cleanUps.push(() => host.close());
  const addresses = host.lines.addresses();
  expect(addresses.length).toBeGreaterThan(0);
  for (const address of addresses) expect(address).toMatch(/^(?!0\.0\.0\.0)[\d.]+:[1-9]\d*$/);
});
