/**
 * An active party that deviates: it reconnects and asks differently, splits nodes arbitrarily, or asks too early, too
 * late or twice. Passive parties have checkpoints on disk, and every attempt is a restart.
 */
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { create, toBinary } from "@bufbuild/protobuf";
import { beforeAll, describe, expect, test } from "vitest";
import { TandemError } from "../src/base/error.ts";
import { diskStorage, type Storage } from "../src/base/files/storage.ts";
import { generateKey, type PrivateKey } from "../src/crypto/paillier/index.ts";
import { type JobTerms, PassiveCheckpoints } from "../src/party/passive/checkpoints.ts";
import { bitmapFrom } from "../src/wire/bitmap.ts";
import { ActiveMaskOpenSchema } from "../src/wire/generated/tandem/v1/masked_pb.ts";
import {
  ActiveJobFinishedSchema,
  type ActiveNode,
  ActiveNodeSchema,
  ActivePredictSchema,
  ActiveSetUpSchema,
  ActiveSplitDecisionsSchema,
  PassiveHistogramsSchema,
} from "../src/wire/generated/tandem/v1/tandem_pb.ts";
import { scratchDirectory } from "./support/command.ts";
import { expectError } from "./support/expect-error.ts";
import { column, drive, type Driver } from "./support/passive-driver.ts";
import { collect } from "./support/streams.ts";

const root = scratchDirectory();
let key: PrivateKey;
beforeAll(async () => {
  key = await generateKey({ bits: 256, insecure: true });
});

const terms: JobTerms = {
  active: "bank",
  jobId: "aa",
  agreed: {},
  instances: column.length,
  idsDigest: "01",
  aligned: false,
  training: "",
  validation: "",
  data: "02",
  sampling: "s",
};
const zeros = new Float64Array(column.length);
const ones = zeros.map(() => 1);
const firsts = (count: number, of = column.length): Uint8Array => bitmapFrom(of, (i) => i < count);
const childOf = (members: Uint8Array, node = 1, sibling = 2, parent = 0) => ({
  node,
  origin: { parent, sibling, members },
});

/** As it travels. */
const bytesOf = (answer: Awaited<ReturnType<Driver["root"]>>): string[] =>
  answer.map((message) =>
    Buffer.from(toBinary(PassiveHistogramsSchema, create(PassiveHistogramsSchema, message))).toString("hex"),
  );

let jobs = 0;

/** A job at a passive party that is started anew for every attempt. */
class Job {
  readonly folder = join(root, String(jobs++));
  readonly #training: NonNullable<Parameters<typeof drive>[2]>;
  readonly #defences: NonNullable<Parameters<typeof drive>[3]>;
  storage: Storage = diskStorage;

  constructor(training: NonNullable<Parameters<typeof drive>[2]> = {}, defences = {}) {
    this.#training = { num_round: 3, max_depth: 3, ...training };
    this.#defences = defences;
  }

  async #checkpoints(): Promise<PassiveCheckpoints> {
    const options = { party: "shop", job: "j", folder: this.folder, storage: this.storage };
    const checkpoints = await PassiveCheckpoints.open({ ...options, ownFiles: (work) => work() }, terms);
    await checkpoints.begin();
    return checkpoints;
  }

  /** A restart. */
  async attempt(): Promise<Driver & { finish(treeCount: number): Promise<void> }> {
    const checkpoints = await this.#checkpoints();
    const { progress, permutationSecret, isFinished: finished, rounds: roundStore } = checkpoints;
    const store: PassiveCheckpoints["store"] = (now) => checkpoints.store(now);
    const noiseSecret = permutationSecret;
    const passive = { progress, store, finished, permutationSecret, noiseSecret, roundStore };
    const driver = drive(key, passive, this.#training, this.#defences);
    const finish = async (treeCount: number): Promise<void> => {
      driver.role.finishJob(create(ActiveJobFinishedSchema, { treeCount }));
      const [name, job, model] = ["shop", "j", "ab".repeat(32)];
      await checkpoints.finish({
        share: { name, job, model, active: "bank", splits: driver.role.ownSplits },
        reference: { model, scores: [], features: [] },
      });
    };
    return { ...driver, finish };
  }

  /** A restart, at a tree whose gradients have come. */
  async growing(trees = 0, g?: Float64Array, sampled?: Uint8Array): ReturnType<Job["attempt"]> {
    const driver = await this.attempt();
    driver.join({ trees });
    await driver.setUp();
    await driver.gradients(trees, g, sampled);
    return driver;
  }

  get stored(): string[] {
    const folder = join(this.folder, "round");
    return existsSync(folder)
      ? readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => name.includes(".json"))
      : [];
  }
}

