/** Many calls in one stream: frames in pieces of any size, cancelled calls, and malicious callers. */
import { once } from "node:events";
import { create, toBinary } from "@bufbuild/protobuf";
import {
  type Client,
  type ConnectRouter,
  createClient,
  type HandlerContext,
  type ServiceImpl,
} from "@connectrpc/connect";
import { afterEach, describe, expect, test } from "vitest";
import { closeCallStreams, streamPair, streamTo, transportTo } from "../../../test/support/call-streams.ts";
import { collect, one } from "../../../test/support/streams.ts";
import { receivedBuffers, sentBuffers } from "../../base/reused-buffers.ts";
import { ActiveTreeFinishedSchema, PassiveParty } from "../../wire/generated/tandem/v1/tandem_pb.ts";
import { callsTransport } from "./calls-transport.ts";
import { failureBytes, failureFrom } from "./call-failure.ts";
import { frameBytes, type FrameKind, FrameReader, headerBytes } from "./frames.ts";
import type { ServedCalls } from "./serve-calls.ts";

afterEach(closeCallStreams);

const finishTree = "/tandem.v1.PassiveParty/FinishTree";
const bytesOf = (call: number, kind: FrameKind, ...payload: Uint8Array[]): Buffer =>
  Buffer.concat(frameBytes(call, kind, payload));
const opened = (call: number, path = finishTree): Buffer => bytesOf(call, "open", Buffer.from(path));
const routes =
  (calls: Partial<ServiceImpl<typeof PassiveParty>>) =>
  (router: ConnectRouter): void =>
    void router.service(PassiveParty, calls);

describe("frames", () => {
  const sent = Buffer.concat([
    opened(1),
    bytesOf(1, "message", Buffer.alloc(2000, 7), Buffer.alloc(3000, 7)),
    bytesOf(1, "message"),
    bytesOf(1, "end"),
    bytesOf(2, "cancel"),
  ]);

  test.each([1, 2, 8, 9, 10, 4999, 6000])("are assembled from pieces of %i bytes", (size) => {
    const reader = new FrameReader();
    const read: [number, FrameKind, number][] = [];
    for (let at = 0; at < sent.length; at += size)
      for (const { call, kind, payload } of reader.frames(sent.subarray(at, at + size)))
        read.push([call, kind, Buffer.isBuffer(payload) ? -1 : payload.length]);
    expect(read).toEqual([
      [1, "open", finishTree.length],
      [1, "message", 5000],
      [1, "message", 0],
      [1, "end", 0],
      [2, "cancel", 0],
    ]);
  });

  test.each([
    ["a kind that there is not", 5, 0],
    ["a message of more than 4 MiB", 1, (4 << 20) + 1],
    ["a path that is too long", 0, 129],
    ["an end with something in it", 2, 1],
  ])("%s is refused by its header", (_what, kind, length) => {
    const header = Buffer.alloc(headerBytes);
    header[4] = kind;
    header.writeUInt32LE(length, 5);
    expect(() => [...new FrameReader().frames(header)]).toThrow(/a frame of/);
  });

  test("a message that is too large is not sent", () => {
    expect(() => frameBytes(1, "message", [new Uint8Array(1), new Uint8Array(4 << 20)])).toThrow(/larger than agreed/);
  });

  test("a failure that cannot be decoded is still a failure, and its code is a valid header", () => {
    expect(failureFrom(Buffer.from([255])).message).toMatch(/cannot be decoded/);
    expect(failureFrom(failureBytes(new RangeError("row 42"))).message).not.toContain("42");
  });
});

describe("memory of large messages", () => {
  const size = 300_000;

  test("is used again when all parties have been sent the message", async () => {
    const received: Uint8Array[] = [];
    const client = (): Client<typeof PassiveParty> =>
      createClient(
        PassiveParty,
        transportTo(
          routes({
            histograms: async function* (nodes) {
              for await (const { scheme } of nodes) received.push(scheme.slice());
              yield {};
            },
          }),
        ),
      );
    const buffer = sentBuffers.take(size, 2);
    const scheme = new Uint8Array(buffer, 10).fill(7);
    const sendTo = (party: Client<typeof PassiveParty>): Promise<unknown> => collect(party.histograms(one({ scheme })));
    await sendTo(client());
    expect(sentBuffers.take(size)).not.toBe(buffer);
    await sendTo(client());
    await expect.poll(() => sentBuffers.has(buffer)).toBe(false);
    expect(sentBuffers.take(size)).toBe(buffer);
    expect(received).toEqual([scheme, scheme]);
  });

  test("is used again by the frame after it only if its reader has released it", () => {
    const reader = new FrameReader();
    const read = (byte: number): Uint8Array => {
      const [{ payload }] = reader.frames(bytesOf(1, "message", new Uint8Array(size).fill(byte)));
      return payload;
    };
    const [first, second] = [read(1), read(2)];
    expect(second.buffer).not.toBe(first.buffer);
    receivedBuffers.release(first.buffer);
    const third = read(3);
    expect(third.buffer).toBe(first.buffer);
    expect([second, third].map((payload) => new Set(payload))).toEqual([new Set([2]), new Set([3])]);
  });
});

