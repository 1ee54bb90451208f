/**
 * A passive party refuses messages of a deviating active party where members are hidden, without a change of state.
 */
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { HiddenDriver, type NodeChange } from "../../../test/support/hidden-driver.ts";
import { expectError } from "../../../test/support/expect-error.ts";
import { one } from "../../../test/support/streams.ts";
import type { ErrorCode } from "../../base/error.ts";
import { LatticeNodeSchema, LatticeSetUpSchema } from "../../wire/generated/tandem/v1/lattice_pb.ts";
import { ActiveGradientsSchema, type ActiveNode } from "../../wire/generated/tandem/v1/tandem_pb.ts";

const degree = 4096;
const recordBytes = 25;

const contentOf = ({ scheme }: ActiveNode): NodeChange & { readonly records: Uint8Array } =>
  fromBinary(LatticeNodeSchema, scheme);

/** A residue that is not below its prime. */
function notCanonical(records: Uint8Array, record: number): Uint8Array {
  return records.slice().fill(255, record * recordBytes, record * recordBytes + 7);
}

describe("an invalid node is refused, and the next one is answered as usual", () => {
  type Change = (messages: ActiveNode[], driver: HiddenDriver) => ActiveNode[];
  const changed =
    (change: (content: ReturnType<typeof contentOf>) => NodeChange): Change =>
    ([message, ...rest], driver) => [
      driver.message(0, 1, message.more, { ...contentOf(message), ...change(contentOf(message)) }),
      ...rest,
    ];
  test.each<[string, number, Change, ErrorCode, RegExp]>([
    [
      "a residue of the mask row",
      1,
      changed(({ records }) => ({ records: notCanonical(records, 17) })),
      "CIPHERTEXT_RANGE",
      /record 17 /,
    ],
    [
      "a residue of a row",
      1,
      changed(({ records }) => ({ records: notCanonical(records, degree + 9) })),
      "CIPHERTEXT_RANGE",
      /record 4105 /,
    ],
    [
      "half a record",
      1,
      changed(({ records }) => ({ records: records.subarray(3) })),
      "PROTOCOL_STATE",
      /whole records/,
    ],
    [
      "a record too few",
      1,
      changed(({ records }) => ({ records: records.subarray(recordBytes) })),
      "PROTOCOL_STATE",
      /4106 records; got 4105/,
    ],
    [
      "a record too many",
      1,
      changed(({ records }) => ({ records: Buffer.concat([records, records.subarray(0, recordBytes)]) })),
      "PROTOCOL_STATE",
      /more were sent/,
    ],
    ["no record", 1, changed(() => ({ records: new Uint8Array(0) })), "PROTOCOL_STATE", /whole records/],
    [
      "no mask row",
      1,
      changed(({ records }) => ({ firstRecord: degree, records: records.subarray(degree * recordBytes) })),
      "PROTOCOL_STATE",
      /not consecutive/,
    ],
    [
      "records from a position out of range",
      1,
      changed(() => ({ firstRecord: 2 ** 32 - 1 })),
      "PROTOCOL_STATE",
      /not consecutive/,
    ],
    ["another output", 1, changed(() => ({ output: 1 })), "PROTOCOL_STATE", /output 1/],
    [
      "an output that does not exist",
      1,
      changed(() => ({ output: 2 ** 32 - 1 })),
      "PROTOCOL_STATE",
      /output 4294967295/,
    ],
    [
      "chunks in the wrong order",
      3,
      ([a, b, c], driver) => [a, driver.message(0, 1, true, contentOf(c)), driver.message(0, 1, false, contentOf(b))],
      "PROTOCOL_STATE",
      /whole records from 1369/,
    ],
    ["a chunk twice", 3, ([a, b, c]) => [a, b, b, c], "PROTOCOL_STATE", /whole records from 2738/],
    ["an end that comes early", 3, ([a, b]) => [a, { ...b, more: false }], "PROTOCOL_STATE", /4106 records; got 2738/],
    ["an end that does not come", 1, ([a]) => [{ ...a, more: true }], "PROTOCOL_STATE", /message stream truncated/],
    [
      "more that never ends",
      1,
      ([a]) => Array.from({ length: 50 }, () => ({ ...a, more: true })),
      "PROTOCOL_STATE",
      /more were sent|not consecutive/,
    ],
    ["another node within", 3, ([a, b]) => [a, { ...b, node: 2 }], "PROTOCOL_STATE", /message stream truncated/],
    [
      "bytes that are no message",
      1,
      ([a]) => [{ ...a, scheme: Uint8Array.of(255, 255, 1) }],
      "PROTOCOL_STATE",
      /no LatticeNode/,
    ],
    ["nothing", 1, ([a]) => [{ ...a, scheme: new Uint8Array(0) }], "PROTOCOL_STATE", /whole records/],
  ])("%s", async (_what, pieces, change, code, message) => {
    const driver = await HiddenDriver.ready();
    const expected = await driver.sums(0, 0);
    const messages = change(await driver.sealed(0, 1, pieces), driver);
    await expectError(() => driver.ask(messages), code, message);
    await expectError(async () => driver.ask(await driver.sealed(0, 1).catch(() => messages)), "PROTOCOL_STATE");
    expect(await driver.sums(0, 2)).toEqual(expected);
    driver.close();
  });

  test("a node with members, with a position in the tree, or with an invalid number or tree", async () => {
    const driver = await HiddenDriver.growing();
    const [node] = await driver.sealed(0, 1);
    const origin = {
      $typeName: "tandem.v1.NodeMembers",
      isRoot: false,
      parent: 0,
      sibling: 2,
      members: new Uint8Array(2),
      open: 0,
    } as const;
    for (const change of [
      { members: origin },
      { members: { ...origin, members: new Uint8Array(0) } },
      { members: { ...origin, isRoot: true } },
      { node: 15 },
      { node: 2 ** 32 - 1 },
      { tree: 1 },
      { tree: 2 ** 32 - 1 },
    ])
      await expectError(() => driver.ask([{ ...node, ...change }]), "PROTOCOL_STATE");
    expect(await driver.ask([node])).toHaveLength(1);
    driver.close();
  });
});

