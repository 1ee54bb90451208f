import { describe, expect, test } from "vitest";
import type { ErrorCode } from "../base/error.ts";
import { intersectActive } from "./active-psi.ts";
import type { PsiOffer, PsiPeer } from "./psi-peer.ts";
import { fieldPrime as p, smallOrderCoordinates } from "./curve25519.ts";
import { hashDomain, hashToCurve } from "./hash-to-curve.ts";
import { InProcessPeer } from "../../test/world/psi/in-process-peer.ts";
import { DistinctIds } from "./normalise.ts";
import { PassivePsi, type PassivePsiOptions } from "./passive-psi.ts";

const five = DistinctIds.from(["a", "b", "c", "d", "e"]);
const offer: PsiOffer = { hashDomain, normalisations: [], activeIdCount: 5 };

function passive(options: PassivePsiOptions = {}): PassivePsi {
  return new PassivePsi(five, { threads: 0, ...options });
}

function begun(): PassivePsi {
  const psi = passive();
  psi.begin(offer);
  return psi;
}

/** All streams exchanged; only accept() is left. */
async function exchanged(): Promise<PassivePsi> {
  const psi = begun();
  await drain(psi.remask(stream(points("v", "w", "x", "y", "z"))));
  await drain(psi.maskedIds());
  return psi;
}

async function* stream<T>(...chunks: readonly T[]): AsyncGenerator<T> {
  yield* chunks;
}

async function drain<T>(chunks: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const chunk of chunks) all.push(chunk);
  return all;
}

function points(...ids: readonly string[]): Uint8Array {
  const all = new Uint8Array(32 * ids.length);
  ids.forEach((id, i) => hashToCurve(id, all, 32 * i));
  return all;
}

function encoded(u: bigint): Uint8Array {
  return Uint8Array.from({ length: 32 }, (_, i) => Number((u >> BigInt(8 * i)) & 255n));
}

async function expectRefused(outcome: Promise<unknown>, code: ErrorCode, message: RegExp): Promise<void> {
  await expect(outcome).rejects.toMatchObject({ code, message: expect.stringMatching(message) });
}

describe("begin", () => {
  test("another hash domain, other normalisations, too many ids or an invalid number", () => {
    const cases: [Partial<PsiOffer>, ErrorCode, RegExp][] = [
      [{ hashDomain: "tandem/psi/v1" }, "HANDSHAKE_MISMATCH", /hashes ids differently/],
      [{ normalisations: ["lowercase"] }, "HANDSHAKE_MISMATCH", /normalises ids differently: .*; here it is trim$/],
      [{ activeIdCount: 11 }, "PROTOCOL_STATE", /brings 11 ids; at most 10/],
      [{ activeIdCount: -1 }, "PROTOCOL_STATE", /number of ids is not valid/],
      [{ activeIdCount: 0.5 }, "PROTOCOL_STATE", /number of ids is not valid/],
    ];
    for (const [change, code, message] of cases) {
      const psi = passive({ activeIdCountMax: 10 });
      expect(() => psi.begin({ ...offer, ...change })).toThrow(
        expect.objectContaining({ code, message: expect.stringMatching(message) }),
      );
      expect(() => psi.begin(offer), "a failed run stays failed").toThrow(/failed/);
    }
    expect(passive({ activeIdCountMax: 5 }).begin(offer)).toEqual({ passiveIdCount: 5 });
  });
});

