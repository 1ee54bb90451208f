/** Suppressed candidates reveal nothing to the active party. */
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { beforeAll, describe, expect, test, vi } from "vitest";
import { expectError } from "../../../test/support/expect-error.ts";
import { prepareJob } from "../../../test/support/prepared-job.ts";
import { one, collect } from "../../../test/support/streams.ts";
import { randomTable } from "../../../test/support/tables.ts";
import { CiphertextVector, generateKey, type PrivateKey, selectKernel } from "../../crypto/paillier/index.ts";
import { binGoesLeft } from "../../gbdt/split/candidate.ts";
import type { Minimums } from "../../gbdt/split/offered-candidates.ts";
import { connectInMemory } from "../../transport/in-memory.ts";
import { bitmapFrom, isSet } from "../../wire/bitmap.ts";
import {
  ActiveNodeSchema,
  type ActiveNode,
  type ActiveSplitDecisionSchema,
  ActiveSplitDecisionsSchema,
  type NodeMembers,
  type PassiveHistograms,
} from "../../wire/generated/tandem/v1/tandem_pb.ts";
import type { PassivePeer } from "../../wire/peer.ts";
import type { CandidateRows } from "./candidate-rows.ts";
import { decodeMessage } from "../../wire/scheme-message.ts";
import { PaillierSumsSchema } from "../../wire/generated/tandem/v1/paillier_pb.ts";
import type { RankedCandidate } from "./tree-nodes.ts";
import { siblingRows, suppressedBitmap, suppressedFrom } from "./suppressed.ts";

let key: PrivateKey;
beforeAll(async () => {
  key = await generateKey({ bits: 256, insecure: true });
});

const none = { perNode: 1, perCandidate: 1 };
const table = randomTable("suppressed", { rows: 80, features: [1, 3], missingFraction: 0.1 });

/** A job of one tree with one passive party: all answers, all requests, and the candidate of each position. */
function watchedJob(minimums: Minimums) {
  const answers: PassiveHistograms[] = [];
  const origins = new Map<number, NodeMembers>();
  const candidates = new Map<number, RankedCandidate>();
  async function* seen(nodes: Parameters<PassivePeer["histograms"]>[0]): AsyncGenerator<ActiveNode> {
    for await (const sent of nodes) {
      const node = create(ActiveNodeSchema, sent);
      if (node.members !== undefined) origins.set(node.node, node.members);
      yield node;
    }
  }
  const connect = (name: string, service: Parameters<typeof connectInMemory>[1]): PassivePeer => {
    const peer = connectInMemory(name, service);
    async function* kept(
      ...[nodes, options]: Parameters<PassivePeer["histograms"]>
    ): AsyncGenerator<PassiveHistograms> {
      for await (const answer of peer.histograms(seen(nodes), options)) {
        answers.push(answer);
        if (answer.node === 0)
          answer.counts.forEach(
            (_, i) => isHidden(answer, i) || candidates.set(i, job.passives[0].scheme.nodes().candidateAt(0, i)),
          );
        yield answer;
      }
    }
    return { ...peer, histograms: kept };
  };
  const job = prepareJob({
    table,
    kernel: selectKernel(),
    key,
    training: { num_round: 1, max_depth: 4 },
    minimums: [none, minimums],
    connect,
  });
  return { answers, origins, candidates, job };
}

function isHidden({ suppressed }: PassiveHistograms, position: number): boolean {
  return suppressed.length > 0 && isSet(suppressed, position);
}

const minimums = { perNode: 10, perCandidate: 4 };