describe("a set-up that is refused, and a good one after it", () => {
  type SetUp = { set: string; nonce: Uint8Array; nonces: Uint8Array };
  test.each<[string, (setUp: SetUp) => Partial<SetUp>, RegExp]>([
    ["an unknown set", () => ({ set: "C" }), /unknown parameter set/],
    ["the name of something else", () => ({ set: "__proto__" }), /unknown parameter set/],
    ["no nonce", () => ({ nonce: new Uint8Array(0) }), /nonce/],
    ["a list without the own nonce", ({ nonces }) => ({ nonces: nonces.map((byte) => byte ^ 1) }), /nonce/],
    ["a list that is cut off", ({ nonces }) => ({ nonces: nonces.subarray(1) }), /nonces is truncated/],
    ["an empty list", () => ({ nonces: new Uint8Array(0) }), /nonce/],
    [
      "a list of too many",
      ({ nonces }) => ({ nonces: Buffer.concat(Array.from({ length: 65 }, () => nonces)) }),
      /nonce/,
    ],
    [
      "a list of another length",
      ({ nonces }) => ({ nonces: Buffer.concat([nonces, nonces.subarray(0, 32)]) }),
      /nonce/,
    ],
  ])("%s", async (_what, change, message) => {
    const driver = await HiddenDriver.of();
    driver.join();
    const setUp = fromBinary(LatticeSetUpSchema, await driver.setUpMessage());
    await expectError(
      () => driver.setUp(toBinary(LatticeSetUpSchema, { ...setUp, ...change(setUp) })),
      "PROTOCOL_STATE",
      message,
    );
    await driver.setUp(await driver.setUpMessage());
    await driver.takeHints();
    expect((await driver.sums(0, 0)).length).toBeGreaterThan(0);
    driver.close();
  });

  test("more answers than the smudging noise hides: the error names a resolution that works", async () => {
    const driver = await HiddenDriver.of({ agreed: { numRound: 2 ** 31, maxDepth: 16 } });
    driver.join();
    const good = await HiddenDriver.of();
    good.join();
    // The active party of another job chose set A; nonces are this party's.
    const message = await good.setUpMessage([driver.join()]);
    await expectError(
      () => driver.setUp(message),
      "POLICY",
      /^\d+ nodes of 5 candidates .*Use --resolution-bits \d+ or less/,
    );
  });

  test("a round has no gradients of its own, and no sample", async () => {
    const driver = await HiddenDriver.ready();
    const gradients = one(create(ActiveGradientsSchema, { tree: 0, scheme: Uint8Array.of(1) }));
    await expectError(() => driver.role.answers.gradients(gradients), "PROTOCOL_STATE", /has no call 'gradients'/);
    expect((await driver.sums(0, 0)).length).toBeGreaterThan(0);
    driver.close();
  });
});
