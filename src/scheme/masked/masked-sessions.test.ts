/** Sessions of masked scoring at a passive party: lost ones, used batches, refused openings, and bounds. */
import { create } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { expectError } from "../../../test/support/expect-error.ts";
import { drawn, federation, leaf, MaskedParty, plainMargins, split } from "../../../test/support/masked-parties.ts";
import { osRandom } from "../../base/random.ts";
import {
  ActiveMaskOpenSchema,
  ActiveMaskStepSchema,
  MaskRowsSchema,
  TransferOpenSchema,
} from "../../wire/generated/tandem/v1/masked_pb.ts";
import { encodeMessage } from "../../wire/scheme-message.ts";
import { messageBytesMax } from "../../wire/version.ts";
import { MaskedAnswerer, type MaskedModel, MaskedSessions, sessionsBytesMax } from "./masked-answerer.ts";
import { defaultMasking } from "./masking.ts";
import { Products } from "./products.ts";

describe("sessions", () => {
  const trees = [
    [split(1, 1), leaf(1), leaf(2)],
    [split(1, 2), split(3, 1), leaf(4), leaf(8), leaf(16)],
  ];
  const goes = drawn("sessions");

  test("one that a party has lost is opened anew, also in the middle of a batch", async () => {
    const { score, parties, ready } = federation(trees, goes);
    const expected = plainMargins(trees, 1, 0.5, 10, goes);
    expect((await score(0, 10)).margins).toEqual(expected);
    parties[1].forget();
    expect((await score(0, 10)).margins).toEqual(expected);
    const finish = parties[0].maskStep.bind(parties[0]);
    let calls = 0;
    parties[0].maskStep = (request) => {
      if (++calls === 2) parties[0].forget();
      return finish(request);
    };
    const both = await Promise.all([score(0, 10), score(0, 10), score(0, 10)]);
    expect(both.map(({ margins }) => margins)).toEqual([expected, expected, expected]);
    await ready();
    expect(parties.map(({ openings }) => openings)).toEqual([3, 3]);
    parties[0].maskStep = async (request) => {
      parties[0].forget();
      return finish(request);
    };
    await expectError(() => score(0, 1), "PARTY_LOST", /lost its session of masked scoring 3 times/);
  });

  test("an active party that impersonates one party to the other reads the conditions of the other", async () => {
    // A score is not zero only if both parties go left.
    const joint = [[split(1, 1), split(3, 2), leaf(0), leaf(1), leaf(0)]];
    const rows = 40;
    const conditions = (owner: number) => Array.from({ length: rows }, (_, row) => goes(owner, 0, owner - 1, row));
    for (const [impersonated, other] of [
      [1, 2],
      [2, 1],
    ]) {
      const [honest, relayed] = [federation(joint, goes, { base: 0 }), federation(joint, goes, { base: 0 })];
      relayed.parties[impersonated - 1] = new MaskedParty(impersonated, joint, () => true);
      const read = async ({ score }: typeof honest) =>
        [...(await score(0, rows)).margins].map((margin) => margin === 1);
      const own = conditions(impersonated);
      expect(await read(honest)).toEqual(conditions(other).map((isLeft, row) => isLeft && own[row]));
      expect(await read(relayed)).toEqual(conditions(other));
    }
  });

  test("an inconsistent matrix fails the request, and the next one opens a new session", async () => {
    const { score, parties } = federation(trees, goes);
    const step = parties[0].maskStep.bind(parties[0]);
    parties[0].maskStep = async (request) => {
      const answer = await step(request);
      const isBegun = request.rows !== undefined;
      if (isBegun) answer.scheme = answer.scheme.map((byte, i) => (i === 600 ? byte ^ 1 : byte));
      return answer;
    };
    await expectError(() => score(0, 10), "PROTOCOL_STATE", /matrix of oblivious transfers is inconsistent/);
    parties[0].maskStep = step;
    expect((await score(0, 10)).margins).toEqual(plainMargins(trees, 1, 0.5, 10, goes));
    expect(parties.map(({ openings }) => openings)).toEqual([2, 2]);
  });

  test("a batch number is used once, also after a loss; only a batch under way can be finished", async () => {
    const { parties, score } = federation(trees, goes);
    const [party] = parties;
    const step = party.maskStep.bind(party);
    const requests: Parameters<typeof step>[0][] = [];
    party.maskStep = (request) => {
      requests.push(request);
      return step(request);
    };
    await score(0, 3);
    const [begin, finish] = requests
      .filter(({ batch = 0 }) => batch > 0)
      .map((one) => create(ActiveMaskStepSchema, one));
    const rowsOf = (ids: string[]) => create(MaskRowsSchema, { ids });
    await expectError(() => step(begin), "PROTOCOL_STATE", /used before/);
    await expectError(() => step({ ...begin, rows: rowsOf(["7"]) }), "PROTOCOL_STATE", /used before/);
    await expectError(() => step(finish), "PROTOCOL_STATE", /not under way/);
    expect(await step({ ...begin, session: osRandom.fill(new Uint8Array(16)) })).toMatchObject({ expired: true });
    await step({ ...begin, batch: 100 });
    await expectError(
      () => step({ ...finish, batch: 100, scheme: new Uint8Array(3) }),
      "PROTOCOL_STATE",
      /no Transfer/,
    );
    for (let batch = 101; batch < 106; batch++) await step({ ...begin, batch });
    await expectError(() => step({ ...finish, batch: 101 }), "PROTOCOL_STATE", /not under way/); // the oldest made room
    const ids = Array.from({ length: 200_000 }, () => "1");
    await expectError(() => step({ ...begin, batch: 200, rows: rowsOf(ids) }), "PROTOCOL_STATE", /do not fit/);
    await expectError(() => step({ session: begin.session, scheme: Uint8Array.of(1) }), "PROTOCOL_STATE", /is set up/);
  });

  const model: MaskedModel = {
    splitCount: 2,
    idsMax: 1000,
    outputsMax: 1,
    scoreNoise: 0,
    admit: () => Promise.resolve(),
    rowCount: ({ ids }) => ids.length,
    outcomes: () => Promise.reject(new Error("no row is asked about")),
  };
  const open = {
    masking: defaultMasking.name,
    literals: [1, 0, 3],
    lengths: [1, 2],
    runs: [2],
    scheme: defaultMasking.active(new Products({ trees: [trees[0]] })).opening(0),
  };
  const openingOf = (width: number, limbs: number): Uint8Array =>
    encodeMessage(TransferOpenSchema, { party: 1, width, limbs, senders: [], receivers: [] });
  test("with noise a sum has one limb", async () => {
    const request = create(ActiveMaskOpenSchema, { ...open, scheme: openingOf(2, 2) });
    await expectError(
      () => new MaskedAnswerer(request, { ...model, scoreNoise: 0.02 }),
      "PROTOCOL_STATE",
      /2 limbs requested; at most 1/,
    );
  });
  test("a valid opening is accepted", () =>
    expect(new MaskedAnswerer(create(ActiveMaskOpenSchema, open), model).opened.scheme?.length).toBeGreaterThan(60));
  test.each<[string, object, RegExp]>([
    ["no conditions", { literals: [], lengths: [], runs: [] }, /0 conditions/],
    ["too many conditions", { lengths: Array(140_000).fill(1) }, /140000 conditions; from 1 to 131072/],
    ["a split that it does not have", { literals: [1, 0, 4] }, /splits that this party does not have/],
    ["an empty condition", { literals: [1], lengths: [1, 0] }, /does not have/],
    ["literals left over", { literals: [1, 0, 3, 1] }, /does not have/],
    ["runs of another number", { runs: [1] }, /runs/],
    ["an unknown masking", { masking: "trust me" }, /unknown masking/],
    ["no opening", { scheme: new Uint8Array(0) }, /opening of masked scoring is not valid/],
    ["sums of 4,096 limbs", { scheme: openingOf(4096, 4096) }, /4096 limbs requested; at most 3/],
    ["sums of 4 limbs", { scheme: openingOf(4, 4) }, /4 limbs requested; at most 3/],
    ["a sum for each condition", { runs: [1, 1] }, /2 sums per row requested; the model may have at most 1 output/],
    ["many outputs of a limb each", { scheme: openingOf(4096, 1) }, /4096 sums per row requested/],
    ["a limb of two words", { scheme: openingOf(3, 2) }, /opening of masked scoring is not valid/],
    ["bytes of another message", { scheme: Uint8Array.of(255, 1) }, /no TransferOpen/],
  ])("%s: refused", async (_what, change, says) => {
    await expectError(
      () => new MaskedAnswerer(create(ActiveMaskOpenSchema, { ...open, ...change }), model),
      "PROTOCOL_STATE",
      says,
    );
  });

  test("a caller has its own sessions, and the one used longest ago makes room", () => {
    const sessions = new MaskedSessions();
    const made = Array.from({ length: 17 }, () => new MaskedAnswerer(create(ActiveMaskOpenSchema, open), model));
    const isThere = (session: MaskedAnswerer): boolean => sessions.find("bank", { session: session.id }) !== null;
    for (const session of made.slice(0, 16)) sessions.add("bank", session);
    expect(isThere(made[0])).toBe(true);
    expect(sessions.find("rival", { session: made[0].id })).toBeNull();
    sessions.add("bank", made[16]);
    expect([made[0], made[1], made[2], made[16]].map(isThere)).toEqual([true, false, true, true]);
  });

  test("the memory of a caller's sessions is bounded, and the one used last stays in any case", () => {
    const made = Array.from({ length: 4 }, () => new MaskedAnswerer(create(ActiveMaskOpenSchema, open), model));
    const [{ sizeBytes }] = made;
    expect(sizeBytes).toBeGreaterThan(0);
    const kept = (bytesMax: number): boolean[] => {
      const sessions = new MaskedSessions(bytesMax);
      for (const session of made) sessions.add("bank", session);
      return made.map((session) => sessions.find("bank", { session: session.id }) !== null);
    };
    expect(kept(3 * sizeBytes)).toEqual([false, true, true, true]);
    expect(kept(1)).toEqual([false, false, false, true]);
  });

  test("steps of a caller's sessions run one after the other", async () => {
    let [running, most] = [0, 0];
    const slow: MaskedModel = {
      ...model,
      admit: async () => {
        most = Math.max(most, ++running);
        await new Promise((resolve) => setTimeout(resolve, 2));
        running--;
      },
    };
    const sessions = new MaskedSessions();
    const made = Array.from({ length: 3 }, () => new MaskedAnswerer(create(ActiveMaskOpenSchema, open), slow));
    for (const session of made) sessions.add("bank", session);
    await Promise.all([...made, ...made].map((session) => session.step(create(ActiveMaskStepSchema, { batch: 0 }))));
    expect(most).toBe(1);
  });

  test("the largest opening that fits a message stays within the bound", () => {
    const conditionCount = 1 << 17;
    const request = create(ActiveMaskOpenSchema, {
      ...open,
      literals: new Array<number>(1 << 20).fill(0),
      lengths: new Array<number>(conditionCount).fill(8),
      runs: [conditionCount],
    });
    const { sizeBytes } = new MaskedAnswerer(request, model);
    const placesBytesMax = 4 * messageBytesMax;
    expect(sizeBytes + placesBytesMax).toBeLessThan(sessionsBytesMax);
  });
});