describe("a caller", () => {
  test("receives each answer of concurrent calls", async () => {
    const waiting: (() => void)[] = [];
    const client = createClient(
      PassiveParty,
      transportTo(
        routes({
          finishTree: async ({ tree }) => {
            await new Promise<void>((resolve) => waiting.push(resolve));
            return { digest: Uint8Array.of(tree) };
          },
          predict: async function* ({ rowCount }) {
            for (let node = 0; node < rowCount; node++) yield { node };
          },
        }),
      ),
    );
    const calls = [3, 4, 5].map((tree) => client.finishTree({ tree }));
    expect((await collect(client.predict({ rowCount: 100 }))).map(({ node }) => node)).toEqual(
      Array.from({ length: 100 }, (_, i) => i),
    );
    for (const answer of waiting.reverse()) answer();
    expect((await Promise.all(calls)).map(({ digest }) => digest[0])).toEqual([3, 4, 5]);
  });

  test("that cancels a call ends it, and no other", async () => {
    let seenContext: HandlerContext | null = null;
    let begun = (): void => {};
    const underWay = new Promise<void>((resolve) => (begun = resolve));
    const client = createClient(
      PassiveParty,
      transportTo(
        routes({
          finishTree: async ({ tree }, context) => {
            if (tree === 1) return {};
            seenContext = context;
            void context.signal;
            begun();
            return new Promise((_resolve, reject) =>
              context.signal.addEventListener("abort", () => reject(new Error("gone"))),
            );
          },
        }),
      ),
    );
    const leave = new AbortController();
    const given = client.finishTree({ tree: 0 }, { signal: leave.signal });
    await underWay;
    leave.abort();
    await expect(given).rejects.toThrow(/cancelled/);
    await client.finishTree({ tree: 1 });
    expect((seenContext as HandlerContext | null)?.signal.aborted).toBe(true);
  });

  test("whose own messages fail gets that error, and the server stops", async () => {
    let ended: unknown = null;
    const client = createClient(
      PassiveParty,
      transportTo(
        routes({
          gradients: async (chunks) => {
            try {
              await collect(chunks);
            } catch (error) {
              ended = error;
            }
            return {};
          },
          finishTree: () => ({}),
        }),
      ),
    );
    async function* failing(): AsyncGenerator<{ tree: number }> {
      yield { tree: 0 };
      throw new RangeError("no more");
    }
    await expect(client.gradients(failing())).rejects.toThrow(/no more/);
    await client.finishTree({});
    expect(String(ended)).toMatch(/cancelled/);
  });

  test("stops sending when it is answered early", async () => {
    const client = createClient(PassiveParty, transportTo(routes({ gradients: () => Promise.resolve({}) })));
    let sent = 0;
    async function* endless(): AsyncGenerator<{ sequence: number }> {
      for (; ; sent++) {
        yield { sequence: sent };
        await new Promise((resolve) => setImmediate(resolve));
      }
    }
    await client.gradients(endless());
    await new Promise((resolve) => setTimeout(resolve, 20));
    const then = sent;
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(sent).toBe(then);
  });

  test.each<[string, Buffer]>([
    ["an answer to a call that was not made", bytesOf(2, "end")],
    ["a frame that only callers send", bytesOf(1, "cancel")],
    ["no frame at all", Buffer.alloc(headerBytes, 255)],
  ])("loses its calls by %s", async (_what, answer) => {
    const transport = callsTransport(() => streamPair((stream) => stream.once("data", () => stream.write(answer))));
    await expect(createClient(PassiveParty, transport).finishTree({})).rejects.toThrow(/call|answer|frame/);
  });

  test("fails a call whose answer is invalid, and continues", async () => {
    const answer = Buffer.concat([bytesOf(1, "message", Buffer.from([255])), bytesOf(2, "message"), bytesOf(2, "end")]);
    const transport = callsTransport(() => streamPair((stream) => stream.once("data", () => stream.write(answer))));
    const client = createClient(PassiveParty, transport);
    const [first, second] = await Promise.allSettled([client.finishTree({}), client.finishTree({})]);
    expect(first).toMatchObject({ status: "rejected", reason: { message: /parse binary/ as unknown } });
    expect(second.status).toBe("fulfilled");
  });
});

