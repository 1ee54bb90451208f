/** What the messages show, and what a party that deviates achieves. */
import { beforeAll, describe, expect, it } from "vitest";
import {
  compared,
  converse,
  dealt,
  openSessions,
  type PlainNode,
  plainWinner,
  randomNode,
  type Sessions,
  termsOf,
  type Traffic,
} from "../../../test/support/compared-candidates.ts";
import { expectError } from "../../../test/support/expect-error.ts";
import { TandemError } from "../../base/error.ts";
import { derivedRandom, derivedSecretBytes, osRandom, SeededRandom } from "../../base/random.ts";
import type { MaximumKernel } from "./kernel.ts";
import type { ActiveMaximum, KeptWinners, PassiveMaximum } from "./maximum.ts";
import { loadNativeMaximum } from "./native-kernel.ts";
import { portableMaximumKernel } from "./portable-kernel.ts";
import { activeMaximumSetUp, passiveMaximumSetUp } from "./session.ts";
import { placeFrom, winnersAgain } from "./winners.ts";

const [best = portableMaximumKernel] = loadNativeMaximum(1).kernels.values();
/** A test may change a part of it. */
const kernel: MaximumKernel = { ...best };
const bits = 16;
// Eight nodes of one candidate: every part of a message has whole bytes, so that no bit is left over.
const nodes = Array.from({ length: 8 }, (_, i) => randomNode(new SeededRandom(i), i, bits, 1));

let sessions: Sessions;
let batch = 0;
beforeAll(async () => {
  sessions = await openSessions(kernel);
});

function begun(some: readonly PlainNode[] = nodes, on = sessions): { active: ActiveMaximum; passive: PassiveMaximum } {
  const sums = dealt(some, bits, new SeededRandom("shares"));
  batch += 1;
  return {
    active: on.active.begin(batch, termsOf(some, bits), { totals: some, sums: sums.active }),
    passive: on.passive.begin(batch, termsOf(some, bits), { sums: sums.passive }),
  };
}

/** Messages for the same shares of the same sums, in `count` batches. */
async function runs(count: number): Promise<Uint8Array[][]> {
  const messages: Uint8Array[][] = [];
  for (let i = 0; i < count; i++) {
    const { active, passive } = begun();
    const { requests, answers } = await converse(active, passive);
    messages.push([...requests, ...answers]);
  }
  return messages;
}

/** Bits of messages that are the same in all runs. */
function constantBits(all: readonly Uint8Array[][]): number {
  let count = 0;
  for (const [message, bytes] of all[0].entries())
    for (let i = 0; i < bytes.length; i++) {
      let [ones, zeros] = [255, 255];
      for (const run of all) {
        ones &= run[message][i];
        zeros &= ~run[message][i];
      }
      count += (ones | zeros).toString(2).replaceAll("0", "").length;
    }
  return count;
}

function setBits(bytes: Uint8Array): number {
  return bytes.reduce((sum, byte) => sum + byte.toString(2).replaceAll("0", "").length, 0);
}

describe("messages", () => {
  it("are uniform for the same input: no bit stays, and half of each message's bits are set", async () => {
    const all = await runs(44);
    expect(constantBits(all)).toBe(0);
    for (const [i, { length }] of all[0].entries()) {
      const total = all.reduce((sum, run) => sum + setBits(run[i]), 0);
      const bitCount = 8 * length * all.length;
      // Seven standard deviations.
      expect(Math.abs(total - bitCount / 2)).toBeLessThanOrEqual(3.5 * Math.sqrt(bitCount));
    }
  });

  it("would not be, if a product lacked its mask", async () => {
    const corrections: MaximumKernel["corrections"] = (job, _secret, numbers) =>
      best.corrections(job, new Uint32Array(4), numbers);
    Object.assign(kernel, { corrections });
    const all = await runs(24);
    Object.assign(kernel, best);
    expect(constantBits(all)).toBeGreaterThan(100);
  });

  it("of two batches with the same input have no word in common; with the same coins they have all", async () => {
    const wordsOf = (run: readonly Uint8Array[]): string[] =>
      run.flatMap((bytes) => {
        const hex = Buffer.from(bytes).toString("hex");
        return hex.match(/.{16}/gu) ?? [];
      });
    const [one, two] = (await runs(2)).map(wordsOf);
    const seen = new Set(one);
    expect(two.filter((word) => seen.has(word))).toEqual([]);
    const repeated: Traffic[] = [];
    for (let i = 0; i < 2; i++) {
      const secret = new Uint8Array(derivedSecretBytes);
      const same = await openSessions(kernel, { active: derivedRandom(secret, 1), passive: derivedRandom(secret, 2) });
      repeated.push((await compared(same, 1, nodes, bits, new SeededRandom(1))).traffic);
    }
    expect(repeated[1]).toEqual(repeated[0]);
  });

  it("have a length that depends on the terms only", async () => {
    const other = nodes.map((node, i) => ({ ...randomNode(new SeededRandom(100 + i), i + 1, bits, 1), x: node.x }));
    const [one, two] = [begun(), begun(other)];
    const lengths = ({ requests, answers }: Traffic): number[] => [...requests, ...answers].map(({ length }) => length);
    expect(lengths(await converse(one.active, one.passive))).toEqual(lengths(await converse(two.active, two.passive)));
  });
});

