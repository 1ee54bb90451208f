/** Masked scoring between parties in one process, without a transport: every message can be looked at. */
import { create, toBinary } from "@bufbuild/protobuf";
import { SeededRandom } from "../../src/base/random.ts";
import { addLeaf, type LeafNode, leafOf, type SplitNode, type Tree } from "../../src/gbdt/tree/tree.ts";
import type { MaskedPeer } from "../../src/scheme/masked/mask-channel.ts";
import { MaskedAnswerer, type MaskedModel, MaskedSessions } from "../../src/scheme/masked/masked-answerer.ts";
import { type AskParties, MaskedDriver } from "../../src/scheme/masked/masked-driver.ts";
import { Products } from "../../src/scheme/masked/products.ts";
import { bitmapFrom } from "../../src/wire/bitmap.ts";
import {
  ActiveMaskOpenSchema,
  ActiveMaskStepSchema,
  type PassiveMaskOpened,
  PassiveMaskOpenedSchema,
  type PassiveMaskStep,
  PassiveMaskStepSchema,
} from "../../src/wire/generated/tandem/v1/masked_pb.ts";

export type OwnerTree = Tree<{ readonly owner: number }>;

export const leaf = (weight: number, weights?: readonly number[]): LeafNode => ({
  kind: "leaf",
  weight,
  weights,
  cover: 1,
  count: 1,
});

export const split = (left: number, owner: number): SplitNode<{ owner: number }> => ({
  kind: "split",
  left,
  right: left + 1,
  gain: 1,
  cover: 1,
  count: 1,
  rule: { owner },
});

/** Splits of owners 0 to `parties`, in no order. */
export function randomTree(random: SeededRandom, parties: number, leafOf: () => LeafNode, depth = 4): OwnerTree {
  const tree: (LeafNode | SplitNode<{ owner: number }>)[] = [leafOf()];
  for (let open = [0], level = 0; level < depth; level++) {
    open = open.flatMap((id) => {
      if (level > 0 && random.uniform() < 0.25) return [];
      tree[id] = split(tree.length, random.below(parties + 1));
      tree.push(leafOf(), leafOf());
      return [tree.length - 2, tree.length - 1];
    });
  }
  return tree;
}

/** Which way a split of a party sends a row. */
export type Outcomes = (owner: number, tree: number, node: number, row: number) => boolean;

/** A passive party whose rows are numbered by their ids. */
export class MaskedParty implements MaskedPeer {
  readonly name: string;
  /** Every byte that it says. */
  readonly said: Uint8Array[] = [];
  readonly splits: readonly (readonly [tree: number, node: number])[];
  #sessions = new MaskedSessions();
  readonly #owner: number;
  readonly outcomes: Outcomes;
  openings = 0;
  /** The most rows of one batch. */
  idsMax = 1000;
  /** Deviation of the noise in its scores. */
  scoreNoise = 0;
  /** Ids that it does not hold. */
  unknown: ReadonlySet<string> = new Set();

  constructor(owner: number, trees: readonly OwnerTree[], outcomes: Outcomes) {
    this.name = `party ${owner}`;
    this.#owner = owner;
    this.outcomes = outcomes;
    this.splits = trees.flatMap((tree, t) =>
      tree.flatMap((node, n) => (node.kind === "split" && node.rule.owner === owner ? [[t, n] as const] : [])),
    );
  }

  /** As a restart does. */
  forget(): void {
    this.#sessions = new MaskedSessions();
  }

  async maskOpen(request: Parameters<MaskedPeer["maskOpen"]>[0]): Promise<PassiveMaskOpened> {
    this.openings++;
    const session = new MaskedAnswerer(create(ActiveMaskOpenSchema, request), this.#model);
    this.#sessions.add("", session);
    const answer = create(PassiveMaskOpenedSchema, session.opened);
    this.said.push(toBinary(PassiveMaskOpenedSchema, answer));
    return answer;
  }

  async maskStep(init: Parameters<MaskedPeer["maskStep"]>[0]): Promise<PassiveMaskStep> {
    const request = create(ActiveMaskStepSchema, init);
    const answered = (await this.#sessions.find("", request)?.step(request)) ?? { expired: true };
    const answer = create(PassiveMaskStepSchema, answered);
    this.said.push(answer.known, answer.scheme);
    return answer;
  }

  get #model(): MaskedModel {
    return {
      splitCount: this.splits.length,
      idsMax: this.idsMax,
      outputsMax: 100,
      scoreNoise: this.scoreNoise,
      admit: () => Promise.resolve(),
      rowCount: ({ ids }) => ids.length,
      outcomes: async ({ ids }) => {
        const rows = ids.map(Number);
        const left = bitmapFrom(this.splits.length * rows.length, (at) => {
          const [tree, node] = this.splits[Math.floor(at / rows.length)];
          return this.outcomes(this.#owner, tree, node, rows[at % rows.length]);
        });
        return { rowCount: rows.length, left, known: bitmapFrom(rows.length, (i) => !this.unknown.has(ids[i])) };
      },
    };
  }
}

/** Random outcomes, fixed by the seed. */
export function drawn(seed: string): Outcomes {
  return (owner, tree, node, row) => new SeededRandom(`${seed} ${owner} ${tree} ${node} ${row}`).uniform() < 0.5;
}

/** As plain scoring adds them. */
export function plainMargins(trees: readonly OwnerTree[], outputs: number, base: number, rows: number, goes: Outcomes) {
  const margins = new Float64Array(rows * outputs).fill(base);
  trees.forEach((tree, t) => {
    for (let row = 0; row < rows; row++)
      addLeaf(margins, row, outputs, t, tree[leafOf(tree, ({ owner }, node) => goes(owner, t, node, row))]);
  });
  return margins;
}

export function federation(
  trees: readonly OwnerTree[],
  goes: Outcomes,
  { outputs = 1, base = 0.5, scoreNoise = 0 } = {},
) {
  const products = new Products({ trees, outputCount: outputs });
  const driver = new MaskedDriver({ trees, outputCount: outputs, baseMargin: base, scoreNoise }, { model: "m" });
  const parties = driver.parties.map(({ owner }) => new MaskedParty(owner, trees, goes));
  for (const party of parties) party.scoreNoise = scoreNoise;
  const ask: AskParties = (_, question) => question(parties);
  const score = (first: number, end: number) =>
    driver.score(
      {
        rowCount: end - first,
        hasIds: true,
        batchEnd: (from, rowsMax) => Math.min(end - first, from + rowsMax),
        message: (from, to) => ({ ids: Array.from({ length: to - from }, (_, i) => String(first + from + i)) }),
        ownOutcomes: (tree, node, from, target) =>
          target.forEach((_, row) => (target[row] = goes(0, tree, node, first + from + row) ? 1 : 0)),
      },
      ask,
    );
  return { products, parties, score, ready: () => driver.ready(ask) };
}