describe("the passive party refuses", () => {
  const good = points("v", "w", "x", "y", "z");

  test.each<[string, Uint8Array[], RegExp]>([
    ["half a point", [good.subarray(0, 31)], /31 bytes/],
    ["an empty chunk", [new Uint8Array(0)], /0 bytes/],
    ["an oversized chunk", [new Uint8Array(32 * 16_385)], /more than 16384 points/],
    ["too many points", [good, good.subarray(0, 32)], /more than the 5 points/],
    ["a truncated stream", [good.subarray(0, 64), good.subarray(64, 96)], /ended after 3 of 5/],
    ["no stream at all", [], /ended after 0 of 5/],
    ["p as a coordinate", [encoded(p)], /canonical/],
    ["p + 1 as a coordinate", [encoded(p + 1n)], /canonical/],
    ["bit 255", [encoded(9n + 2n ** 255n)], /canonical/],
  ])("%s", async (_, chunks, message) => {
    const psi = begun();
    await expectRefused(drain(psi.remask(stream(...chunks))), "PROTOCOL_STATE", message);
    await expectRefused(drain(psi.maskedIds()), "PROTOCOL_STATE", /failed/);
  });

  test("every point of small order, at any position", async () => {
    for (const u of smallOrderCoordinates) {
      for (const place of [0, 2, 4]) {
        const chunk = good.slice();
        chunk.set(encoded(u), 32 * place);
        await expectRefused(
          drain(begun().remask(stream(chunk))),
          "PROTOCOL_STATE",
          /the active party sent a point of small order/,
        );
      }
    }
    await expect(drain(begun().remask(stream(good)))).resolves.toHaveLength(1);
  });

  test("messages out of order, or twice", async () => {
    await expectRefused(drain(passive().remask(stream(good))), "PROTOCOL_STATE", /waiting/);
    await expectRefused(drain(passive().maskedIds()), "PROTOCOL_STATE", /waiting/);
    await expectRefused(passive().accept(0, stream()), "PROTOCOL_STATE", /waiting/);
    await expectRefused(drain(begun().maskedIds()), "PROTOCOL_STATE", /begun: .* out of order/);
    await expectRefused(begun().accept(0, stream()), "PROTOCOL_STATE", /begun/);
    const twice = begun();
    await drain(twice.remask(stream(good)));
    await expectRefused(drain(twice.remask(stream(good))), "PROTOCOL_STATE", /remasked/);
    const early = begun();
    await drain(early.remask(stream(good)));
    await expectRefused(early.accept(0, stream()), "PROTOCOL_STATE", /remasked/);
    const again = await exchanged();
    await expectRefused(drain(again.maskedIds()), "PROTOCOL_STATE", /exchanged/);
    const begunAgain = begun();
    expect(() => begunAgain.begin(offer)).toThrow(/begun/);
    const done = await exchanged();
    await done.accept(0, stream());
    await expectRefused(done.accept(0, stream()), "PROTOCOL_STATE", /finished/);
  });

  test("to continue after the reader left in the middle of a stream", async () => {
    const psi = begun();
    await drain(psi.remask(stream(good)));
    for await (const chunk of psi.maskedIds()) {
      expect(chunk.length).toBe(160);
      break;
    }
    await expectRefused(psi.accept(0, stream()), "PROTOCOL_STATE", /failed/);
  });

  test("masked ids while points still arrive, though all but one of them are answered", async () => {
    const psi = begun();
    const answers = psi.remask(stream(good.subarray(0, 128), good.subarray(128)));
    expect((await answers.next()).value).toHaveLength(128);
    await expectRefused(drain(psi.maskedIds()), "PROTOCOL_STATE", /remasking: .* out of order/);
    await expect(drain(answers)).rejects.toThrow(/closed|failed/);
  });

  test("no point that comes twice: it is answered twice with the same point", async () => {
    const psi = begun();
    const [answer] = await drain(psi.remask(stream(points("v", "v", "w", "v", "v"))));
    const answers = Array.from({ length: 5 }, (_, i) => Buffer.from(answer.subarray(32 * i, 32 * i + 32)));
    for (const i of [1, 3, 4]) expect(answers[i].equals(answers[0])).toBe(true);
    expect(answers[2].equals(answers[0])).toBe(false);
  });

  test("to answer a single point before it is admitted", async () => {
    const psi = passive({ admit: () => Promise.reject(new Error("not today")) });
    psi.begin(offer);
    await expect(drain(psi.remask(stream(good)))).rejects.toThrow("not today");
    await expectRefused(drain(psi.maskedIds()), "PROTOCOL_STATE", /failed/);
  });

  test.each<[string, number, number[][], RegExp]>([
    ["a repeated position", 2, [[3, 3]], /position 3 after 3/],
    ["a repeated position in another chunk", 2, [[3], [3]], /position 3 after 3/],
    ["descending positions", 2, [[3, 1]], /position 1 after 3/],
    ["a position out of range", 2, [[1, 5]], /position 5 of 5/],
    ["too few positions", 3, [[1, 2]], /ended after 2 of 3/],
    ["too many positions", 1, [[1, 2]], /more than the 1 positions/],
    ["an empty chunk", 1, [[]], /a chunk of 0 positions/],
    ["more than there are", 6, [], /more common ids than it brought/],
    ["a negative number", -1, [], /-1 common instances of 5/],
    ["half an instance", 0.5, [], /0.5 common instances/],
  ])("%s", async (_, count, chunks, message) => {
    const psi = await exchanged();
    await expectRefused(
      psi.accept(count, stream(...chunks.map((chunk) => Uint32Array.from(chunk)))),
      "PROTOCOL_STATE",
      message,
    );
    await expectRefused(psi.accept(0, stream()), "PROTOCOL_STATE", /failed/);
  });

  test("nothing that is right", async () => {
    const psi = await exchanged();
    const rows = await psi.accept(3, stream(Uint32Array.of(0), Uint32Array.of(2, 4)));
    expect(rows.length).toBe(3);
    expect([...rows]).toEqual([...rows].toSorted((a, b) => a - b)); // the file is in ascending order of ids
  });
});

