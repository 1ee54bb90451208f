/**
 * Hidden sums in whole jobs: what is refused, a connection that is lost in a comparison, and parties that deviate in
 * one.
 */
import { create } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { TandemError } from "../src/base/error.ts";
import { generateKey, selectKernel } from "../src/crypto/paillier/index.ts";
import { firstDifference } from "../src/gbdt/tree/model-compare.ts";
import { resolveJob } from "../src/party/resolve-job.ts";
import { noProgress, type PassiveProgress } from "../src/protocol/passive/answered-splits.ts";
import { connectInMemory } from "../src/transport/in-memory.ts";
import type { PassiveService } from "../src/transport/passive-service.ts";
import {
  type ActiveMaximum,
  ActiveSplitDecisionsSchema,
  type PassiveMaximum,
  PassiveMaximumSchema,
} from "../src/wire/generated/tandem/v1/tandem_pb.ts";
import type { PassivePeer } from "../src/wire/peer.ts";
import { seedCount } from "./support/campaign.ts";
import { categoricalTable } from "./support/categorical-tables.ts";
import { expectError } from "./support/expect-error.ts";
import { trainFederated, trainInOnePlace, type TestJob } from "./support/in-memory-job.ts";
import { randomTable } from "./support/tables.ts";

const job: TestJob = {
  table: randomTable("hidden sums", { rows: 40, features: [0, 1] }),
  training: { num_round: 1, max_depth: 2, max_bin: 4, min_child_weight: 0 },
  codec: { resolution_bits: 6 },
  defences: { hidden_sums: true },
  kernel: selectKernel(),
  key: await generateKey({ bits: 256, insecure: true }),
};

type Maximum = PassivePeer["maximum"];
type Change = (peer: PassivePeer, ...call: Parameters<Maximum>) => ReturnType<Maximum>;

/** A passive party whose comparisons go through this. */
function between(change: Change) {
  return (name: string, service: PassiveService): PassivePeer => {
    const peer = connectInMemory(name, service);
    return { ...peer, maximum: (messages, options) => change(peer, messages, options) };
  };
}

/** A connection that is lost at an answer to a comparison. @param at counts answers of all comparisons */
function lostAt(at: number, seen = { answers: 0 }) {
  return between(async function* (peer, ...call): AsyncGenerator<PassiveMaximum> {
    for await (const answer of peer.maximum(...call)) {
      if (seen.answers++ === at) throw new TandemError("PARTY_LOST", "lost");
      yield answer;
    }
  });
}

test("a connection that is lost in a comparison changes no model", async () => {
  const expected = await trainInOnePlace(job);
  const seen = { answers: 0 };
  const whole = await trainFederated({ ...job, connect: lostAt(-1, seen) });
  expect(firstDifference(whole.model, expected)).toBeNull();
  const flights = seen.answers;
  expect(flights).toBeGreaterThan(12);
  const count = seedCount({ test: 3, campaign: flights });
  for (let i = 0; i < count; i++) {
    const at = Math.floor((i * (flights - 1)) / Math.max(1, count - 1));
    let progress = noProgress;
    const stored = { store: async (now: PassiveProgress): Promise<void> => void (progress = now) };
    await expectError(() => trainFederated({ ...job, stored, connect: lostAt(at) }), "PARTY_LOST");
    const again = await trainFederated({ ...job, stored: { ...stored, progress } });
    expect(firstDifference(again.model, expected), `lost at answer ${at}`).toBeNull();
  }
});

