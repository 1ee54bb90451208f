/**
 * A round of gradients is signed before its first answer, and is the same in every attempt: what an active party gains
 * that sends other gradients after a lost connection, or signs them wrongly.
 */
import { create } from "@bufbuild/protobuf";
import { beforeAll, describe, expect, test } from "vitest";
import { generateKey, type PrivateKey } from "../src/crypto/paillier/index.ts";
import { openChain } from "../src/party/job-chain.ts";
import { digests } from "../src/protocol/chain/digests.ts";
import { decodeEntries } from "../src/protocol/chain/entries.ts";
import { PairChain } from "../src/protocol/chain/pair-chain.ts";
import type { OpenChain } from "../src/protocol/chain/record.ts";
import { RoundDigest } from "../src/messages/gradients.ts";
import { recordedAnswers } from "../src/protocol/passive/recorded-answers.ts";
import type { Signer } from "../src/store/consent-file.ts";
import { callsTo, everyCall } from "../src/wire/every-call.ts";
import {
  type ActiveGradients,
  ActiveGradientsSchema,
  ActiveHelloSchema,
  type ActiveNode,
  type ActiveOrder,
  type ActiveSetUp,
  type ActiveSplitDecisions,
  type ActiveTreeFinished,
  PassiveParty,
} from "../src/wire/generated/tandem/v1/tandem_pb.ts";
import type { PassivePeer } from "../src/wire/peer.ts";
import { protocolVersion } from "../src/wire/version.ts";
import { expectError } from "./support/expect-error.ts";
import { column, drive } from "./support/passive-driver.ts";
import { collect, one } from "./support/streams.ts";
import { signerOf } from "./support/verified-job.ts";
import { PassiveDisk } from "./support/passive-disk.ts";

let key: PrivateKey;
let [bank, shop]: Signer[] = [];
beforeAll(async () => {
  key = await generateKey({ bits: 256, insecure: true });
  [bank, shop] = await Promise.all(["bank", "shop"].map(signerOf));
});

const start = new Uint8Array(32).fill(1);
const introduction = { commitment: new Uint8Array(32), certificate: new Uint8Array(0) };

const disks = new Map<PassiveDisk, string[]>();

/** An attempt at the job: the passive role with its recorder, and the active party's chain. */
async function attempt(disk: PassiveDisk, trees = 0, previous = start) {
  const alarms = disks.get(disk) ?? [];
  disks.set(disk, alarms);
  const { store, progress } = disk;
  const observer = { alarm: (words: string): void => void alarms.push(words) };
  const permutationSecret = new Uint8Array(32).fill(2);
  const driver = drive(key, { roundStore: disk, store, progress, permutationSecret, observer });
  const terms = { job: "job", tree: trees, previous };
  const ofShop = openChain({ ...terms, role: "passive", peer: "bank", certificate: bank.certificate, key: shop.key });
  const ofBank = openChain({ ...terms, role: "active", peer: "shop", certificate: shop.certificate, key: bank.key });
  const record = { own: introduction, joined: (): OpenChain => ofShop, closed: () => Promise.resolve() };
  const answers = {
    join: () => driver.join({ trees }),
    setUp: (message: ActiveSetUp) => driver.role.setUp(message),
    gradients: (chunks: AsyncIterable<ActiveGradients>) => driver.role.answers.gradients(chunks),
    finishTree: (finished: ActiveTreeFinished) => driver.role.answers.finishTree(finished),
    histograms: (nodes: AsyncIterable<ActiveNode>) => driver.role.answers.histograms(nodes),
    splits: (request: ActiveSplitDecisions) => driver.role.answers.splits(request),
    order: (request: ActiveOrder) => driver.role.answers.order(request),
  };
  const peer = everyCall<PassivePeer, object>(PassiveParty, recordedAnswers<object>(record)(callsTo(answers)));
  for await (const _ of peer.join(create(ActiveHelloSchema, { protocolVersion }), {}));
  await peer.setUp(await driver.setUpMessage(), {});
  return { driver, peer, ofBank, ofShop, alarms };
}

/** The messages of a round, signed. */
function signed(chunks: readonly ActiveGradients[], { signGradients }: Pick<OpenChain, "signGradients">) {
  const round = new RoundDigest(digests);
  for (const chunk of chunks) round.add(chunk);
  const { tree } = chunks[0];
  const { signature } = signGradients({ tree, node: null, digest: round.digest });
  return chunks.map((chunk) => (chunk.last ? { ...chunk, signature } : chunk));
}

