/** What the halves of the curve scheme refuse: each message changed in one place. */
import { createHash } from "node:crypto";
import { beforeEach, describe, expect, test } from "vitest";
import {
  answerOf,
  curveBench,
  newActive,
  newPassive,
  roundOf,
  take,
  treeOf,
} from "../../../test/support/curve-bench.ts";
import { expectError } from "../../../test/support/expect-error.ts";
import { pointBytes } from "../../crypto/curve/kernel.ts";
import {
  CurveBasesSchema,
  CurveGradientsSchema,
  CurveSetUpSchema,
  CurveSumsSchema,
} from "../../wire/generated/tandem/v1/curve_pb.ts";
import { decodeMessage, encodeMessage } from "../../wire/scheme-message.ts";
import type { GradientChunk } from "../scheme.ts";
import type { CurveActive } from "./active.ts";
import { curve } from "./curve.ts";
import type { CurvePassive } from "./passive.ts";

const made = curveBench();
let active: CurveActive;
let passive: CurvePassive;
let chunks: GradientChunk[];
let setUp: Uint8Array;

beforeEach(async () => {
  [active, passive] = [newActive(), newPassive()];
  setUp = await active.setUp({ layout: made.layout });
  await passive.setUp(setUp, made.job);
  chunks = await roundOf(active, made);
});

/** Copies a point over another. */
function withRepeat(bytes: Uint8Array, from: number, to: number): Uint8Array {
  const changed = Uint8Array.from(bytes);
  changed.copyWithin(to * pointBytes, from * pointBytes, (from + 1) * pointBytes);
  return changed;
}

/** A y that has no x. */
function withInvalid(bytes: Uint8Array, at: number): Uint8Array {
  const changed = Uint8Array.from(bytes);
  changed.fill(0, at * pointBytes, (at + 1) * pointBytes);
  changed[at * pointBytes] = 2;
  return changed;
}

type Bases = ReturnType<typeof bases>;
type Gradients = ReturnType<typeof gradients>;
const bases = () => decodeMessage(CurveBasesSchema, chunks[0].message);
const gradients = () => decodeMessage(CurveGradientsSchema, chunks[1].message);

/** With a passive party that has received nothing yet. */
async function takeChanged(bases: Partial<Bases>, changed: Partial<Gradients>): Promise<void> {
  passive = newPassive();
  await passive.setUp(setUp, made.job);
  await take(passive, treeOf(made), [
    {
      ...chunks[0],
      message: encodeMessage(CurveBasesSchema, { ...decodeMessage(CurveBasesSchema, chunks[0].message), ...bases }),
    },
    { ...chunks[1], message: encodeMessage(CurveGradientsSchema, { ...gradients(), ...changed }) },
  ]);
}

describe("set-ups", () => {
  test("more or fewer values than the agreed job", async () => {
    const sent = decodeMessage(CurveSetUpSchema, setUp);
    const asked = (valuesPerInstance: number): Promise<unknown> =>
      newPassive().setUp(encodeMessage(CurveSetUpSchema, { ...sent, valuesPerInstance }), made.job);
    await expectError(() => asked(4), "POLICY", /4 values per instance; the agreed job has 2/);
    await expectError(() => asked(1), "PROTOCOL_STATE", /1 values per instance/);
  });

  test("parameters and secrets that are not of this scheme", async () => {
    expect(curve.violations({ keyBits: 2048 }, { keyBitsMin: 2048 })).toHaveLength(1);
    expect(curve.violations({}, { keyBitsMin: 2048 })).toEqual([]);
    expect(curve.conflicts({ keyBitsGiven: "key_bits" })).toHaveLength(1);
    await expectError(() => curve.readSecret("lattice"), "KEY_FORMAT", /curve/);
    expect(
      (await curve.readSecret((await curve.makeSecret({ keyBits: 0, insecureKey: false })).serialise())).scheme,
    ).toBe("curve");
  });
});