describe("an active party that comes back after the best candidates were opened", () => {
  /** Grows the root only: the nodes below are compared, and not split. */
  const stump: TestJob = { ...job, training: { ...job.training, gamma: 0.9 } };

  /** Loses the connection at the last answer of the second comparison: that of the children. */
  async function broken(): Promise<{ progress: PassiveProgress; secrets: Uint8Array[]; sent: PassiveMaximum[][] }> {
    let progress = noProgress;
    const secrets = [new Uint8Array(32)];
    const sent: PassiveMaximum[][] = [];
    const losing = between(async function* (peer, ...call): AsyncGenerator<PassiveMaximum> {
      const own: PassiveMaximum[] = [];
      sent.push(own);
      for await (const answer of peer.maximum(...call)) {
        own.push(answer);
        if (sent.length === 2 && progress.opened.length === 2) throw new TandemError("PARTY_LOST", "lost");
        yield answer;
      }
    });
    const stored = { store: async (now: PassiveProgress): Promise<void> => void (progress = now) };
    const first = { ...stump, stored, permutationSecrets: secrets, connect: losing };
    await expectError(() => trainFederated(first), "PARTY_LOST");
    return { progress, secrets, sent };
  }

  test("gets the same bytes, and nothing is compared again", async () => {
    const { progress, secrets, sent } = await broken();
    const again: PassiveMaximum[] = [];
    const watching = between(async function* (peer, ...call): AsyncGenerator<PassiveMaximum> {
      for await (const answer of peer.maximum(...call)) {
        again.push(answer);
        yield answer;
      }
    });
    const second = { ...stump, stored: { progress }, permutationSecrets: secrets, connect: watching };
    const { model, seen } = await trainFederated(second);
    expect(firstDifference(model, await trainInOnePlace(stump))).toBeNull();
    expect(again.map(({ repeated }) => repeated)).toEqual([true, true]);
    for (const [i, { scheme }] of again.entries()) {
      const opened = sent[i].at(-1)?.scheme ?? new Uint8Array(0);
      expect(opened.length).toBeGreaterThan(0);
      expect(Buffer.from(scheme).subarray(-opened.length).equals(opened)).toBe(true);
    }
    // Both ends count each node once, as in an attempt without a break.
    expect(seen[0].active.ledger.bestCandidates).toBe(3);
    expect(seen[0].passive.ledger.bestCandidates).toBe(3);
  });

  const others: readonly [string, (nodes: Nodes) => Partial<Nodes>][] = [
    ["one of its nodes", ({ nodes }) => ({ nodes: nodes.slice(0, 1) })],
    ["its nodes in another order", ({ nodes }) => ({ nodes: nodes.toReversed() })],
    ["sums of other bits", ({ bits }) => ({ bits: bits + 1 })],
  ];
  test.each(others)("is refused %s", async (_name, change) => {
    const { progress, secrets } = await broken();
    const asked = asking((nodes, call) => (call === 1 ? change(nodes) : {}));
    const second = { ...stump, stored: { progress }, permutationSecrets: secrets, connect: asked };
    await expectError(() => trainFederated(second), "PROTOCOL_STATE", /compared before/);
  });

  test("learns nothing from other totals: it cannot even open what it has not sealed", async () => {
    const { progress, secrets } = await broken();
    // Another minimum is another question about the same sums.
    const training = { ...stump.training, min_child_weight: 3 };
    const other = { ...stump, training, stored: { progress }, permutationSecrets: secrets };
    const bytes: PassiveMaximum[] = [];
    const watching = between(async function* (peer, ...call): AsyncGenerator<PassiveMaximum> {
      for await (const answer of peer.maximum(...call)) {
        bytes.push(answer);
        yield answer;
      }
    });
    await expectError(() => trainFederated({ ...other, connect: watching }), "PROTOCOL_STATE");
    expect(bytes.every(({ repeated }) => repeated)).toBe(true);
  });

  test("cannot end the tree without them", async () => {
    const { progress, secrets } = await broken();
    const first = progress.opened.map(({ sealed, opened }) =>
      Buffer.concat([Buffer.from(sealed, "base64"), Buffer.from(opened, "base64")]),
    );
    let calls = 0;
    const forging = between((peer, ...call) => {
      const scheme = first[calls++];
      if (calls === 1) return peer.maximum(...call);
      return (async function* (): AsyncGenerator<PassiveMaximum> {
        yield create(PassiveMaximumSchema, { repeated: true, scheme });
      })();
    });
    const second = { ...stump, stored: { progress }, permutationSecrets: secrets, connect: forging };
    await expectError(() => trainFederated(second), "PROTOCOL_STATE", /grown differently before: node \d was compared/);
  });
});