describe("a round that is redone", () => {
  test("gets the same bytes for the same request; with other gradients it is refused", async () => {
    const job = new Job();
    const first = await job.growing();
    const ask = async (driver: Driver): Promise<string[]> =>
      bytesOf([...(await driver.root(0)), ...(await driver.node(0, childOf(firsts(4))))]);
    const before = await ask(first);
    expect(await ask(first), "on the same connection").toEqual(before);
    await expectError(() => job.growing(0, ones), "PROTOCOL_STATE", /not those that were received before/);
    const again = await job.growing();
    expect(await ask(again), "after a restart").toEqual(before);
    const other = new Job();
    expect(await ask(await other.growing(0)), "other bytes in another job").not.toEqual(before);
  });

  test.each<[string, ReturnType<typeof childOf>]>([
    ["other instances in a node", childOf(firsts(5))],
    ["other instances in its sibling, which is asked for instead", childOf(firsts(5), 2, 1)],
    ["other numbers for a node's children", childOf(firsts(4), 3, 4)],
    ["another sibling", childOf(firsts(4), 1, 3)],
    ["the children swapped", childOf(firsts(4), 2, 1)],
  ])("is refused %s, after a restart too", async (_name, question) => {
    const job = new Job();
    const first = await job.growing();
    await first.root(0);
    const before = bytesOf(await first.node(0, childOf(firsts(4))));
    await expectError(() => first.node(0, question), "PROTOCOL_STATE", /earlier children of node 0/);
    const again = await job.growing();
    await expectError(() => again.node(0, question), "PROTOCOL_STATE", /earlier children of node 0/);
    // The refusals changed nothing, and the sibling may be asked for.
    expect(bytesOf(await again.node(0, childOf(firsts(4))))).toEqual(before);
    const rest = bitmapFrom(column.length, (i) => i >= 4);
    expect((await again.node(0, childOf(rest, 2, 1)))[0]).toMatchObject({ node: 2 });
  });

  test("is refused another parent of a node", async () => {
    const job = new Job({ max_depth: 4 });
    const first = await job.growing();
    await first.node(0, childOf(firsts(4)));
    await first.node(0, childOf(firsts(2, 4), 3, 4, 1));
    const again = await job.growing();
    await again.node(0, childOf(firsts(4)));
    await expectError(() => again.node(0, childOf(firsts(2, 6), 3, 4, 2)), "PROTOCOL_STATE", /differ from the earlier/);
  });

  test("is refused with another sample, also if nothing was asked yet", async () => {
    const job = new Job();
    const half = Uint8Array.of(0b11111, 0);
    await job.growing(0, undefined, half);
    await expectError(() => job.growing(0, undefined, Uint8Array.of(0b111111, 0)), "PROTOCOL_STATE", /another sample/);
    await expectError(() => job.growing(), "PROTOCOL_STATE", /another sample/);
    await (await job.growing(0, undefined, half)).root(0);
  });

  test("is refused with another key or another set-up", async () => {
    const job = new Job();
    await (await job.growing()).root(0);
    const again = await job.attempt();
    again.join();
    const setUp = (scheme: Uint8Array, skipBin: boolean) => () =>
      again.role.setUp(create(ActiveSetUpSchema, { scheme, skipBin }));
    const [other] = [key, (key = await generateKey({ bits: 256, insecure: true }))];
    const withOther = await job.attempt();
    key = other;
    withOther.join();
    await expectError(() => withOther.setUp(), "PROTOCOL_STATE", /began with another set-up/);
    await expectError(setUp(new Uint8Array(0), true), "HANDSHAKE_MISMATCH", /public key/);
    const { scheme } = await again.setUpMessage();
    await expectError(setUp(scheme, false), "PROTOCOL_STATE", /began with another set-up/);
    await again.setUp();
    await again.gradients(0);
  });

  test("is never earlier than the last round that was begun", async () => {
    const job = new Job();
    const first = await job.growing();
    await first.root(0);
    await first.finishTree(0);
    await (await job.growing(0)).root(0); // the active party may not have stored it
    await (await job.growing(1)).root(1);
    await expectError(() => job.growing(0), "CHECKPOINT", /they do not belong together/);
  });

  test("with noise is refused other gradients: noise cannot be cancelled", async () => {
    const job = new Job({}, { answer_noise: 0.5 });
    const first = await job.growing(0, ones);
    const ofRoot = await first.sums(await first.root(0));
    await expectError(() => job.growing(0, zeros), "PROTOCOL_STATE", /not those that were received before/);
    const again = await job.growing(0, ones);
    expect(await again.sums(await again.root(0))).toEqual(ofRoot);
    const rest = bitmapFrom(column.length, (i) => i >= 4);
    const left = await again.sums(await again.node(0, childOf(firsts(4))));
    const right = await again.sums(await again.node(0, childOf(rest, 2, 1)));
    // Sums and noise add up.
    const offered = Array.from(left.keys()).filter((i) => left[i] !== 0);
    expect(offered.length).toBeGreaterThan(2);
    for (const i of offered) expect(left[i] + right[i]).toBe(ofRoot[i]);
  });
});