it("shares of places are uniform: neither party alone knows a winner", async () => {
  const node = { gradient: 0n, hessian: 100n, minimum: 1n, x: [1n, 2n, 90n, 3n], y: [50n, 50n, 50n, 50n] };
  const many = Array<PlainNode>(400).fill(node);
  const { active, passive } = begun(many);
  await converse(active, passive);
  const counts = [0, 0, 0, 0];
  for (const [i, found] of active.result().entries()) {
    expect(found).toBeDefined();
    counts[found?.placeShare ?? 0] += 1;
    expect(passive.placeOf(i, found?.placeShare ?? 0)).toBe(2);
  }
  // Seven standard deviations around 100.
  for (const count of counts) expect(Math.abs(count - 100)).toBeLessThan(7 * Math.sqrt(75));
});

describe("a batch that was opened", () => {
  const seal = { key: new Uint8Array(32).fill(7), context: Buffer.from("tree 3, nodes 1 and 2") };

  async function kept(): Promise<{ readonly found: ReturnType<ActiveMaximum["result"]>; readonly kept: KeptWinners }> {
    const sums = dealt(nodes, bits, new SeededRandom("shares"));
    batch += 1;
    const all: KeptWinners[] = [];
    const active = sessions.active.begin(batch, termsOf(nodes, bits), { totals: nodes, sums: sums.active, seal });
    const passive = sessions.passive.begin(batch, termsOf(nodes, bits), {
      sums: sums.passive,
      keep: async (winners) => void all.push(winners),
    });
    await converse(active, passive);
    expect(all).toHaveLength(1);
    return { found: active.result(), kept: all[0] };
  }

  it("is repeated from what the passive party has kept", async () => {
    const { found, kept: winners } = await kept();
    const bytes = Buffer.concat([winners.sealed, winners.opened]);
    expect(winnersAgain(termsOf(nodes, bits), bytes, seal)).toEqual(found);
    for (const [node, winner] of found.entries())
      if (winner !== undefined)
        expect(placeFrom(termsOf(nodes, bits), winners.places, node, winner.placeShare)).toBe(
          plainWinner(nodes[node], bits),
        );
  });

  it("cannot be repeated with another key, for other nodes, or with a sealed bit changed", async () => {
    const { kept: winners } = await kept();
    const bytes = Buffer.concat([winners.sealed, winners.opened]);
    const terms = termsOf(nodes, bits);
    const again = (changed: Uint8Array, other: Partial<typeof seal> = {}) =>
      expectError(async () => winnersAgain(terms, changed, { ...seal, ...other }), "PROTOCOL_STATE", /repeated/);
    await again(bytes, { key: new Uint8Array(32) });
    await again(bytes, { context: Buffer.from("tree 3, nodes 2 and 1") });
    await again(bytes.subarray(1));
    for (let at = 0; at < winners.sealed.length; at++)
      await again(bytes.map((byte, i) => (i === at ? byte ^ (1 << (at % 8)) : byte)));
  });

  it("opens 2B + 1 bits of each node, in the last answer", async () => {
    const { kept: winners } = await kept();
    expect(winners.opened).toHaveLength(Math.ceil((nodes.length * (2 * bits + 1)) / 8));
    const { active, passive } = begun();
    const { answers } = await converse(active, passive);
    expect(answers.at(-1)).toHaveLength(winners.opened.length);
  });

  it("is not opened before it is kept", async () => {
    const sums = dealt(nodes, bits, new SeededRandom("shares"));
    batch += 1;
    const active = sessions.active.begin(batch, termsOf(nodes, bits), { totals: nodes, sums: sums.active, seal });
    const failing = sessions.passive.begin(batch, termsOf(nodes, bits), {
      sums: sums.passive,
      keep: () => Promise.reject(new TandemError("CHECKPOINT", "the disk is full")),
    });
    await expectError(() => converse(active, failing), "CHECKPOINT");
    expect(failing.isFinished).toBe(false);
    await expectError(async () => active.result(), "PROTOCOL_STATE", /not expected now/);
  });
});