describe("a passive party that repeats what was never compared is refused", () => {
  test.each([
    [0, /a repeated comparison/],
    [3, /repetition in the middle/],
  ])("at answer %i", async (at, words) => {
    let answers = 0;
    const repeating = between(async function* (peer, ...call): AsyncGenerator<PassiveMaximum> {
      for await (const answer of peer.maximum(...call)) yield answers++ === at ? { ...answer, repeated: true } : answer;
    });
    await expectError(() => trainFederated({ ...job, connect: repeating }), "PROTOCOL_STATE", words);
  });
});

type Nodes = NonNullable<ActiveMaximum["nodes"]>;

/** An active party that changes what it asks to compare. */
function asking(change: (nodes: Nodes, call: number) => Partial<Nodes>) {
  let calls = 0;
  return between((peer, messages, options) => {
    const call = calls++;
    async function* changed(): AsyncGenerator<ActiveMaximum> {
      for await (const message of messages as AsyncIterable<ActiveMaximum>)
        yield message.nodes === undefined
          ? message
          : { ...message, nodes: { ...message.nodes, ...change(message.nodes, call) } };
    }
    return peer.maximum(changed(), options);
  });
}

describe("an active party that deviates is refused", () => {
  const cases: readonly [string, (nodes: Nodes, call: number) => Partial<Nodes>, RegExp][] = [
    [
      "a node twice",
      ({ nodes }, call) => (call === 1 ? { nodes: nodes.map((node) => ({ ...node, node: 0, sibling: 0 })) } : {}),
      /one of them twice|compared before/,
    ],
    [
      "a node that was not requested",
      ({ nodes }) => ({ nodes: nodes.map((node) => ({ ...node, node: 6 })) }),
      /not known in this tree|cannot be the children|were not requested/,
    ],
    [
      "the difference of two nodes that are not parent and child",
      ({ nodes }, call) =>
        call === 1 ? { nodes: nodes.map((node) => (node.sibling > 0 ? { ...node, parent: node.sibling } : node)) } : {},
      /children/,
    ],
    ["a batch twice", (_, call) => (call === 1 ? { batch: 1 } : {}), /batch|used/],
    ["wider sums than the ring", () => ({ bits: 40 }), /sums of 40 bits/],
    ["narrower sums than the job's", () => ({ bits: 4 }), /sums of 4 bits/],
    ["another tree", () => ({ tree: 7 }), /tree 0, not 7/],
    ["no node", () => ({ nodes: [] }), /no node/],
  ];
  test.each(cases)("%s", async (_name, change, words) => {
    await expectError(() => trainFederated({ ...job, connect: asking(change) }), "PROTOCOL_STATE", words);
  });

  test("a split of a node that was not compared, or with a share of no place", async () => {
    const splitting = (value: number) => (name: string, service: PassiveService) => {
      const peer = connectInMemory(name, service);
      const splits: PassivePeer["splits"] = (request, options) =>
        peer.splits(
          create(ActiveSplitDecisionsSchema, {
            tree: request.tree ?? 0,
            decisions: [{ node: value < 0 ? 1 : 0, named: { case: "candidate", value: Math.abs(value) } }],
          }),
          options,
        );
      return { ...peer, splits };
    };
    await expectError(() => trainFederated({ ...job, connect: splitting(-1) }), "PROTOCOL_STATE", /not compared/);
    await expectError(() => trainFederated({ ...job, connect: splitting(1 << 20) }), "PROTOCOL_STATE", /place/);
  });

  test("the order of candidates", async () => {
    const ordering = (name: string, service: PassiveService): PassivePeer => {
      const peer = connectInMemory(name, service);
      return {
        ...peer,
        maximum: async function* (...call): AsyncGenerator<PassiveMaximum> {
          for await (const _ of peer.order({ tree: 0, nodes: [0] }, call[1])) expect.fail("an order was sent");
          yield* peer.maximum(...call);
        },
      };
    };
    await expectError(() => trainFederated({ ...job, connect: ordering }), "PROTOCOL_STATE", /order of candidates/);
  });
});