async function* all(chunks: readonly ActiveGradients[]): AsyncGenerator<ActiveGradients> {
  yield* chunks;
}

const marks = Float64Array.from(column, (_, i) => (i === 3 ? 0.9 : 0));

describe("in a later attempt", () => {
  test("the same gradients get the stored answer, byte for byte; nothing is stored twice", async () => {
    const disk = new PassiveDisk();
    const first = await attempt(disk);
    const chunks = signed(await collect(first.driver.chunks(0)), first.ofBank);
    await first.peer.gradients(all(chunks), {});
    const root = await first.driver.root(0);
    const second = await attempt(disk);
    await second.peer.gradients(all(chunks), {});
    expect(await second.driver.root(0)).toEqual(root.map((message) => expect.objectContaining({ ...message })));
    expect([disk.gradients.length, disk.answers.get(0)?.length, disk.refused.length]).toEqual([1, 1, 0]);
    expect(disk.gradients[0].digest).toHaveLength(32);
  });

  test.each([
    ["before a node was requested", false],
    ["after the root was answered", true],
  ])("other gradients are refused, %s: with an alarm, and both signatures are kept", async (_when, isAsked) => {
    const disk = new PassiveDisk();
    const first = await attempt(disk);
    await first.peer.gradients(all(signed(await collect(first.driver.chunks(0, marks)), first.ofBank)), {});
    if (isAsked) await first.driver.root(0);
    for (let again = 0; again < 2; again++) {
      const second = await attempt(disk);
      const others = signed(await collect(second.driver.chunks(0)), second.ofBank);
      await expectError(
        () => second.peer.gradients(all(others), {}),
        "PROTOCOL_STATE",
        /gradients of the round of tree 0 are not those that were received before/,
      );
      await expectError(() => second.driver.root(0), "PROTOCOL_STATE");
      expect(second.alarms).toHaveLength(again + 1);
    }
    expect(disk.gradients).toHaveLength(1);
    expect(disk.refused).toHaveLength(2);
    const verify = openChain({
      job: "job",
      tree: 0,
      previous: start,
      role: "passive",
      peer: "bank",
      certificate: bank.certificate,
      key: shop.key,
    }).verifyGradients;
    for (const kept of [...disk.gradients, ...disk.refused]) verify(kept, kept);
    const [one, other] = [disk.gradients[0].digest, disk.refused[0].digest];
    expect(Buffer.compare(one, other)).not.toBe(0);
  });

  test("a tree ends only if all nodes that were answered before are requested again", async () => {
    const disk = new PassiveDisk();
    const first = await attempt(disk);
    const chunks = signed(await collect(first.driver.chunks(0)), first.ofBank);
    await first.peer.gradients(all(chunks), {});
    await first.driver.root(0);
    const second = await attempt(disk);
    await second.peer.gradients(all(chunks), {});
    await expectError(
      () => second.driver.finishTree(0),
      "PROTOCOL_STATE",
      /tree 0 was grown differently before: node 0 was requested/,
    );
    await second.driver.root(0);
    await second.driver.finishTree(0);
    expect(disk.progress.trees).toBe(1);
  });

  test("of a finished tree only stored answers are repeated: no other node, split or order is answered", async () => {
    const disk = new PassiveDisk();
    const first = await attempt(disk);
    const chunks = signed(await collect(first.driver.chunks(0)), first.ofBank);
    await first.peer.gradients(all(chunks), {});
    const root = await first.driver.root(0);
    await first.driver.finishTree(0);
    // The active party claims not to have stored the tree.
    const { driver, peer } = await attempt(disk);
    await peer.gradients(all(chunks), {});
    expect(await driver.root(0)).toEqual(root.map((message) => expect.objectContaining({ ...message })));
    const members = Uint8Array.of(0b11111, 0);
    const child = { node: 1, origin: { parent: 0, sibling: 2, members } };
    const refusal = /^tree 0 is finished: nothing new about node \d is answered$/;
    await expectError(() => driver.node(0, child), "PROTOCOL_STATE", refusal);
    await expectError(() => driver.splits(0, 0, 0), "PROTOCOL_STATE", refusal);
    for (const node of [0, 1]) await expectError(() => driver.order(0, node), "PROTOCOL_STATE", refusal);
    expect([disk.answers.get(0)?.length, disk.progress.splits]).toEqual([1, []]);
    await driver.finishTree(0);
    await driver.gradients(1);
    expect(await driver.root(1), "the next tree is grown as ever").toHaveLength(1);
  });

  test("of a finished tree only orders of candidates are repeated that were requested before its end", async () => {
    const disk = new PassiveDisk();
    const first = await attempt(disk);
    const chunks = signed(await collect(first.driver.chunks(0)), first.ofBank);
    await first.peer.gradients(all(chunks), {});
    await first.driver.root(0);
    const order = await first.driver.order(0, 0);
    await first.driver.finishTree(0);
    const { driver, peer } = await attempt(disk);
    await peer.gradients(all(chunks), {});
    await driver.root(0);
    expect(await driver.order(0, 0)).toEqual(order);
    await expectError(() => driver.order(0, 1), "PROTOCOL_STATE", /^tree 0 is finished: nothing new about node 1/);
    await driver.finishTree(0);
    expect(disk.progress.orders).toEqual(["0/0"]);
  });
});