describe("a party that deviates", () => {
  /** Plays until one message, which is changed. */
  async function changed(
    at: number,
    toPassive: boolean,
    change: (bytes: Uint8Array) => Uint8Array,
    on = sessions,
  ): Promise<ActiveMaximum> {
    const { active, passive } = begun(nodes, on);
    let request: Uint8Array | undefined = await active.first();
    for (let i = 0; request !== undefined; i++) {
      const answer: Uint8Array = await passive.answer(toPassive && i === at ? change(request) : request);
      request = await active.next(!toPassive && i === at ? change(answer) : answer);
    }
    return active;
  }

  it.each([0, 1, 8])("is refused with message %i if it is too short or too long", async (at) => {
    for (const toPassive of [true, false]) {
      await expectError(() => changed(at, toPassive, (bytes) => bytes.subarray(0, -1)), "PROTOCOL_STATE", /expected/);
      await expectError(
        () => changed(at, toPassive, (bytes) => Buffer.concat([bytes, bytes.subarray(0, 1)])),
        "PROTOCOL_STATE",
        /expected/,
      );
      await expectError(() => changed(at, toPassive, () => new Uint8Array(0)), "PROTOCOL_STATE", /expected/);
    }
  });

  it("ends the session with a matrix of transfers that is inconsistent, in either direction", async () => {
    for (const toPassive of [true, false]) {
      const own = await openSessions(kernel);
      const flip = (bytes: Uint8Array): Uint8Array => bytes.map((byte, i) => (i === 40 ? byte ^ 1 : byte));
      await expectError(() => changed(0, toPassive, flip, own), "PROTOCOL_STATE", /inconsistent/);
      const { active, passive } = own;
      const sums = dealt(nodes, bits, new SeededRandom(1));
      const asked = (): unknown =>
        toPassive
          ? passive.begin(1000, termsOf(nodes, bits), { sums: sums.passive })
          : active.begin(1000, termsOf(nodes, bits), { totals: nodes, sums: sums.active });
      await expectError(async () => asked(), "PROTOCOL_STATE", /open a new session/);
    }
  });

  it("falsifies results with other messages, and nothing else", async () => {
    for (let at = 1; at < 9; at += 3)
      for (const toPassive of [true, false]) {
        const invert = (bytes: Uint8Array): Uint8Array => bytes.map((byte) => ~byte);
        expect((await changed(at, toPassive, invert)).result()).toHaveLength(nodes.length);
      }
  });

  it("cannot use a batch number twice, nor ask after the end, before the beginning, or twice at once", async () => {
    const { active, passive } = begun();
    await expectError(async () => active.result(), "PROTOCOL_STATE", /not expected now/);
    await expectError(async () => passive.placeOf(0, 0), "PROTOCOL_STATE", /not expected now/);
    await expectError(() => active.next(new Uint8Array(0)), "PROTOCOL_STATE", /not expected now/);
    const [first] = (await converse(active, passive)).requests;
    expect(passive.isFinished).toBe(true);
    await expectError(() => passive.answer(first), "PROTOCOL_STATE", /not expected now/);
    await expectError(() => active.first(), "PROTOCOL_STATE", /not expected now/);
    const sums = dealt(nodes, bits, new SeededRandom(1));
    for (const used of [batch, 1, 0, 1.5])
      await expectError(
        async () => sessions.passive.begin(used, termsOf(nodes, bits), { sums: sums.passive }),
        "PROTOCOL_STATE",
        /used before/,
      );
    const next = begun();
    const request = await next.active.first();
    const answering = next.passive.answer(request);
    await expectError(() => next.passive.answer(request), "PROTOCOL_STATE", /not expected now/);
    await answering;
  });

  it("gets no place for a share or a node that do not exist", async () => {
    const three = [{ ...nodes[1], x: [1n, 2n, 3n], y: [1n, 1n, 1n] }];
    const { active, passive } = begun(three);
    await converse(active, passive);
    const places = [0, 1, 2, 3].map((share) => {
      try {
        return passive.placeOf(0, share);
      } catch (error) {
        return String(error);
      }
    });
    expect(places.filter((place) => typeof place === "number").toSorted((a, b) => Number(a) - Number(b))).toEqual([
      0, 1, 2,
    ]);
    expect(places.filter((place) => typeof place === "string")).toHaveLength(1);
    for (const [node, share] of [
      [0, 4],
      [0, -1],
      [0, 0.5],
      [1, 0],
      [-1, 0],
    ])
      await expectError(async () => passive.placeOf(node, share), "PROTOCOL_STATE", /place/);
  });

  it("is refused in the set-up for points and sums that are not valid", async () => {
    for (const at of [0, 1])
      for (const change of [
        (bytes: Uint8Array): Uint8Array => bytes.subarray(0, -1),
        (): Uint8Array => new Uint8Array(0),
      ]) {
        const active = activeMaximumSetUp({ kernel, random: osRandom });
        const passive = passiveMaximumSetUp({ kernel, random: osRandom });
        const playing = async (): Promise<void> => {
          let request: Uint8Array | undefined = await active.first();
          for (let i = 0; request !== undefined; i++)
            request = await active.next(await passive.answer(i === at ? change(request) : request));
        };
        await expectError(playing, "PROTOCOL_STATE", /expected/);
        await expectError(async () => passive.session(), "PROTOCOL_STATE", /not expected now/);
      }
  });

  it("is refused terms out of range", async () => {
    const sums = dealt([], bits, new SeededRandom(1)).passive;
    for (const terms of [
      { bits: 11, nodes: [] },
      { bits: 33, nodes: [] },
      { bits: 12.5, nodes: [] },
      { bits, nodes: [{ candidates: 0 }] },
      { bits, nodes: [{ candidates: 2 ** 15 + 1 }] },
    ])
      await expectError(async () => sessions.passive.begin(++batch, terms, { sums }), "PROTOCOL_STATE", /compared/);
  });
});