describe("a server", () => {
  const message = toBinary(ActiveTreeFinishedSchema, create(ActiveTreeFinishedSchema, { tree: 7 }));

  async function answered(...frames: Buffer[]): Promise<[number, FrameKind][]> {
    const stream = await streamTo(routes({ finishTree: () => ({}) }));
    stream.write(Buffer.concat([...frames, opened(90), bytesOf(90, "message", message), bytesOf(90, "end")]));
    const reader = new FrameReader();
    const read: [number, FrameKind][] = [];
    stream.on("data", (piece: Buffer) => {
      for (const { call, kind } of reader.frames(piece)) read.push([call, kind]);
      if (read.some(([call, kind]) => call === 90 && kind === "end")) stream.close();
    });
    await once(stream, "close");
    return read;
  }
  const before = (frames: (call: number) => Buffer[]): Buffer[] =>
    Array.from({ length: 89 }, (_, i) => frames(i + 1)).flat();

  test("reports unknown calls, invalid messages and extra messages, call by call", async () => {
    const read = await answered(
      ...before((call) => {
        if (call === 1) return [opened(1, "/tandem.v1.PassiveParty/Nothing"), bytesOf(1, "end")];
        if (call === 2) return [opened(2), bytesOf(2, "message", Buffer.from([255]))];
        if (call === 3) return [opened(3), bytesOf(3, "end")];
        if (call === 4) return [opened(4), bytesOf(4, "message", message), bytesOf(4, "message", message)];
        return [opened(call), bytesOf(call, "message", message), bytesOf(call, "end"), bytesOf(call, "message")];
      }),
    );
    for (const call of [1, 2, 3, 4]) expect(read.filter(([id]) => id === call)).toEqual([[call, "failure"]]);
    for (const call of [5, 89])
      expect(read.filter(([id]) => id === call)).toEqual([
        [call, "message"],
        [call, "end"],
      ]);
  });

  test.each<[string, Buffer]>([
    ["a call out of order", opened(2)],
    ["a message of a call that was not opened", bytesOf(1, "message")],
    ["a failure", Buffer.concat([opened(1), bytesOf(1, "failure", failureBytes(new Error("x")))])],
    ["more calls than may be open", Buffer.concat(Array.from({ length: 129 }, (_, i) => opened(i + 1)))],
  ])("hangs up on %s", async (_what, frames) => {
    expect(await answered(frames)).toEqual([]);
  });

  test("does not buffer unread messages without limit, empty ones included", async () => {
    const stream = await streamTo(routes({ gradients: () => new Promise(() => {}) }));
    stream.write(opened(1, "/tandem.v1.PassiveParty/Gradients"));
    const some = Buffer.concat(Array.from({ length: 10_000 }, () => bytesOf(1, "message")));
    let sent = 0;
    const send = (): void => void (sent < 40 && stream.write(some, () => (sent++, send())));
    send();
    for (let before = -1, same = 0; same < 10; before = sent) {
      await new Promise((resolve) => setTimeout(resolve, 10));
      same = sent === before && sent > 0 ? same + 1 : 0;
    }
    // 64 bytes are counted for each: some 65,000 are buffered, and as many as the window holds.
    expect(sent).toBeGreaterThan(5);
    expect(sent).toBeLessThan(30);
  });

  test("that closes ends the stream when its calls are answered", async () => {
    let answer = (): void => {};
    const calls: ServedCalls[] = [];
    let begun = (): void => {};
    const underWay = new Promise<void>((resolve) => (begun = resolve));
    const finishing = (): Promise<object> =>
      new Promise((resolve) => {
        answer = () => resolve({});
        begun();
      });
    const transport = callsTransport(() =>
      streamTo(routes({ finishTree: finishing }), (served) => void calls.push(served)),
    );
    const client = createClient(PassiveParty, transport);
    const last = client.finishTree({});
    await underWay;
    calls[0].close();
    answer();
    await last;
    await new Promise((resolve) => setTimeout(resolve, 20));
    await expect(client.finishTree({})).rejects.toThrow(/connection was lost/);
  });
});