describe("calls at the same time", () => {
  test("gradients without a signature are refused, also if a call before them is", async () => {
    const disk = new PassiveDisk();
    const { driver, peer } = await attempt(disk);
    const chunks = await collect(driver.chunks(0, marks));
    const outOfOrder = chunks.map((chunk) => ({ ...chunk, sequence: chunk.sequence + 1 }));
    const outcomes = await Promise.allSettled([outOfOrder, chunks].map((sent) => peer.gradients(all(sent), {})));
    expect(outcomes.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    await expectError(() => driver.root(0), "PROTOCOL_STATE");
    expect([disk.gradients, disk.progress.round]).toEqual([[], null]);
  });

  test("the first gradients are taken, and their copies; others are refused, and their signature is kept", async () => {
    const disk = new PassiveDisk();
    const { driver, peer, ofBank, ofShop } = await attempt(disk);
    const [own, others] = [
      signed(await collect(driver.chunks(0)), ofBank),
      signed(await collect(driver.chunks(0, marks)), ofBank),
    ];
    const columns = own.map((chunk, i) => (i === 0 ? { ...chunk, colsampleBytree: 1 } : chunk));
    const outcomes = await Promise.allSettled(
      [own, others, own, columns, others].map((sent) => peer.gradients(all(sent), {})),
    );
    expect(outcomes.map(({ status }) => status)).toEqual([
      "fulfilled",
      "rejected",
      "fulfilled",
      "rejected",
      "rejected",
    ]);
    expect([disk.gradients.length, disk.refused.length]).toEqual([1, 1]);
    const round = new RoundDigest(digests);
    for (const chunk of own) round.add(chunk);
    const noted = decodeEntries(ofShop.chain.closing().entries).find(({ kind }) => kind === "gradients");
    expect(noted?.digest).toEqual(round.gradients);
    await driver.root(0);
    const endless = async function* (): AsyncGenerator<ActiveGradients> {
      for (let sequence = 0; ; sequence++) yield { ...own[0], sequence, scheme: new Uint8Array(0) };
    };
    await expectError(() => peer.gradients(endless(), {}), "PROTOCOL_STATE", /more chunks than instances/);
  });
});

describe("answers of a call that does not end", () => {
  const rootOf = (tree: number) => ({ tree, node: 0, members: { isRoot: true } });
  const named = { case: "candidate" as const, value: 0 };

  /** In its first tree, of which the bank signs what is in its own chain. */
  async function growing() {
    const { driver, peer, ofBank, ofShop } = await attempt(new PassiveDisk());
    await peer.gradients(all(signed(await collect(driver.chunks(0)), ofBank)), {});
    const ends = () => {
      const { entries, link: digest } = ofShop.chain.closing();
      return peer.finishTree(
        { tree: 0, entries, digest, signature: ofBank.sign({ tree: 0, entries, link: digest }) },
        {},
      );
    };
    return { peer, ends };
  }

  test.each(["left open", "broken off"])("are in the signed link, or the tree does not end: %s", async (how) => {
    const calls: readonly [RegExp, (peer: PassivePeer) => AsyncIterable<unknown>][] = [
      [
        /the members of node 0 was sent/,
        (peer) =>
          peer.histograms(
            (async function* () {
              yield rootOf(0);
              await new Promise(() => {});
            })(),
            {},
          ),
      ],
      [/the decision at node 0 was sent/, (peer) => peer.splits({ tree: 0, decisions: [{ node: 0, named }] }, {})],
      [/the order of candidates at node 0 was sent/, (peer) => peer.order({ tree: 0, nodes: [0] }, {})],
    ];
    for (const [what, call] of calls) {
      const { peer, ends } = await growing();
      const isRoot = what.source.includes("members");
      if (!isRoot) for await (const _ of peer.histograms(one(rootOf(0)), {}));
      const answers = call(peer)[Symbol.asyncIterator]();
      expect((await answers.next()).done).toBe(false);
      if (how === "broken off") void answers.return?.();
      await new Promise((resolve) => setImmediate(resolve));
      await expectError(ends, "PROTOCOL_STATE", what);
      // The same call to its end.
      if (isRoot) for await (const _ of peer.histograms(one(rootOf(0)), {}));
      else for await (const _ of call(peer));
      await ends();
    }
  });
});

describe("a signature is refused, and nothing is answered or stored,", () => {
  test.each<[string, (chunks: ActiveGradients[], chain: OpenChain) => ActiveGradients[]]>([
    ["if it is missing", (chunks) => chunks],
    ["if it is false", (chunks, { signGradients }) => signed(chunks, { signGradients: flipped(signGradients) })],
    ["if it is of other gradients", (chunks) => chunks],
    ["if it continues another link", (chunks) => signed(chunks, chainOf(bank, 0, new Uint8Array(32)))],
    ["if it is of another tree", (chunks) => signed(chunks, chainOf(bank, 1, start, 1))],
    ["if it is the passive party's own", (chunks) => signed(chunks, chainOf(shop, 0, start))],
  ])("%s", async (what, change) => {
    const disk = new PassiveDisk();
    const { driver, peer, ofBank } = await attempt(disk);
    const chunks = await collect(driver.chunks(0));
    const given = /other gradients/.test(what)
      ? signed(await collect(driver.chunks(0, marks)), ofBank).map((chunk, i) => (chunk.last ? chunk : chunks[i]))
      : change(chunks, ofBank);
    await expectError(
      () => peer.gradients(all(given), {}),
      "PROTOCOL_STATE",
      /bank has not signed these gradients of tree 0 with its key/,
    );
    await expectError(() => driver.root(0), "PROTOCOL_STATE");
    expect([disk.gradients, disk.refused, disk.progress.round]).toEqual([[], [], null]);
    await peer.gradients(all(signed(chunks, ofBank)), {}); // the right one is still accepted
  });

  test("if it was of an earlier tree; gradients without an end are refused", async () => {
    const disk = new PassiveDisk();
    const first = await attempt(disk);
    const chunks = signed(await collect(first.driver.chunks(0)), first.ofBank);
    await first.peer.gradients(all(chunks), {});
    await first.driver.finishTree(0);
    const link = new Uint8Array(32).fill(7);
    const second = await attempt(disk, 1, link);
    const last = chunks.find((chunk) => chunk.last)?.signature;
    const replayed = chunks.map((chunk) =>
      create(ActiveGradientsSchema, { ...chunk, tree: 1, ...(chunk.last && last ? { signature: last } : {}) }),
    );
    await expectError(() => second.peer.gradients(all(replayed), {}), "PROTOCOL_STATE", /has not signed/);
    await expectError(
      () => second.peer.gradients(all(replayed.filter(({ last: isLast }) => !isLast)), {}),
      "PROTOCOL_STATE",
      /the gradients of tree 1 have no end/,
    );
  });
});

function chainOf({ key: own, certificate }: Signer, tree: number, previous: Uint8Array, of?: number): OpenChain {
  const chain = openChain({ job: "job", role: "active", peer: "shop", certificate, key: own, tree, previous });
  expect(chain.chain).toBeInstanceOf(PairChain);
  if (of === undefined) return chain;
  return { ...chain, signGradients: (closed) => chain.signGradients({ ...closed, tree: of }) };
}

function flipped(sign: OpenChain["signGradients"]): OpenChain["signGradients"] {
  return (closed) => {
    const { signature } = sign(closed);
    signature[5] ^= 1;
    return { signature };
  };
}
