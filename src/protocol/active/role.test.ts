/** The active party against passive parties whose answers deviate; PeerSession does the checking. */
import { afterAll, describe, expect, test } from "vitest";
import { expectError, watchRejections } from "../../../test/support/expect-error.ts";
import { expectFailure, jobWith, key, mapped, table } from "../../../test/support/changed-peer.ts";
import { randomTable } from "../../../test/support/tables.ts";
import { prepareJob } from "../../../test/support/prepared-job.ts";
import { selectKernel } from "../../crypto/paillier/index.ts";
import { connectInMemory } from "../../transport/in-memory.ts";
import type { PassiveHistograms, PassivePrediction, PassiveSplit } from "../../wire/generated/tandem/v1/tandem_pb.ts";
import type { PassivePeer } from "../../wire/peer.ts";
import { messageBytesMax } from "../../wire/version.ts";

const rejections = watchRejections();
afterAll(() => rejections.expectNone());

const histograms =
  (change: (answer: PassiveHistograms, index: number) => PassiveHistograms[]) =>
  (peer: PassivePeer): Partial<PassivePeer> => ({
    histograms: (nodes, options) => mapped(peer.histograms(nodes, options), change),
  });
const splits =
  (change: (split: PassiveSplit, index: number) => PassiveSplit[]) =>
  (peer: PassivePeer): Partial<PassivePeer> => ({
    splits: (decisions, options) => mapped(peer.splits(decisions, options), change),
  });
const predictions =
  (change: (prediction: PassivePrediction, index: number) => PassivePrediction[]) =>
  (peer: PassivePeer): Partial<PassivePeer> => ({
    predict: (request, options) => mapped(peer.predict(request, options), change),
  });

describe("an undisturbed job", () => {
  test("finishes, and both parties know", async () => {
    const job = jobWith(() => ({}));
    const { model } = await job.run();
    expect(model.trees.length).toBe(1);
    for (const { service } of job.passives) expect(await service.ended).toEqual({ failure: null });
    // The tests below tamper with splits and predictions of passive-2: it must have some.
    expect(job.passives[1].role.ownSplits.length).toBeGreaterThan(0);
  });

  test("also when a party has left before its last answer is read", async () => {
    const { run } = jobWith((peer) => ({
      async finishJob(finished, options) {
        const answer = await peer.finishJob(finished, options);
        await new Promise((resolve) => setTimeout(resolve, 30));
        return answer;
      },
    }));
    await expect(run()).resolves.toHaveProperty("model");
  });
});

describe("candidates", () => {
  test.each([
    ["none", histograms(() => []), /sent only 0 of \d+ candidates of node 0/],
    ["an empty answer", histograms((answer) => [{ ...answer, counts: [] }]), /sent no candidates, or more/],
    ["the same twice", histograms((answer) => [answer, answer]), /sent an answer that was not asked for/],
    [
      "more than it has",
      histograms((answer) => [answer, { ...answer, firstCandidate: answer.counts.length }]),
      /or more than it has/,
    ],
    ["not from the start", histograms((answer) => [{ ...answer, firstCandidate: 1 }]), /not asked for/],
    ["of a node that was not asked for", histograms((answer) => [{ ...answer, node: 9 }]), /not asked for/],
    ["of another tree", histograms((answer) => [{ ...answer, tree: 1 }]), /not asked for/],
    [
      "with a count above the node's",
      histograms((answer) => [{ ...answer, counts: answer.counts.map(() => 61) }]),
      /more instances than its node/,
    ],
    [
      "fewer than announced",
      (peer: PassivePeer) => announcing(peer, (count) => count + 1),
      /sent only \d+ of \d+ candidates/,
    ],
    ["more than announced", (peer: PassivePeer) => announcing(peer, (count) => count - 1), /more than it has/],
    [
      "a node with fewer than it has",
      histograms((answer) => [
        { ...answer, candidateCount: answer.candidateCount - 1, counts: answer.counts.slice(1) },
      ]),
      /an answer has \d+ bytes; \d+ were expected/,
    ],
    [
      "a node with more than it has",
      histograms((answer) => [{ ...answer, candidateCount: answer.candidateCount + 1 }]),
      /more than it has/,
    ],
    [
      "constraints announced, but no lower sides",
      (peer: PassivePeer) => ({
        setUp: async (...call: Parameters<PassivePeer["setUp"]>) => ({
          ...(await peer.setUp(...call)),
          monotone: true,
        }),
      }),
      /do not match the candidates/,
    ],
    [
      "suppressed, but with a count",
      histograms((answer) => [
        { ...answer, suppressed: new Uint8Array(Math.ceil(answer.counts.length / 8)).fill(255) },
      ]),
      /suppressed candidate has a count/,
    ],
    [
      "a bitmap of suppressed ones that is too long",
      histograms((answer) => [{ ...answer, suppressed: new Uint8Array(answer.counts.length) }]),
      /bitmap has/,
    ],
    [
      "announced beyond all bounds",
      (peer: PassivePeer) => announcing(peer, () => 0xffffffff),
      /more candidates than its features can have/,
    ],
  ])("%s", async (_name, change, message) => {
    await expectFailure(jobWith(change), "PROTOCOL_STATE", message);
  });

  test("with noise, where no counts are sent: an empty side", async () => {
    const emptyLeft = splits((split) => [{ ...split, leftMembers: new Uint8Array(split.leftMembers.length) }]);
    const large = randomTable("empty side", { rows: 400, features: [1, 2, 4], missingFraction: 0.1 });
    await expectFailure(
      jobWith(emptyLeft, 1, large),
      "PROTOCOL_STATE",
      /a split whose instances do not add up to its sums/,
    );
  });

  test("sums that the counts cannot make", async () => {
    await expectFailure(
      jobWith(histograms((answer) => [{ ...answer, counts: answer.counts.map((count) => Math.min(count, 1)) }])),
      "DECODE_OVERFLOW",
      /party passive-2/,
    );
  });

  test("no scheme in the answer", async () => {
    await expectFailure(
      jobWith(histograms((answer) => [{ ...answer, scheme: new Uint8Array(0) }])),
      "PROTOCOL_STATE",
      /0 bytes/,
    );
  });

  function announcing(peer: PassivePeer, change: (count: number) => number): Partial<PassivePeer> {
    return {
      async setUp(setUp, options) {
        const ready = await peer.setUp(setUp, options);
        return { ...ready, candidateCount: change(ready.candidateCount) };
      },
    };
  }
});