describe("bases", () => {
  test("other bases than those of the set-up", async () => {
    const { points } = bases();
    const other = Buffer.concat([points.subarray(pointBytes), points.subarray(0, pointBytes)]);
    await expectError(() => takeChanged({ points: other }, {}), "PROTOCOL_STATE", /not those that the set-up/);
  });

  test("one base for two instances, although the set-up has its digest", async () => {
    const points = withRepeat(bases().points, 0, 7);
    const basesDigest = createHash("sha256").update(points).digest();
    setUp = encodeMessage(CurveSetUpSchema, { ...decodeMessage(CurveSetUpSchema, setUp), basesDigest });
    await expectError(() => takeChanged({ points }, {}), "PROTOCOL_STATE", /two instances have the same base/);
  });

  test("too few, too many, out of order, or again after gradients", async () => {
    const { points } = bases();
    await expectError(() => takeChanged({ firstInstance: 1 }, {}), "PROTOCOL_STATE", /do not continue at 0/);
    const more = Buffer.concat([points, points]);
    await expectError(() => takeChanged({ points: more }, {}), "PROTOCOL_STATE", /do not continue/);
    await expectError(() => takeChanged({ points: points.subarray(1) }, {}), "PROTOCOL_STATE", /do not continue/);
    const fewer = points.subarray(0, 5 * pointBytes);
    await expectError(() => takeChanged({ points: fewer }, {}), "PROTOCOL_STATE", /before the bases of all instances/);
  });

  test("none at all, and twice", async () => {
    await expectError(() => take(passive, treeOf(made), chunks.slice(1)), "PROTOCOL_STATE", /before the bases/);
    await take(passive, treeOf(made), chunks);
    await expectError(() => take(passive, treeOf(made), chunks), "PROTOCOL_STATE", /do not continue at 12/);
  });
});

describe("gradients", () => {
  test("an invalid point, by its index in the block", async () => {
    await expectError(
      () => takeChanged({}, { points: withInvalid(gradients().points, 3) }),
      "CIPHERTEXT_RANGE",
      /point 3 is not a valid point/,
    );
  });

  test("a point that occurs twice", async () => {
    const points = withRepeat(gradients().points, 2, 9);
    await expectError(() => takeChanged({}, { points }), "PROTOCOL_STATE", /the same point twice/);
  });

  test("too few, too many or out of order", async () => {
    const { points } = gradients();
    await expectError(() => takeChanged({}, { firstInstance: 1 }), "PROTOCOL_STATE", /does not continue at 0/);
    await expectError(() => takeChanged({}, { points: points.subarray(1) }), "PROTOCOL_STATE", /does not continue/);
    const fewer = points.subarray(0, 6 * pointBytes);
    await expectError(() => takeChanged({}, { points: fewer }), "PROTOCOL_STATE", /of 3 instances arrived; 12 were/);
    const more = Buffer.concat([points, points]);
    await expectError(() => takeChanged({}, { points: more }), "PROTOCOL_STATE", /does not continue/);
  });

  test("keys: missing, equal, invalid, of small order, or in a later chunk", async () => {
    const { keys, points } = gradients();
    await expectError(() => takeChanged({}, { keys: new Uint8Array(0) }), "PROTOCOL_STATE", /a key for every value/);
    await expectError(() => takeChanged({}, { keys: withRepeat(keys, 0, 1) }), "PROTOCOL_STATE", /the same key/);
    const neutral = new Uint8Array(pointBytes);
    neutral[0] = 1;
    const small = Buffer.concat([keys.subarray(0, pointBytes), neutral]);
    await expectError(() => takeChanged({}, { keys: small }), "CIPHERTEXT_RANGE", /point 1/);
    const half = 6 * 2 * pointBytes;
    const parts = [
      { firstInstance: 0, points: points.subarray(0, half), keys },
      { firstInstance: 6, points: points.subarray(half), keys },
    ].map((part) => ({ ...chunks[1], message: encodeMessage(CurveGradientsSchema, part) }));
    const last = newPassive();
    await last.setUp(setUp, made.job);
    await expectError(() => take(last, treeOf(made), [chunks[0], ...parts]), "PROTOCOL_STATE", /first chunk only/);
  });

  test("a node before the gradients, and a half that is not set up", async () => {
    passive.beginRound(treeOf(made));
    await expectError(() => answerOf(passive, treeOf(made)), "PROTOCOL_STATE", /before the round's gradients/);
    await expectError(() => take(newPassive(), treeOf(made), chunks), "PROTOCOL_STATE", /not set up/);
    await expectError(async () => newActive().sums(made.layout, new Uint8Array(0), []), "PROTOCOL_STATE", /before/);
  });
});

describe("answers", () => {
  test("invalid points, other lengths, and sums that are out of range", async () => {
    const nodes = treeOf(made);
    await take(passive, nodes, chunks);
    const { message, counts } = await answerOf(passive, nodes);
    const { points } = decodeMessage(CurveSumsSchema, message);
    const sums = (changed: Uint8Array): Promise<unknown> =>
      active.sums(made.layout, encodeMessage(CurveSumsSchema, { points: changed }), counts);
    await expectError(() => sums(points.subarray(3 * pointBytes)), "PROTOCOL_STATE", /bytes; \d+ were expected/);
    await expectError(() => sums(withInvalid(points, 4)), "CIPHERTEXT_RANGE", /point 4/);
    const opened = counts.findIndex((count) => count > 0);
    const swapped = withRepeat(points, 3 * opened + 2, 3 * opened + 1);
    await expectError(() => sums(swapped), "DECODE_OVERFLOW", /no sum within the layout's range/);
  });
});