test("a passive party that falsifies the sums of a winner ends the job", async () => {
  /** The messages of the root's comparison, by their lengths. */
  let lengths: number[] = [];
  const changing = (changed: number) => {
    let calls = 0;
    return between(async function* (peer, ...call): AsyncGenerator<PassiveMaximum> {
      const isRoot = calls++ === 0;
      const seen: number[] = [];
      for await (const answer of peer.maximum(...call)) {
        const scheme = answer.scheme.slice();
        // In every byte: of two numbers in a transfer, the one that is selected.
        if (isRoot && seen.length === changed) for (let i = 0; i < scheme.length; i++) scheme[i] ^= 4;
        seen.push(scheme.length);
        yield { ...answer, scheme };
      }
      if (isRoot) lengths = seen;
    });
  };
  await trainFederated({ ...job, connect: changing(-1) });
  // The last one has its shares of the winner's sums.
  expect(lengths.at(-1)).toBeGreaterThan(0);
  await expectError(
    () => trainFederated({ ...job, connect: changing(lengths.length - 1) }),
    "PROTOCOL_STATE",
    /^party passive-1[: ]/,
  );
});

describe("a job with which it cannot be used", () => {
  const refused = (given: Parameters<typeof resolveJob>[0]): (() => Promise<unknown>) => {
    const privacy = { hidden_sums: true, ...given.privacy };
    return async () => resolveJob({ ...given, privacy });
  };
  test.each([
    ["the curve scheme", { scheme: "curve" }, /sums of the scheme curve cannot be masked/],
    ["noise", { privacy: { answer_noise: 3 } }, /answer_noise/],
    ["L1 regularisation", { training: { alpha: 1 } }, /alpha/],
    [
      "trees of several outputs",
      { training: { objective: "multi:softprob", num_class: 3, multi_strategy: "multi_output_tree" } },
      /multi_output_tree/,
    ],
  ] as const)("%s", async (_name, given, words) => {
    await expectError(refused(given), "USAGE", words);
  });

  test("monotone constraints, of either party", async () => {
    const table = randomTable("constrained", { rows: 40, features: [1, 1] });
    for (const [party, monotone] of [
      [[1], [0]],
      [[0], [1]],
    ].entries())
      await expectError(
        () => trainFederated({ ...job, table: { ...table, monotone } }),
        "USAGE",
        party === 0 ? /active has monotone constraints/ : /passive-1 has monotone constraints/,
      );
  });

  test("sets of categories, of either party", async () => {
    for (const [party, categories] of [
      [[9], []],
      [[], [9]],
    ].entries()) {
      const table = categoricalTable("sets", { rows: 60, features: [1, 1], categories });
      await expectError(
        () => trainFederated({ ...job, table, training: { ...job.training, enable_categorical: true } }),
        "USAGE",
        party === 0 ? /active has features that are split by sets/ : /passive-1 has features that are split by sets/,
      );
    }
  });

  test("the paper's layout, and sums beyond the ring of comparisons", async () => {
    await expectError(() => trainFederated({ ...job, codec: { layout: "paper" } }), "USAGE", /layout paper/);
    await expectError(
      () => trainFederated({ ...job, codec: { resolution_bits: 40 } }),
      "LAYOUT_OVERFLOW",
      /resolution-bits/,
    );
  });
});