test("a suppressed candidate decrypts to zero, and its ciphertexts look like all others", async () => {
  const { answers, job } = watchedJob(minimums);
  const decoded = vi.spyOn(job.scheme, "sums");
  await job.run();
  const sums = await Promise.all(decoded.mock.results.map(({ value }) => value as Promise<Float64Array>));
  const plain = selectKernel().privateEvaluator(key, { threads: 1 });
  let suppressed = 0;
  let offered = 0;
  let empty = 0;
  for (const [a, answer] of answers.entries()) {
    const { counts, scheme } = answer;
    const isSuppressed = counts.map((_, i) => isHidden(answer, i));
    for (const [i, count] of counts.entries()) {
      const row = [...sums[a].subarray(2 * i, 2 * i + 2)];
      if (!isSuppressed[i]) {
        offered++;
        expect(count).toBeGreaterThanOrEqual(4);
        expect(row[1]).toBeGreaterThan(0);
        continue;
      }
      suppressed++;
      expect(count).toBe(0);
      expect(row).toEqual([0, 0]);
    }
    if (!isSuppressed.includes(false)) {
      empty++;
      // The remaining bits are random, and no two ciphertexts are equal.
      const { ciphertexts } = decodeMessage(PaillierSumsSchema, scheme);
      const width = key.publicKey.ciphertextBytes;
      const { bytes } = await plain.decrypt(new CiphertextVector(ciphertexts, width));
      expect(bytes.filter((byte) => byte === 0).length).toBeLessThan(bytes.length / 2);
      const each = Array.from({ length: ciphertexts.length / width }, (_, c) =>
        Buffer.from(ciphertexts.subarray(c * width, (c + 1) * width)).toString("hex"),
      );
      expect(new Set(each).size).toBe(each.length);
    }
  }
  expect(Math.min(suppressed, offered)).toBeGreaterThan(10);
  expect(empty).toBeGreaterThan(0);
});

test("parent minus child reveals no small group: a candidate below the minimum is suppressed at both", async () => {
  const { answers, origins, candidates, job } = watchedJob(minimums);
  await job.run();
  const { features } = job.passives[0];
  const nodes = job.passives[0].scheme.nodes();
  const sizes = (node: number, position: number): number[] => {
    const candidate = candidates.get(position);
    if (candidate === undefined) throw new Error(`position ${position} was suppressed at the root`);
    const feature = features[candidate.feature];
    const members = nodes.members(node);
    const left = members.filter((instance) => binGoesLeft(feature, candidate, feature.bins[instance])).length;
    return [left, members.length - left];
  };
  const isEnough = (node: number, position: number): boolean =>
    nodes.members(node).length >= minimums.perNode && Math.min(...sizes(node, position)) >= minimums.perCandidate;
  const hiddenAt = new Map<number, boolean[]>();
  let hiddenForSibling = 0;
  for (const answer of answers) {
    const { node, counts } = answer;
    const { sibling = 0, parent = 0 } = origins.get(node) ?? {};
    const hidden = counts.map((_, i) => isHidden(answer, i));
    hiddenAt.set(node, hidden);
    if (node === 0) continue;
    hiddenAt.set(sibling, hidden);
    for (const position of candidates.keys()) {
      const expected =
        hiddenAt.get(parent)?.[position] === true || !isEnough(node, position) || !isEnough(sibling, position);
      expect(hidden[position], `candidate ${position} at nodes ${node} and ${sibling}`).toBe(expected);
      if (expected && (isEnough(node, position) || isEnough(sibling, position))) hiddenForSibling++;
    }
  }
  expect(hiddenForSibling).toBeGreaterThan(0);
});

