/** The active party against passive parties that deviate, fail or vanish; PeerSession does the checking. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { expectError, watchRejections } from "../../../test/support/expect-error.ts";
import { prepareJob, type PreparedJob } from "../../../test/support/prepared-job.ts";
import { randomTable } from "../../../test/support/tables.ts";
import { TandemError } from "../../base/error.ts";
import { generateKey, type PrivateKey } from "../../crypto/paillier/index.ts";
import { portableKernel } from "../../crypto/paillier/portable-kernel.ts";
import { connectInMemory } from "../../transport/in-memory.ts";
import type {
  PassiveHello,
  PassiveHistograms,
  PassivePrediction,
  PassiveSplit,
} from "../../wire/generated/tandem/v1/tandem_pb.ts";
import type { PassivePeer } from "../../wire/peer.ts";
import { messageBytesMax, protocolVersion } from "../../wire/version.ts";

let key: PrivateKey;
const rejections = watchRejections();
beforeAll(async () => {
  key = await generateKey({ bits: 128, insecure: true });
});
afterAll(() => rejections.expectNone());

const table = randomTable("deviating", { rows: 32, features: [1, 2, 2], missingFraction: 0.1 });

/** A job whose second passive party (the last to be asked on ties) is replaced by `change` of it. */
function jobWith(change: (peer: PassivePeer) => Partial<PassivePeer>, answer_noise = 0): PreparedJob {
  return prepareJob({
    defences: { answer_noise },
    table,
    kernel: portableKernel,
    key,
    training: { num_round: 1 },
    connect: (name, service, index) => {
      const peer = connectInMemory(name, service);
      return index === 1 ? { ...peer, ...change(peer) } : peer;
    },
  });
}

/** Runs a job that must fail; the other party must receive the reason, and no call may hang. */
async function expectFailure(job: PreparedJob, code: TandemError["code"], message: RegExp): Promise<TandemError> {
  const error = await expectError(() => job.run(), code, message);
  expect(error.message).toContain("passive-2");
  const { failure } = await job.passives[0].service.ended;
  expect(failure).toMatchObject({ code: "PARTY_LOST", message: `the active party gave up: ${error.message}` });
  return error;
}

async function* mapped<T>(items: AsyncIterable<T>, change: (item: T, index: number) => T[]): AsyncGenerator<T> {
  let index = 0;
  for await (const item of items) yield* change(item, index++);
}

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
    await expectFailure(jobWith(emptyLeft, 1), "PROTOCOL_STATE", /a split whose instances do not add up to its sums/);
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
      kernel: portableKernel,
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

describe("the join stream", () => {
  async function* helloOf(
    peer: PassivePeer,
    hello: Parameters<PassivePeer["join"]>,
    change: (hello: PassiveHello) => PassiveHello[],
  ): AsyncGenerator<PassiveHello> {
    yield* mapped(peer.join(...hello), change);
  }

  test("another protocol version", async () => {
    const job = jobWith((peer) => ({
      join: (...hello) => helloOf(peer, hello, (answer) => [{ ...answer, protocolVersion: 99 }]),
    }));
    await expectFailure(
      job,
      "HANDSHAKE_MISMATCH",
      new RegExp(`passive-2 speaks protocol version 99, we speak ${protocolVersion}\\.`),
    );
  });

  test("ends before the answer", async () => {
    const ended: AsyncIterable<PassiveHello> = {
      [Symbol.asyncIterator]: () => ({ next: async () => ({ done: true, value: undefined }) }),
    };
    await expectFailure(
      jobWith(() => ({ join: () => ended })),
      "PARTY_LOST",
      /before the job began/,
    );
  });

  test("a mismatch found by the passive party comes back with its code and names it", async () => {
    const job = jobWith((peer) => ({ join: (hello, options) => peer.join({ ...hello, instanceCount: 3 }, options) }));
    await expectFailure(job, "ID_MISMATCH", /passive-2 does not hold the same ids/);
  });
});

describe("a party that dies in mid-tree", () => {
  const hang = (): Promise<never> => new Promise(() => {});
  const hanging = (): AsyncIterable<never> => ({ [Symbol.asyncIterator]: () => ({ next: hang }) });

  /**
   * The peer answers the calls until `dies` is called; then its join stream ends or breaks, and no call is ever
   * answered.
   */
  function dying(
    at: "setUp" | "gradients" | "histograms" | "splits" | "finishTree" | "predict",
    how: "ends" | "breaks",
  ): PreparedJob {
    return jobWith((peer) => {
      let dies = (): void => {};
      const death = new Promise<void>((resolve) => (dies = resolve));
      const now = <T>(answer: T): T => {
        dies();
        return answer;
      };
      const calls: Pick<PassivePeer, typeof at> = {
        setUp: () => now(hang()),
        async gradients(chunks) {
          await chunks[Symbol.asyncIterator]().next();
          return now(hang());
        },
        histograms: () => now(hanging()),
        splits: () => now(hanging()),
        finishTree: () => now(hang()),
        predict: () => now(hanging()),
      };
      return {
        async *join(hello, options) {
          const { value } = await peer.join(hello, options)[Symbol.asyncIterator]().next();
          yield value as PassiveHello;
          await death;
          if (how === "breaks") throw new TandemError("PARTY_LOST", "party passive-2 is gone: ECONNRESET");
        },
        [at]: calls[at],
      };
    });
  }

  for (const at of ["setUp", "gradients", "histograms", "splits", "finishTree", "predict"] as const) {
    for (const how of ["ends", "breaks"] as const) {
      test(`at ${at}: the join stream ${how}; the others receive its name`, async () => {
        await expectFailure(
          dying(at, how),
          "PARTY_LOST",
          how === "ends" ? /closed its connection in the middle/ : /passive-2 is gone: ECONNRESET/,
        );
      });
    }
  }

  test("after its death every further call fails at once", async () => {
    const made = dying("setUp", "ends");
    await made.active.join();
    await expectError(() => made.active.train(), "PARTY_LOST", /passive-2/);
    await expectError(() => made.active.train(), "PARTY_LOST", /passive-2/);
  });
});

describe("a party whose handler throws", () => {
  test("something unexpected: PARTY_LOST without what it was; the party itself reports it", async () => {
    const made = jobWith(() => ({}));
    const [, { role, service }] = made.passives;
    role.answers.splits = () => {
      throw new Error("row 42 is 1234.5");
    };
    const error = await expectFailure(made, "PARTY_LOST", /party passive-2 failed: an internal error/);
    expect(`${error.message}${error.stack}`).not.toContain("row 42");
    expect((await service.ended).failure).toMatchObject({ code: "INTERNAL", message: "Error: row 42 is 1234.5" });
  });

  test("a TandemError: code and message come through", async () => {
    const made = jobWith(() => ({}));
    made.passives[1].role.answers.finishTree = () => {
      throw new TandemError("FILE_UNWRITABLE", "the disk is full");
    };
    await expectFailure(made, "FILE_UNWRITABLE", /^party passive-2: the disk is full$/);
  });
});

test("a gradient that the layout cannot hold ends the job before anything is sent", async () => {
  const made = prepareJob({ table, kernel: portableKernel, key, codec: { layout: "paper", shift: -0.001 } });
  await expectError(() => made.run(), "LAYOUT_RANGE", /below the layout's shift/);
  expect(made.active.traffic).toEqual({ activeToPassive: 0, passiveToActive: 0 });
  for (const { service } of made.passives) expect((await service.ended).failure?.message).toMatch(/gave up: .*shift/);
});