describe("the stored answers of a round", () => {
  test("are written before they are sent: an answer that cannot be stored is neither sent nor remembered", async () => {
    const job = new Job();
    let isFull = false;
    job.storage = {
      ...diskStorage,
      append: async (path, contents) => {
        if (isFull) throw new TandemError("FILE_UNWRITABLE", "full");
        await diskStorage.append(path, contents);
      },
    };
    const driver = await job.growing();
    isFull = true;
    await expectError(() => driver.root(0), "FILE_UNWRITABLE");
    isFull = false;
    expect(job.stored).toEqual([]);
    await driver.root(0);
    expect(job.stored).toEqual([join("0", "answers-0.jsonl")]);
  });

  test("of several nodes of one call, with an interrupted write between them, are sent again", async () => {
    const job = new Job({ max_depth: 4 });
    const ask = async (driver: Driver): Promise<string[]> => {
      const nodes = [
        { isRoot: true },
        { parent: 0, sibling: 2, members: firsts(6) },
        { parent: 1, sibling: 4, members: firsts(3, 6) },
      ];
      async function* requests(): AsyncGenerator<ActiveNode> {
        for (const [i, members] of nodes.entries())
          yield create(ActiveNodeSchema, { tree: 0, node: [0, 1, 3][i], members });
      }
      return bytesOf(await collect(driver.role.answers.histograms(requests())));
    };
    const before = await ask(await job.growing());
    const path = join(job.folder, "round", "0", "answers-0.jsonl");
    const [whole] = [readFileSync(path, "utf8")];
    writeFileSync(path, `${whole}\n${whole.trim().slice(0, 200)}`);
    const again = await job.growing();
    expect(await ask(again)).toEqual(before);
    await again.node(0, childOf(firsts(2, 4), 5, 6, 2));
    expect(await ask(await job.growing())).toEqual(before);
    // One that was changed is noticed.
    writeFileSync(path, whole.replace(/"messages":\["..../, '"messages":["AAAA'));
    await expectError(() => job.growing(), "CHECKPOINT", /is damaged/);
  });

  test("are deleted when the next round begins, and with the job", async () => {
    const job = new Job({ num_round: 2 });
    const driver = await job.growing();
    await driver.root(0);
    await driver.finishTree(0);
    expect(job.stored).toContain(join("0", "answers-0.jsonl"));
    await driver.gradients(1);
    expect(job.stored).toEqual([]);
    await driver.root(1);
    await driver.finishTree(1);
    expect(job.stored).toContain(join("1", "answers-0.jsonl"));
    await driver.finish(2);
    expect(existsSync(join(job.folder, "round"))).toBe(false);
  });

  test("contain neither a key nor a threshold", async () => {
    const job = new Job();
    const driver = await job.growing();
    await driver.splits(0, 0, 3);
    const text = readFileSync(join(job.folder, "round", "0", "answers-0.jsonl"), "utf8").trim();
    expect(Object.keys((JSON.parse(text) as { answer: object }).answer).toSorted()).toEqual([
      "beginning",
      "messages",
      "node",
      "parting",
      "tree",
    ]);
  });
});

describe("a node that this party has split", () => {
  test("is split in that way only, and the left child has the lower number, after a restart too", async () => {
    const job = new Job();
    const first = await job.growing();
    const left = await first.splits(0, 0, 3);
    const others = bitmapFrom(column.length, (i) => (left[i >>> 3] & (1 << (i & 7))) === 0);
    for (const driver of [first, await job.growing()]) {
      for (const members of [others, firsts(5)])
        await expectError(() => driver.node(0, childOf(members)), "PROTOCOL_STATE", /not the sides of node 0's split/);
      expect(await driver.node(0, childOf(others, 2, 1))).toHaveLength(1);
    }
  });

  test("cannot have been split before, in this attempt or in another", async () => {
    const job = new Job();
    const first = await job.growing();
    await first.root(0);
    await first.node(0, childOf(firsts(4)));
    await expectError(() => first.splits(0, 0, 3), "PROTOCOL_STATE", /node 0 was already split/);
    const again = await job.growing();
    await expectError(() => again.splits(0, 0, 3), "PROTOCOL_STATE", /node 0 was already split/);
    expect(again.role.ownSplits).toEqual([]);
  });

  test("must have been asked for, or its sibling", async () => {
    const driver = await new Job().growing();
    const split = (node: number) =>
      collect(
        driver.role.answers.splits(
          create(ActiveSplitDecisionsSchema, {
            tree: 0,
            decisions: [{ node, named: { case: "candidate", value: 3 } }],
          }),
        ),
      );
    await expectError(() => split(0), "PROTOCOL_STATE", /its candidates were not requested/);
    await driver.root(0);
    await driver.node(0, childOf(firsts(4)));
    await split(2);
  });
});

describe("a tree", () => {
  test("is not grown deeper than agreed, along a chain of nodes with small numbers", async () => {
    const driver = await new Job().growing();
    await driver.node(0, childOf(firsts(6)));
    await driver.node(0, childOf(firsts(4, 6), 3, 4, 1));
    await expectError(() => driver.node(0, childOf(firsts(2, 4), 5, 6, 3)), "PROTOCOL_STATE", /exceed max_depth/);
  });

  test("has no more pairs and splits than its leaves allow, over all attempts", async () => {
    const job = new Job({ max_depth: 4, max_leaves: 3, grow_policy: "lossguide" });
    const first = await job.growing();
    await first.root(0);
    await first.node(0, childOf(firsts(6)));
    await expectError(
      () => first.node(0, childOf(firsts(3, 6), 3, 4, 1)),
      "PROTOCOL_STATE",
      /one more split than a tree/,
    );
    await first.splits(0, 1, 3);
    await expectError(() => first.splits(0, 2, 3), "PROTOCOL_STATE", /more leaves than were agreed/);
    const again = await job.growing();
    await again.node(0, childOf(firsts(6)));
    await expectError(() => again.splits(0, 2, 3), "PROTOCOL_STATE", /more leaves than were agreed/);
  });

  test("two streams at once: one answer for the same question, a refusal for another", async () => {
    const driver = await new Job().growing();
    const [a, b, c] = await Promise.allSettled([
      driver.node(0, childOf(firsts(4))),
      driver.node(0, childOf(firsts(4))),
      driver.node(0, childOf(firsts(5))),
    ]);
    expect(a).toEqual(b);
    expect(a.status).toBe("fulfilled");
    expect(c).toMatchObject({ status: "rejected", reason: { code: "PROTOCOL_STATE" } });
  });

  test("ends after its pending answers, none of which uses the next tree's gradients", async () => {
    const driver = await new Job().growing(0, zeros);
    const answer = driver.node(0, childOf(firsts(4)));
    await new Promise((resolve) => setImmediate(resolve));
    await driver.finishTree(0);
    await driver.gradients(1, ones);
    const sums = await driver.sums(await answer);
    const counts = (await answer).flatMap(({ counts: ofPiece }) => ofPiece);
    const stride = sums.length / counts.length;
    // A gradient of 0 is 2^24 on the grid, one of 1 is twice that.
    expect(counts.map((_, i) => sums[i * stride])).toEqual(counts.map((count) => count * 2 ** 24));
    await expectError(() => driver.node(0, childOf(firsts(4))), "PROTOCOL_STATE", /is at tree 1, not 0/);
  });

  test("a stream of nodes that is left open does not outlive its tree", async () => {
    const driver = await new Job().growing();
    let [release, taken] = [(): void => {}, (): void => {}];
    const held = new Promise<void>((resolve) => (release = resolve));
    const isTaken = new Promise<void>((resolve) => (taken = resolve));
    async function* slowly(): AsyncGenerator<ActiveNode> {
      yield create(ActiveNodeSchema, { tree: 0, node: 0, members: { isRoot: true } });
      taken();
      await held;
      yield create(ActiveNodeSchema, { tree: 0, node: 1, members: { parent: 0, sibling: 2, members: firsts(4) } });
    }
    const answers = collect(driver.role.answers.histograms(slowly()));
    answers.catch(() => {});
    await isTaken;
    await driver.finishTree(0);
    release();
    await expectError(() => answers, "PROTOCOL_STATE", /is ready and cannot take/);
  });
});

describe("masked predictions", () => {
  const split = { tree: 0, node: 0, feature: 0, featureName: "p1f0", threshold: 2.5, defaultLeft: true };
  const masked = async (passive = {}): Promise<Driver> => {
    const driver = drive(key, passive, { num_round: 2, max_depth: 2 }, { masked_scoring: true });
    driver.join();
    await driver.setUp();
    return driver;
  };
  const open = (driver: Driver, startModel: boolean) =>
    driver.role.answers.maskOpen(create(ActiveMaskOpenSchema, { startModel, literals: [0], lengths: [1], runs: [1] }));

  test("of test rows need these to be fixed first", async () => {
    const driver = await masked();
    await driver.gradients(0);
    await driver.splits(0, 0, 3);
    await driver.finishTree(0);
    await expectError(() => open(driver, false), "PROTOCOL_STATE", /no ids to predict/);
    await driver.testRows(["id-1"]);
    await expectError(() => open(driver, false), "PROTOCOL_STATE", /unknown masking/);
    await expectError(() => driver.gradients(1), "PROTOCOL_STATE", /training of this job is over/);
  });

  test("by a start model come before the first gradients", async () => {
    const driver = await masked({ start: [{ split, values: column }] });
    await expectError(() => open(driver, true), "PROTOCOL_STATE", /unknown masking/);
    await driver.gradients(0);
    await driver.finishTree(0);
    await expectError(() => open(driver, true), "PROTOCOL_STATE", /before the first gradients only/);
  });
});

describe("predictions", () => {
  const ask = (driver: Driver, firstRow: number, rowCount: number) =>
    collect(driver.role.answers.predict(create(ActivePredictSchema, { firstRow, rowCount })));

  async function trained(job: Job): ReturnType<Job["attempt"]> {
    const driver = await job.growing();
    await driver.splits(0, 0, 3);
    await driver.finishTree(0);
    return driver;
  }

  test("are of rows that were fixed once, in any batches, across restarts and after the end", async () => {
    const job = new Job();
    const driver = await trained(job);
    await expectError(() => ask(driver, 0, 1), "PROTOCOL_STATE", /no ids to predict/);
    const ids = ["id-1", "id-2", "id-3"];
    const predicted = await driver.predict(ids);
    expect(await ask(driver, 1, 2)).toHaveLength(1);
    const again = await job.attempt();
    again.join({ trees: 1 });
    const other = /prediction ids differ/;
    for (const others of [["id-1"], [...ids, "id-4"], ids.toReversed()])
      await expectError(() => again.testRows(others), "PROTOCOL_STATE", other);
    expect(await again.predict(ids)).toEqual(predicted);
    for (const [first, count] of [
      [0, 4],
      [3, 1],
      [0, 0],
    ])
      await expectError(() => ask(again, first, count), "PROTOCOL_STATE", /rows outside those to be predicted/);
    await again.finish(1);
    const finished = await job.attempt();
    finished.join({ trees: 1 });
    await expectError(() => finished.testRows(["id-4"]), "PROTOCOL_STATE", other);
    expect(await finished.predict(ids)).toEqual(predicted);
  });

  test("end training, also after a restart", async () => {
    const job = new Job();
    const driver = await trained(job);
    await driver.testRows(["id-1"]);
    await expectError(() => driver.gradients(1), "PROTOCOL_STATE", /training of this job is over/);
    await expectError(() => job.growing(1), "PROTOCOL_STATE", /training of this job is over/);
  });

  test("are refused if the job ended without any, while a round must be redone, and for repeated rows", async () => {
    const job = new Job();
    const driver = await trained(job);
    await expectError(() => driver.testRows(["id-1", "id-1"]), "PROTOCOL_STATE", /named twice/);
    await expectError(() => driver.testRows([]), "PROTOCOL_STATE", /no ids to predict/);
    const behind = await job.attempt();
    behind.join({ trees: 0 });
    await expectError(() => behind.testRows(["id-1"]), "PROTOCOL_STATE", /has stored 1 trees/);
    const level = await job.attempt();
    level.join({ trees: 1 });
    await level.finish(1);
    const finished = await job.attempt();
    finished.join({ trees: 1 });
    await expectError(() => finished.testRows(["id-1"]), "PROTOCOL_STATE", /prediction ids differ/);
  });

  test("of a start model come before the first gradients of an attempt, and not later", async () => {
    const split = { tree: 0, node: 0, feature: 0, featureName: "p1f0", threshold: 2.5, defaultLeft: true };
    const driver = drive(key, { start: [{ split, values: column }] });
    const start = () => collect(driver.role.answers.predict(create(ActivePredictSchema, { startInstances: true })));
    driver.join();
    const predicted = await start();
    await driver.setUp();
    expect(await start()).toEqual(predicted);
    await driver.gradients(0);
    await driver.finishTree(0);
    await expectError(start, "PROTOCOL_STATE", /before the first gradients only/);
  });
});

test("a job under the same id does not restart from the beginning once gradients have been received", async () => {
  const job = new Job();
  await job.growing();
  const options = { party: "shop", job: "j", folder: job.folder, storage: diskStorage };
  const open = (change: Partial<JobTerms>) =>
    PassiveCheckpoints.open({ ...options, ownFiles: (work) => work() }, { ...terms, ...change });
  for (const change of [{ training: "AQ==" }, { validation: "AQ==" }, { data: "ff" }, { agreed: { maxDepth: 9 } }])
    await expectError(() => open(change), "CHECKPOINT", /since then/);
});
