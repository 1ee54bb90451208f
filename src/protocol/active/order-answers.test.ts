import { create } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { TandemError } from "../../base/error.ts";
import { PassiveOrderSchema } from "../../wire/generated/tandem/v1/tandem_pb.ts";
import { OrderAnswers } from "./order-answers.ts";

type Piece = readonly [node: number, firstEntry: number, ranks: readonly number[], tree?: number];

function orders(...pieces: readonly Piece[]): Map<number, Uint32Array> {
  const deviates = (what: string): TandemError => new TandemError("PROTOCOL_STATE", `the party sent ${what}`);
  const answers = new OrderAnswers(
    4,
    new Map([
      [0, 3],
      [2, 2],
    ]),
    deviates,
  );
  for (const [node, firstEntry, ranks, tree = 4] of pieces)
    answers.add(create(PassiveOrderSchema, { tree, node, firstEntry, ranks: [...ranks] }));
  return answers.whole();
}

test("orders in pieces, node by node or mixed", () => {
  expect(orders([0, 0, [2]], [2, 0, [0, 1]], [0, 1, [0, 1]])).toEqual(
    new Map([
      [0, Uint32Array.of(2, 0, 1)],
      [2, Uint32Array.of(0, 1)],
    ]),
  );
});

test.each<[string, readonly Piece[], RegExp]>([
  ["of another tree", [[0, 0, [0, 1, 2], 3]], /not asked for/],
  ["of another node", [[1, 0, [0, 1]]], /not asked for/],
  [
    "twice",
    [
      [2, 0, [0, 1]],
      [2, 0, [0, 1]],
    ],
    /not asked for/,
  ],
  ["with a gap", [[0, 1, [0, 1]]], /not asked for/],
  ["longer than the candidates", [[2, 0, [0, 1, 2]]], /not asked for/],
  ["of nothing", [[2, 0, []]], /not asked for/],
  [
    "not to its end",
    [
      [0, 0, [0, 1, 2]],
      [2, 0, [0]],
    ],
    /a candidate order of node 2 that is not a permutation/,
  ],
  [
    "with a rank twice",
    [
      [0, 0, [0, 1, 1]],
      [2, 0, [0, 1]],
    ],
    /a candidate order of node 0 that is not a permutation/,
  ],
  [
    "with a rank that is too large",
    [
      [0, 0, [0, 1, 3]],
      [2, 0, [0, 1]],
    ],
    /a candidate order of node 0 that is not a permutation/,
  ],
])("an order %s is refused", (_name, pieces, message) => {
  expect(() => orders(...pieces)).toThrow(message);
});
