/** A worker's line and its party's host, in memory: what is refused, and what a broken line does. */
import { createHash } from "node:crypto";
import { afterEach, expect, test } from "vitest";
import { testKey } from "../../../test/support/crews.ts";
import { type LineTrouble, MemoryLines, streamPair } from "../../../test/world/crews/memory-lines.ts";
import { TickingClock } from "../../../test/world/crews/ticking-clock.ts";
import { CrewLineHelloSchema, type CrewWanted, CrewWantedSchema } from "../../wire/generated/tandem/v1/crew_pb.ts";
import { encodeMessage } from "../../wire/scheme-message.ts";
import { sealOf } from "../seal.ts";
import { SealedMessages } from "../sealed-messages.ts";
import { framed, frameHeader } from "./frames.ts";
import { Line, type LineOptions } from "./line.ts";
import { helloSubject, LineHost } from "./line-host.ts";

const messagesOf = (epoch: string, key = testKey): SealedMessages => new SealedMessages(sealOf(key, epoch));
const partOf = ({ block, round, sequence }: Pick<CrewWanted, "block" | "round" | "sequence">): Uint8Array =>
  Buffer.alloc(1000 + sequence, `${block} ${round} ${sequence}`);
const said = (sequence: number) => ({
  round: 1,
  sequence,
  size: 1000 + sequence,
  digest: createHash("sha256")
    .update(partOf({ block: 3, round: 1, sequence }))
    .digest(),
});

const cleanUps: (() => void)[] = [];
afterEach(() => cleanUps.splice(0).forEach((cleanUp) => cleanUp()));

function world(trouble?: LineTrouble, shared = "now") {
  const lines = new MemoryLines(trouble);
  const { lines: host } = lines.host();
  host.share({ messages: messagesOf(shared), partOf: (wanted) => (wanted.sequence < 90 ? partOf(wanted) : null) });
  const states: (string | null)[] = [];
  const line = (options: Partial<LineOptions> = {}): Line => {
    const made = new Line({
      addresses: host.addresses(),
      dial: lines.dialler().dial,
      messages: messagesOf("now"),
      worker: "w",
      clock: new TickingClock(),
      onState: (why) => states.push(why),
      ...options,
    });
    cleanUps.push(() => made.close());
    return made;
  };
  return { lines, host, states, line };
}

const all = Array.from({ length: 40 }, (_, i) => i);
const fetchAll = (line: Line): Promise<(Uint8Array | null)[]> =>
  Promise.all(all.map((sequence) => line.fetch(3, said(sequence))));
const expected = all.map((sequence) => partOf({ block: 3, round: 1, sequence }));

test("payloads arrive, many at once; one that the party does not have is reported", async () => {
  const { line, states } = world();
  const one = line();
  expect((await fetchAll(one)).map((bytes) => bytes && Buffer.from(bytes))).toEqual(expected);
  expect(await one.fetch(3, said(90))).toBeNull();
  expect(states).toEqual([null]);
});

/** Happens at some of the places, and not at others. */
function sometimes(fault: string, every: number): LineTrouble {
  let count = 0;
  return (happening) => happening === fault && count++ % every === every - 1;
}

test.each(["line cut", "line changed bytes"])(
  "%s now and then: each payload arrives as the log says",
  async (fault) => {
    const { line, lines, states } = world(sometimes(fault, 7));
    expect((await fetchAll(line())).map((bytes) => bytes && Buffer.from(bytes))).toEqual(expected);
    expect(lines.opened).toBeGreaterThan(1);
    expect(states).toEqual([null]);
  },
);

test.each([
  ["line cut", /party:1: the party closed the connection/],
  ["line changed bytes", /party:1: the party sent other bytes than its log says/],
  ["line refused", /party:1: refused/],
] as const)("%s always: the worker gives it up, and says why once", async (fault, why) => {
  const { line, states } = world((happening) => happening === fault);
  const one = line();
  expect(await fetchAll(one)).toEqual(all.map(() => null));
  expect(await one.fetch(3, said(1))).toBeNull();
  expect(states.filter((state) => state !== null)).toEqual([expect.stringMatching(why)]);
});