describe("splits", () => {
  test.each([
    [
      "with a bitmap that is too short",
      splits((split) => [{ ...split, leftMembers: split.leftMembers.slice(1) }]),
      /bitmap has/,
    ],
    [
      "with a bitmap that is too long",
      splits((split) => [{ ...split, leftMembers: Uint8Array.of(...split.leftMembers, 0) }]),
      /bitmap has/,
    ],
    ["of another node", splits((split) => [{ ...split, node: 14 }]), /a split that was not asked for/],
    ["of another tree", splits((split) => [{ ...split, tree: 7 }]), /a split that was not asked for/],
    ["twice", splits((split) => [split, split]), /a split that was not asked for/],
    ["not at all", splits(() => []), /fewer splits than were asked for/],
    [
      "with a constraint that it has not announced",
      splits((split) => [{ ...split, monotone: 1 }]),
      /a split that was not asked for/,
    ],
  ])("%s", async (_name, change, message) => {
    await expectFailure(jobWith(change), "PROTOCOL_STATE", message);
  });
});

describe("predictions", () => {
  test.each([
    [
      "with one outcome missing",
      predictions((prediction, index) => (index === 0 ? [] : [prediction])),
      /the outcomes of \d+ of its \d+ splits/,
    ],
    [
      "of a split that is not its own",
      predictions((prediction) => [{ ...prediction, tree: 99 }]),
      /a split that is not its own/,
    ],
    ["twice", predictions((prediction) => [prediction, prediction]), /a split that is not its own/],
    [
      "with a bitmap of the wrong length",
      predictions((prediction) => [{ ...prediction, leftMembers: new Uint8Array(1) }]),
      /bitmap has 1 bytes; 4 /,
    ],
  ])("%s", async (_name, change, message) => {
    await expectFailure(jobWith(change), "PROTOCOL_STATE", message);
  });

  test("of ids that do not fit one message: they are named in several, with the same margins", async () => {
    const messages: number[] = [];
    const job = prepareJob({
      table,
      kernel: selectKernel(),
      key,
      training: { num_round: 1 },
      connect: (name, service) => {
        const peer = connectInMemory(name, service);
        const testRows: PassivePeer["testRows"] = (chunks, options) => {
          async function* short(): AsyncGenerator<{ ids: string[] }> {
            for await (const { ids = [] } of chunks) {
              messages.push(ids.reduce((sum, id) => sum + id.length, 0));
              yield { ids: ids.map((id) => id.trim()) };
            }
          }
          return peer.testRows(short(), options);
        };
        return { ...peer, testRows };
      },
    });
    await job.active.join();
    const model = await job.active.train();
    const margins = await job.active.predict(model, { ids: job.ids, features: table.parties[0] });
    expect(messages.splice(0).length).toBe(2);
    const long = await job.active.predict(model, {
      ids: job.ids.map((id) => id.padEnd(300_000)),
      features: table.parties[0],
    });
    expect(long).toEqual(margins);
    expect(messages.length).toBeGreaterThan(4);
    for (const bytes of messages) expect(bytes).toBeLessThan(messageBytesMax);
  });

  test("of an id that the party does not hold", async () => {
    const job = jobWith(() => ({}));
    await job.active.join();
    const model = await job.active.train();
    await expectError(
      () => job.active.predict(model, { ids: ["unknown"], features: [new Float32Array(1)] }),
      "ID_MISMATCH",
      /passive-\d/,
    );
  });
});

test("a gradient that the layout cannot hold ends the job before anything is sent", async () => {
  const made = prepareJob({ table, kernel: selectKernel(), key, codec: { layout: "paper", shift: -0.001 } });
  await expectError(() => made.run(), "LAYOUT_RANGE", /below the layout's shift/);
  expect(made.active.traffic).toEqual({ activeToPassive: 0, passiveToActive: 0 });
  for (const { service } of made.passives) expect((await service.ended).failure?.message).toMatch(/gave up: .*shift/);
});
