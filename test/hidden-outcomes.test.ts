/**
 * Split outcomes by oblivious transfer, in whole jobs: refusals, the digests that both parties sign, and what a passive
 * party learns from a corrupted outcome.
 */
import type { MessageInitShape } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { TandemError } from "../src/base/error.ts";
import { newAgreementKey } from "../src/crypto/transfer/base-ot.ts";
import { generateKey } from "../src/crypto/paillier/index.ts";
import { portableKernel } from "../src/crypto/paillier/portable-kernel.ts";
import { firstDifference } from "../src/gbdt/tree/model-compare.ts";
import { recordedPeer } from "../src/protocol/active/recorded-peer.ts";
import { decodeEntries } from "../src/protocol/chain/entries.ts";
import { firstLink, PairChain, type ClosedTree } from "../src/protocol/chain/pair-chain.ts";
import { noProgress, type PassiveProgress } from "../src/protocol/passive/answered-splits.ts";
import { recordedAnswers } from "../src/protocol/passive/recorded-answers.ts";
import { lattice } from "../src/scheme/lattice/lattice.ts";
import { connectInMemory } from "../src/transport/in-memory.ts";
import type { PassiveService } from "../src/transport/passive-service.ts";
import { isSet } from "../src/wire/bitmap.ts";
import type { ActiveHiddenSplitsSchema, PassiveSplit } from "../src/wire/generated/tandem/v1/tandem_pb.ts";
import type { PassivePeer } from "../src/wire/peer.ts";
import { expectError } from "./support/expect-error.ts";
import { trainFederated, trainInOnePlace, type TestJob, type TestOutcome } from "./support/in-memory-job.ts";
import { randomTable } from "./support/tables.ts";

const people = 40;
const key = await generateKey({ bits: 256, insecure: true });
/** The passive party wins every split: no other party has a column. */
const job: TestJob = {
  table: randomTable("hidden", { rows: people, features: [0, 2] }),
  training: { num_round: 1, max_depth: 2 },
  defences: { hidden_outcomes: true },
  scheme: lattice,
  kernel: portableKernel,
  key,
};

type HiddenSplits = PassivePeer["hiddenSplits"];
type Message = MessageInitShape<typeof ActiveHiddenSplitsSchema>;

/** A passive party whose answers to splits go through this. */
function between(hiddenSplits: (peer: PassivePeer, ...call: Parameters<HiddenSplits>) => ReturnType<HiddenSplits>) {
  return (name: string, service: PassiveService): PassivePeer => {
    const peer = connectInMemory(name, service);
    return { ...peer, hiddenSplits: (messages, options) => hiddenSplits(peer, messages, options) };
  };
}

/** Flips one instance's masked bit at one node. */
function spoiling(node: number, person: number) {
  return between(async function* (peer, ...call): AsyncGenerator<PassiveSplit> {
    for await (const split of peer.hiddenSplits(...call)) {
      if (split.node !== node) yield split;
      else {
        const leftMembers = split.leftMembers.slice();
        leftMembers[person >>> 3] ^= 1 << (person & 7);
        yield { ...split, leftMembers };
      }
    }
  });
}

/** The instances left of the root, as the active party received them. */
async function honest(): Promise<{ readonly outcome: TestOutcome; readonly isLeft: (person: number) => boolean }> {
  let left = new Uint8Array(0);
  const outcome = await trainFederated({
    ...job,
    look: {
      observed: (_, seen) => {
        if (seen.kind === "outcome" && seen.node === 0) left = Uint8Array.from(seen.leftMembers);
      },
    },
  });
  return { outcome, isLeft: (person) => isSet(left, person) };
}

test("a corrupted outcome ends the job if its instance is in the node, and is not noticed otherwise", async () => {
  const { outcome, isLeft } = await honest();
  const child = outcome.model.trees[0][1];
  expect(child.kind).toBe("split");
  const instances = Array.from({ length: people }, (_, i) => i);
  const [inside, outside] = [instances.find(isLeft) ?? -1, instances.find((person) => !isLeft(person)) ?? -1];
  const unnoticed = await trainFederated({ ...job, connect: spoiling(1, outside) });
  expect(firstDifference(unnoticed.model, outcome.model)).toBeNull();
  const error = await expectError(
    () => trainFederated({ ...job, connect: spoiling(1, inside) }),
    "PROTOCOL_STATE",
    /passive-1 .*do not add up/,
  );
  expect(error.message, "the error does not name the node").not.toMatch(/node|\d{2}/);
});

test("a new attempt has new keys, and gets the same splits once more", async () => {
  let progress = noProgress;
  const stored = { store: async (now: PassiveProgress): Promise<void> => void (progress = now) };
  const keys = new Set<string>();
  let splits = 0;
  const connect = (lost: number) => (name: string, service: PassiveService) => {
    const peer = between((inner, ...call) => {
      if (++splits === lost) throw new TandemError("PARTY_LOST", "lost");
      return inner.hiddenSplits(...call);
    })(name, service);
    const outcomeKeys: PassivePeer["outcomeKeys"] = (message, options) => {
      keys.add(Buffer.from(message.scheme ?? []).toString("hex"));
      return peer.outcomeKeys(message, options);
    };
    return { ...peer, outcomeKeys };
  };
  await expectError(() => trainFederated({ ...job, stored, connect: connect(2) }), "PARTY_LOST");
  const { splits: before } = progress;
  expect(before).toHaveLength(1);
  const outcome = await trainFederated({ ...job, stored: { ...stored, progress }, connect: connect(-1) });
  expect(firstDifference(outcome.model, await trainInOnePlace(job))).toBeNull();
  expect(progress.splits.slice(0, 1)).toEqual(before);
  expect(keys.size, "a key and sums, in each attempt others").toBe(4);
});