test("a payload of another length, or that fits another digest, is refused", async () => {
  const { line } = world();
  expect(await line().fetch(3, { ...said(5), size: 1004 })).toBeNull();
  expect(await line().fetch(3, { ...said(5), digest: said(6).digest })).toBeNull();
  expect(await line().fetch(4, said(5))).toBeNull();
});

test("workers of another epoch or with another crew.key get nothing", async () => {
  const { line, host } = world();
  for (const messages of [messagesOf("before"), messagesOf("now", new Uint8Array(32).fill(8))])
    expect(await line({ messages }).fetch(3, said(1))).toBeNull();
  const own = line();
  expect(await own.fetch(3, said(1))).not.toBeNull();
  // The next attempt of the party ends the lines of this one.
  host.share({ messages: messagesOf("next"), partOf });
  expect(await own.fetch(3, said(2))).toBeNull();
  expect(await line({ messages: messagesOf("next") }).fetch(3, said(1))).not.toBeNull();
  host.close();
  expect(await line({ messages: messagesOf("next") }).fetch(3, said(1))).toBeNull();
});

test("one of several addresses suffices", async () => {
  const { line, host } = world();
  expect(await line({ addresses: ["party:8", ...host.addresses(), "party:9"] }).fetch(3, said(1))).not.toBeNull();
});

const hello = messagesOf("now").seal(CrewLineHelloSchema, helloSubject, { worker: "w" });
const question = encodeMessage(CrewWantedSchema, { block: 3, round: 1, sequence: 1 });

test.each([
  ["a question before the hello", [framed(question)]],
  ["a hello that is sealed for another subject", [framed(messagesOf("now").seal(CrewLineHelloSchema, "epoch", {}))]],
  ["nothing in a frame", [frameHeader(0)]],
  ["a frame of four gigabytes", [frameHeader(2 ** 32 - 1)]],
  ["a long frame after the hello", [framed(hello), frameHeader(1025)]],
  ["junk after the hello", [framed(hello), framed(Buffer.alloc(40, 255))]],
])("the party closes a connection that sends %s, and sends nothing", async (_, frames) => {
  const { host } = world();
  const [here, there] = streamPair();
  const received: unknown[] = [];
  here.on("data", (bytes) => received.push(bytes)).on("error", () => {});
  host.accept(there);
  for (const frame of frames) here.write(frame);
  await new Promise((resolve) => here.once("close", resolve));
  expect(received).toEqual([]);
});

test.each([
  ["a frame that is too long", [frameHeader(1_000_001)]],
  ["more answers than questions", [framed(partOf({ block: 3, round: 1, sequence: 2 })), framed(Buffer.alloc(9))]],
])("the worker closes a connection over which a party sends %s", async (_, frames) => {
  const { line } = world();
  let closed = 0;
  const dial: LineOptions["dial"] = async (_address, _signal, onBytes) => {
    const [here, there] = streamPair();
    here.on("data", onBytes).on("close", () => closed++);
    there.resume();
    for (const frame of frames) there.write(frame);
    return here;
  };
  expect(await line({ dial }).fetch(3, said(1))).toBeNull();
  expect(closed).toBeGreaterThan(0);
});

test("a party that answers nothing is taken for lost", async () => {
  const { line, states } = world();
  const dial: LineOptions["dial"] = async () => streamPair()[0];
  expect(await line({ dial }).fetch(3, said(1))).toBeNull();
  expect(states).toEqual([null, expect.stringContaining("no answer for 10 s")]);
});

test("a worker that reads nothing makes the party wait", async () => {
  const { host } = world();
  const [here, there] = streamPair();
  host.accept(there);
  here.write(framed(hello));
  for (let i = 0; i < 50; i++) here.write(framed(question));
  for (let turn = 0; turn < 200; turn++) await new Promise((resolve) => setImmediate(resolve));
  expect(there.writableLength).toBeLessThan(2 * (1001 + 4));
  here.destroy();
});

test("a host that is not shared accepts no worker", async () => {
  const [here, there] = streamPair();
  new LineHost(() => [], 0).accept(there);
  here.resume().write(framed(hello));
  await new Promise((resolve) => here.once("close", resolve));
  expect(there.destroyed).toBe(true);
});