describe("a passive party with minimums rejects", () => {
  /** Runs a real job up to its first splits or children, after gradients were sent and the root was answered. */
  async function held(
    use: (job: ReturnType<typeof prepareJob>, root: PassiveHistograms) => Promise<void>,
  ): Promise<void> {
    const used: Promise<void>[] = [];
    const job = prepareJob({
      table,
      kernel: selectKernel(),
      key,
      training: { num_round: 1, max_depth: 3 },
      minimums: [none, { perNode: 1, perCandidate: 10 }],
      connect: (name, service) => {
        const peer = connectInMemory(name, service);
        async function* kept(
          ...[nodes, options]: Parameters<PassivePeer["histograms"]>
        ): AsyncGenerator<PassiveHistograms> {
          for await (const answer of peer.histograms(nodes, options)) {
            if (used.length === 0) used.push(use(job, answer));
            await Promise.allSettled(used);
            yield answer;
          }
        }
        return { ...peer, histograms: kept };
      },
    });
    await job.active.join();
    await job.active.train().catch(() => {}); // the manual calls may make it fail
    expect(used).toHaveLength(1);
    await used[0];
  }

  test("a split that names a suppressed or unknown candidate", () =>
    held(async ({ passives: [{ role }] }, { counts, suppressed }) => {
      const hidden = counts.findIndex((_, i) => isSet(suppressed, i));
      const shown = counts.findIndex((_, i) => !isSet(suppressed, i));
      expect(Math.min(hidden, shown)).toBeGreaterThanOrEqual(0);
      const decide = (named: MessageInitShape<typeof ActiveSplitDecisionSchema>["named"] & object) =>
        collect(role.answers.splits(create(ActiveSplitDecisionsSchema, { tree: 0, decisions: [{ node: 0, named }] })));
      const suppressedOne = { case: "candidate" as const, value: hidden };
      await expectError(() => decide(suppressedOne), "PROTOCOL_STATE", /is suppressed at node 0/);
      await expectError(() => decide({ case: undefined }), "PROTOCOL_STATE", /no candidate was named/);
      expect(role.ownSplits).toEqual([]);
      expect(await decide({ case: "candidate", value: shown })).toHaveLength(1);
    }));

  test("a different split of a node; the same pair may be requested from either child", () =>
    held(async ({ passives: [{ role }] }) => {
      const ask = (node: number, sibling: number, isMember: (i: number) => boolean) => {
        const members = { parent: 0, sibling, members: bitmapFrom(80, isMember) };
        return collect(role.answers.histograms(one(create(ActiveNodeSchema, { tree: 0, node, members }))));
      };
      const [first] = await ask(1, 2, (i) => i < 30);
      const [second] = await ask(2, 1, (i) => i >= 30);
      expect(first.suppressed?.length).toBeGreaterThan(0);
      expect(second.suppressed).toEqual(first.suppressed);
      expect(second.counts).not.toEqual(first.counts);
      await expectError(() => ask(1, 2, (i) => i < 31), "PROTOCOL_STATE", /differ from the earlier children/);
      await expectError(() => ask(3, 4, (i) => i < 31), "PROTOCOL_STATE", /differ from the earlier children/);
      await expectError(() => ask(1, 4, (i) => i < 30), "PROTOCOL_STATE", /differ from the earlier children/);
    }));
});

describe("rows of a sibling", () => {
  const rowsOf = (rows: number[], suppressed: number[]): CandidateRows => ({
    rows: Float64Array.from(rows),
    lowerSides: null,
    suppressed: Uint8Array.from(suppressed),
    groups: [],
  });

  test("are the parent's minus the child's; suppressed ones are zero, not the parent's", () => {
    const { rows, suppressed } = siblingRows(
      rowsOf([9, 9, 5, 8, 8, 4], [0, 0]),
      rowsOf([0, 0, 0, 3, 3, 1], [1, 0]),
      "shop",
    );
    expect([...rows]).toEqual([0, 0, 0, 5, 5, 3]);
    expect([...suppressed]).toEqual([1, 0]);
    expect([...siblingRows(rowsOf([9, 9, 5], [0]), rowsOf([0, 0, 0], [0]), "shop").rows]).toEqual([9, 9, 5]);
  });

  test("a candidate suppressed at the parent, or a different number of candidates, is rejected", async () => {
    await expectError(
      () => siblingRows(rowsOf([0, 0, 0], [1]), rowsOf([3, 3, 1], [0]), "shop"),
      "PROTOCOL_STATE",
      /shop sent a candidate for a node that it suppresses at its parent/,
    );
    await expectError(
      () => siblingRows(rowsOf([0, 0, 0], [1]), rowsOf([], []), "shop"),
      "PROTOCOL_STATE",
      /shop sent a different number/,
    );
  });
});

test("the bitmap is empty if nothing is suppressed, and round-trips", () => {
  expect(suppressedBitmap(new Uint8Array(9))).toHaveLength(0);
  expect([...suppressedFrom(new Uint8Array(0), [0, 1])]).toEqual([0, 0]);
  const suppressed = Uint8Array.of(0, 1, 0, 0, 0, 0, 0, 0, 1);
  expect(suppressedFrom(suppressedBitmap(suppressed), [3, 0, 0, 1, 1, 1, 1, 1, 0])).toEqual(suppressed);
});