describe("the active party refuses", () => {
  type Tampering = Partial<{ [Method in "remask" | "maskedIds"]: (chunk: Uint8Array) => Uint8Array[] }> & {
    idCount?: number;
  };

  /** An honest passive party, but for what it sends. */
  function tampered(tampering: Tampering): PsiPeer {
    const peer = new InProcessPeer("bank", passive());
    const change = async function* (
      chunks: AsyncIterable<Uint8Array>,
      how = (chunk: Uint8Array): Uint8Array[] => [chunk],
    ): AsyncGenerator<Uint8Array> {
      for await (const chunk of chunks) yield* how(chunk);
    };
    return {
      name: "bank",
      boundTo: "",
      begin: async (offered) => ({ passiveIdCount: tampering.idCount ?? (await peer.begin(offered)).passiveIdCount }),
      remask: (chunks) => change(peer.remask(chunks), tampering.remask),
      maskedIds: () => change(peer.maskedIds(), tampering.maskedIds),
      accept: (count, positions) => peer.accept(count, positions),
    };
  }

  const replaced =
    (u: bigint) =>
    (chunk: Uint8Array): Uint8Array[] => {
      chunk.set(encoded(u), 64);
      return [chunk];
    };
  const repeated = (chunk: Uint8Array): Uint8Array[] => {
    chunk.copyWithin(32, 0, 32);
    return [chunk];
  };

  test.each<[string, Tampering, RegExp]>([
    ["a negative count", { idCount: -1 }, /bank brings -1 ids/],
    ["a count beyond the limit", { idCount: 2 ** 27 }, /bank brings 134217728 ids/],
    [
      "too few re-masked points",
      { remask: (chunk) => [chunk.subarray(32)] },
      /bank sent a stream that ended after 4 of 5/,
    ],
    ["too many re-masked points", { remask: (chunk) => [chunk, chunk] }, /bank sent more than the 5/],
    ["re-masked bytes of another length", { remask: (chunk) => [chunk.subarray(1)] }, /159 bytes/],
    ["zero among the re-masked points", { remask: replaced(0n) }, /small order/],
    ["one re-masked point for two ids", { remask: repeated }, /one point for two different ids/],
    ["too few masked ids", { maskedIds: (chunk) => [chunk.subarray(32)] }, /ended after 4 of 5/],
    ["no masked ids", { maskedIds: () => [] }, /ended after 0 of 5/],
    ["the same masked id twice", { maskedIds: repeated }, /bank sent the same id twice/],
    ...smallOrderCoordinates.map((u, i): [string, Tampering, RegExp] => [
      `small order ${i} as a masked id`,
      { maskedIds: replaced(u) },
      /bank sent a point of small order/,
    ]),
  ])("%s", async (_, tampering, message) => {
    await expectRefused(intersectActive(five, [tampered(tampering)], { threads: 0 }), "PROTOCOL_STATE", message);
  });

  test("and aborts the calls to the other parties", async () => {
    const signals: (AbortSignal | undefined)[] = [];
    const slow: PsiPeer = {
      ...tampered({}),
      remask(_, { signal }) {
        signals.push(signal);
        return { [Symbol.asyncIterator]: () => ({ next: () => new Promise<never>(() => undefined) }) };
      },
    };
    await expectRefused(
      intersectActive(five, [slow, tampered({ remask: () => [] })], { threads: 0 }),
      "PROTOCOL_STATE",
      /ended after 0 of 5/,
    );
    expect(signals.map((signal) => signal?.aborted)).toEqual([true]);
  });

  test("nothing that is right", async () => {
    await expect(intersectActive(five, [tampered({})], { threads: 0 })).resolves.toMatchObject({
      rows: Uint32Array.of(0, 1, 2, 3, 4),
    });
  });
});