test("both parties sign the same digests, including those of the choices", async () => {
  const closed: ClosedTree[] = [];
  const introduction = { commitment: new Uint8Array(32), certificate: new Uint8Array(1) };
  const opened = () => {
    const empty = new Uint8Array(32);
    const chain = new PairChain(0, firstLink({ jobId: empty, active: empty, passive: empty }));
    const sign = (): Uint8Array => new Uint8Array(1);
    const signGradients = () => ({ signature: sign() });
    return {
      chain,
      sign,
      verify: () => {},
      signGradients,
      verifyGradients: () => {},
      signAnswer: sign,
      verifyAnswer: () => {},
    };
  };
  const record = { own: introduction, joined: opened, keep: null };
  const outcome = await trainFederated({
    ...job,
    recording: () => recordedAnswers({ ...record, closed: () => Promise.resolve() }),
    connect: (name, service) =>
      recordedPeer(connectInMemory(name, service), {
        ...record,
        closing: () => Promise.resolve(),
        closed: (tree) => void closed.push(tree),
        answered: () => {},
        answersStored: () => Promise.resolve(),
      }),
  });
  expect(firstDifference(outcome.model, await trainInOnePlace(job))).toBeNull();
  const kinds = closed.flatMap(({ entries }) => decodeEntries(entries).map(({ kind }) => kind));
  for (const kind of ["decision", "outcome", "choices"] as const) expect(kinds).toContain(kind);
});

test("calls that do not belong to a job with hidden outcomes are refused, and the job continues", async () => {
  const refused: string[] = [];
  const attempt = async (call: () => AsyncIterable<unknown> | Promise<unknown>): Promise<void> => {
    const { message } = await expectError(async () => {
      const answer = call();
      if (answer instanceof Promise) await answer;
      else for await (const _ of answer);
    }, "PROTOCOL_STATE");
    refused.push(message.replace(/^.*passive-1: /, ""));
  };
  let isFirst = true;
  const outcome = await trainFederated({
    ...job,
    connect: between(async function* (peer, messages, options): AsyncGenerator<PassiveSplit> {
      const sent: Message[] = [];
      for await (const message of messages) sent.push(message);
      const stream = async function* (...pieces: readonly Message[]) {
        yield* pieces;
      };
      if (isFirst) {
        isFirst = false;
        const [first, ...pieces] = sent;
        const later = (batch: number) => ({ ...first, firstBatch: 100 + batch });
        await attempt(() => peer.splits(first.request ?? {}, options));
        await attempt(() => peer.outcomeKeys({ scheme: newAgreementKey().publicKey }, options));
        await attempt(() => peer.hiddenSplits(stream(...pieces), options));
        await attempt(() => peer.hiddenSplits(stream(later(1)), options));
        await attempt(() => peer.hiddenSplits(stream(later(2), later(2)), options));
        await attempt(() => peer.hiddenSplits(stream(later(3), { scheme: new Uint8Array(7) }), options));
      }
      yield* peer.hiddenSplits(stream(...sent), options);
    }),
  });
  expect(firstDifference(outcome.model, await trainInOnePlace(job))).toBeNull();
  expect(refused).toEqual([
    "the protocol of this job has no call 'splits'",
    "keys for outcomes were exchanged before",
    "choices without a decision",
    "fewer choices than decisions",
    "decisions among choices",
    "a piece of a matrix of 7 bytes; 816 were expected",
  ]);
});

test.each<[string, number, boolean, readonly RegExp[]]>([
  ["more choices than decisions", 0, true, [/choices for no decision/, /batch number was used before/]],
  ["choices of another batch", 100, false, [/is inconsistent/, /open a new session/]],
])("%s: refused, and the batch or the session cannot be used again", async (_what, shift, isDouble, says) => {
  const training = trainFederated({
    ...job,
    connect: between(async function* (peer, messages, options): AsyncGenerator<PassiveSplit> {
      const sent: Message[] = [];
      for await (const message of messages) sent.push(message);
      const changed = { ...sent[0], firstBatch: (sent[0].firstBatch ?? 0) + shift };
      const stream = async function* (...some: readonly Message[]) {
        yield* some;
      };
      const again = isDouble ? sent.slice(1) : [];
      await expectError(
        async () => {
          for await (const _ of peer.hiddenSplits(stream(changed, ...sent.slice(1), ...again), options));
        },
        "PROTOCOL_STATE",
        says[0],
      );
      yield* peer.hiddenSplits(stream(...sent), options);
    }),
  });
  await expectError(() => training, "PROTOCOL_STATE", says[1]);
});

test("with a scheme that sends members the setting has no effect, and no oblivious transfer keys exist", async () => {
  const refusals: unknown[] = [];
  const { scheme: _, ...others } = job;
  await trainFederated({
    ...others,
    connect: (name, service) => {
      const peer = connectInMemory(name, service);
      return {
        ...peer,
        async *splits(request, options) {
          const keys = { scheme: newAgreementKey().publicKey };
          refusals.push(
            await expectError(() => peer.outcomeKeys(keys, options), "PROTOCOL_STATE", /has no call 'outcomeKeys'/),
          );
          yield* peer.splits(request, options);
        },
      };
    },
  });
  expect(refusals.length).toBeGreaterThan(0);
});
