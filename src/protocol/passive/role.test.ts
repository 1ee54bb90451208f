import { create } from "@bufbuild/protobuf";
import { beforeAll, describe, expect, test } from "vitest";
import { expectError } from "../../../test/support/expect-error.ts";
import { column, drive, type Driver } from "../../../test/support/passive-driver.ts";
import { collect, one } from "../../../test/support/streams.ts";
import { generateKey, type PrivateKey } from "../../crypto/paillier/index.ts";
import {
  type ActiveGradients,
  ActiveGradientsSchema,
  ActiveHelloSchema,
  ActiveJobFinishedSchema,
  ActiveOrderSchema,
  ActiveSplitDecisionsSchema,
} from "../../wire/generated/tandem/v1/tandem_pb.ts";
import { idsDigest } from "../ids.ts";
import { flatParameters } from "../job-parameters.ts";
import { isSet } from "../../wire/bitmap.ts";
import { protocolVersion } from "../../wire/version.ts";

let key: PrivateKey;
beforeAll(async () => {
  key = await generateKey({ bits: 256, insecure: true });
});

/** A driver that has reached a phase. */
async function at(
  phase: "waiting" | "joined" | "ready" | "loading" | "growing" | "finished" | "given up",
): Promise<Driver> {
  const driver = drive(key);
  if (phase === "waiting") return driver;
  driver.join();
  if (phase === "joined") return driver;
  await driver.setUp();
  if (phase === "ready") return driver;
  if (phase === "loading") {
    const chunks = driver.chunks(0)[Symbol.asyncIterator]();
    let first = true;
    void driver.role.answers.gradients({
      [Symbol.asyncIterator]: () => ({
        next: () => (first ? ((first = false), chunks.next()) : new Promise<never>(() => {})),
      }),
    });
    while (driver.job.observed.length < 2) await new Promise((resolve) => setImmediate(resolve));
    return driver;
  }
  if (phase === "given up") {
    driver.role.finishJob(create(ActiveJobFinishedSchema, { failure: "tired" }));
    return driver;
  }
  await driver.gradients(0);
  if (phase === "growing") return driver;
  await driver.finishTree(0);
  await driver.gradients(1);
  await driver.finishTree(1);
  await driver.testRows(["id-0"]);
  driver.role.finishJob(create(ActiveJobFinishedSchema, { treeCount: 2 }));
  return driver;
}

describe("messages are accepted in their phase only", () => {
  const messages: Record<string, (driver: Driver) => unknown> = {
    join: (driver) => driver.join(),
    setUp: (driver) => driver.setUp(),
    gradients: (driver) => driver.gradients(0),
    histograms: (driver) => driver.root(0),
    splits: (driver) => driver.splits(0, 0, 0),
    finishTree: (driver) => driver.finishTree(0),
    predict: (driver) => driver.predict(["id-0"]),
    "finishJob with success": (driver) => driver.role.finishJob(create(ActiveJobFinishedSchema, { treeCount: 2 })),
  };
  // Repeats of messages accepted on this connection are accepted, and change nothing.
  const allowed: Record<string, readonly string[]> = {
    waiting: ["join"],
    joined: ["join", "setUp", "predict"],
    ready: ["join", "setUp", "gradients", "predict"],
    loading: ["join", "setUp"],
    growing: ["join", "setUp", "gradients", "histograms", "splits", "finishTree"],
    finished: ["join", "setUp", "finishTree", "predict", "finishJob with success"],
    "given up": ["join", "setUp"],
  };

  for (const [phase, names] of Object.entries(allowed)) {
    for (const name of Object.keys(messages)) {
      if (phase === "loading" && name === "gradients") continue; // a second copy waits for the first: below
      test(`${phase}: ${name} is ${names.includes(name) ? "taken" : "refused"}`, async () => {
        const driver = await at(phase as Parameters<typeof at>[0]);
        if (names.includes(name)) await expect(Promise.resolve(messages[name](driver))).resolves.not.toThrow();
        else if ((phase === "ready" || phase === "joined") && name.startsWith("finishJob"))
          await expectError(() => messages[name](driver), "PROTOCOL_STATE", /after 0 of 2 trees/);
        else
          await expectError(
            () => messages[name](driver),
            "PROTOCOL_STATE",
            new RegExp(`passive-1 is ${phase} and cannot take this message`),
          );
      });
    }
    test(`${phase}: the active party may give up`, async () => {
      const { role } = await at(phase as Parameters<typeof at>[0]);
      expect(() => role.finishJob(create(ActiveJobFinishedSchema, { failure: "another party died" }))).not.toThrow();
    });
  }

  test("the tree must be the current one", async () => {
    const driver = await at("growing");
    for (const work of [() => driver.root(1), () => driver.splits(1, 0, 0), () => driver.finishTree(1)]) {
      await expectError(work, "PROTOCOL_STATE", /passive-1 is at tree 0, not 1/);
    }
  });

  test("a whole job, and not one tree more", async () => {
    const driver = await at("ready");
    for (const tree of [0, 1]) {
      await driver.gradients(tree);
      await driver.finishTree(tree);
    }
    await expectError(() => driver.gradients(2), "PROTOCOL_STATE", /2 trees were agreed, not more/);
    expect(() => driver.role.finishJob(create(ActiveJobFinishedSchema, { treeCount: 2 }))).not.toThrow();
    await expectError(() => driver.gradients(2), "PROTOCOL_STATE", /is finished/);
  });
});

describe("the handshake", () => {
  test("agrees", () =>
    expect(drive(key).join()).toEqual({
      protocolVersion,
      passiveName: "passive-1",
      featureCount: 2,
      trees: 0,
      scheme: new Uint8Array(0),
      finished: false,
    }));

  test("another protocol version: both are named", async () => {
    await expectError(
      () => drive(key).join({ protocolVersion: protocolVersion + 1 }),
      "HANDSHAKE_MISMATCH",
      new RegExp(`version.*${protocolVersion + 1}.*passive-1.*${protocolVersion}`),
    );
  });

  const others = {
    job: "another",
    numRound: 77,
    maxDepth: 9,
    maxLeaves: 5,
    maxBin: 64,
    sketchedCuts: true,
    scheme: "lattice",
    keyBits: 4096,
    codec: "unbatched",
    seed: 8,
    colsampleBytree: 0.5,
    colsampleBylevel: 0.5,
    colsampleBynode: 0.5,
    treesPerRound: 3,
    localRounds: 1,
    startModel: "another",
    startTrees: 1,
    enableCategorical: true,
    maxCatToOnehot: 9,
    answerNoise: 5,
    minPeopleShare: 0.1,
    maxThresholds: 4,
    maskedScoring: true,
    hiddenOutcomes: true,
    resolutionBits: 30,
    outputs: 3,
    padding: 3,
    slotBits: 30,
    interactionGroups: "a",
    vetting: true,
  };
  const configName = (field: string): string => field.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

  test("the list below is every field that is agreed on", () =>
    expect(Object.keys(flatParameters(drive(key).job.agreed)).sort()).toEqual(Object.keys(others).sort()));

  test.each(Object.entries(others))("another %s: the field and both values are named", async (field, value) => {
    const driver = drive(key);
    const { agreed } = driver.job;
    const ours = flatParameters(agreed)[field];
    const changed =
      field === "keyBits"
        ? { ...agreed, schemeParameters: { keyBits: 4096 } }
        : Object.hasOwn(agreed, field)
          ? { ...agreed, [field]: value }
          : { ...agreed, defences: { ...agreed.defences, [configName(field)]: value } };
    const error = await expectError(() => driver.join({ parameters: changed }), "HANDSHAKE_MISMATCH");
    expect(error.message).toBe(`${field}: the active party proposes ${value}, passive-1 has agreed to ${ours}`);
    expect(() => driver.join(), "a refused hello leaves the party waiting").not.toThrow();
  });

  test("no parameters at all", async () => {
    const driver = drive(key);
    const hello = create(ActiveHelloSchema, { protocolVersion, activeName: "bank" });
    await expectError(() => driver.role.join(hello), "HANDSHAKE_MISMATCH", /names no parameters/);
  });

  test("other ids, another order, another number", async () => {
    const { ids } = drive(key).job;
    const digests = [idsDigest([...ids].reverse()), idsDigest(ids.slice(1)), new Uint8Array(0), new Uint8Array(32)];
    for (const digest of digests)
      await expectError(() => drive(key).join({ idsDigest: digest }), "ID_MISMATCH", /passive-1 .*same ids/);
    await expectError(() => drive(key).join({ instanceCount: 11 }), "ID_MISMATCH");
  });

  test("text from the peer is sanitised before it reaches logs or the terminal", async () => {
    const driver = drive(key);
    await expectError(
      () => driver.join({ parameters: { ...driver.job.agreed, job: `\u001b[2J${"x".repeat(5000)}` } }),
      "HANDSHAKE_MISMATCH",
      /^job: the active party proposes {2}\[2Jx{496}\.\.\., /,
    );
    driver.join({ activeName: "ba\nnk\u001b[1m" });
    expect(driver.job.observed).toEqual([["passive-1", "joined", "ba nk [1m"]]);
  });
});

describe("gradients", () => {
  const chunkOf = (tree: number, sequence: number): ActiveGradients =>
    create(ActiveGradientsSchema, { tree, sequence });
  test.each([
    ["of another tree", chunkOf(1, 0)],
    ["with another sequence number", chunkOf(0, 1)],
  ])("%s", async (_name, chunk) => {
    const driver = await at("ready");
    await expectError(() => driver.role.answers.gradients(one(chunk)), "PROTOCOL_STATE", /out of order/);
    await driver.gradients(0);
    await driver.finishTree(0);
  });

  test("with a second sample, an empty sample, or one of another number of instances", async () => {
    const driver = await at("ready");
    const chunks = await collect(driver.chunks(0));
    const half = chunks[0].scheme; // one chunk holds all instances
    async function* sampled(...samples: Uint8Array[]): AsyncGenerator<ActiveGradients> {
      for (const [sequence, bitmap] of samples.entries())
        yield create(ActiveGradientsSchema, { tree: 0, sequence, scheme: half, sampled: bitmap });
    }
    const all = Uint8Array.of(255, 3);
    const send = (...samples: Uint8Array[]) => driver.role.answers.gradients(sampled(...samples));
    await expectError(() => send(all, all), "PROTOCOL_STATE", /a second sample/);
    await expectError(() => send(Uint8Array.of(0, 0)), "PROTOCOL_STATE", /no instances/);
    await expectError(() => send(Uint8Array.of(255)), "PROTOCOL_STATE", /1 bytes; 2 /);
    await driver.gradients(0);
  });

  test("with validation rows in the sample, or with an empty bitmap, which means all rows", async () => {
    const driver = drive(key);
    driver.join({ validationRows: Uint8Array.of(0, 0b10) });
    await driver.setUp();
    const [{ scheme }] = await collect(driver.chunks(0));
    for (const sampled of [new Uint8Array(0), Uint8Array.of(255, 3), Uint8Array.of(0, 2)])
      await expectError(
        () => driver.role.answers.gradients(one(create(ActiveGradientsSchema, { tree: 0, scheme, sampled }))),
        "PROTOCOL_STATE",
        /a sample with validation rows/,
      );
  });
});

function thresholdCandidate<C extends object>(candidate: C): Extract<C, { bin: number }> {
  if (!("bin" in candidate)) throw new Error("the features have thresholds");
  return candidate as Extract<C, { bin: number }>;
}

describe("splits", () => {
  const positionsOf = (
    driver: Driver,
    wanted: (candidate: { feature: number; bin: number; missingLeft: boolean }) => boolean,
  ): number[] => {
    const nodes = driver.job.passives[0].scheme.nodes();
    const count = 10; // two features with three bins and missing values: 2 * (2 * 3 - 1) candidates
    return Array.from({ length: count }, (_, i) => i).filter((position) =>
      wanted(thresholdCandidate(nodes.candidateAt(0, position))),
    );
  };

  test.each([
    ["the lowest feature wins first", () => true, { feature: 0, threshold: 2, defaultLeft: false }],
    [
      "then the lowest threshold",
      (c: { feature: number; bin: number }) => c.feature === 1 && c.bin > 0,
      { feature: 1, threshold: 3, defaultLeft: false },
    ],
    [
      "then missing right",
      (c: { feature: number; bin: number }) => c.feature === 1 && c.bin === 1,
      { feature: 1, threshold: 3, defaultLeft: false },
    ],
    [
      "missing left if it is alone",
      (c: { feature: number; bin: number; missingLeft: boolean }) => c.feature === 1 && c.bin === 1 && c.missingLeft,
      { feature: 1, threshold: 3, defaultLeft: true },
    ],
  ])("%s is first in the order that is sent", async (_name, wanted, expected) => {
    const driver = await at("growing");
    expect(driver.role.ownSplits).toEqual([]);
    await driver.root(0);
    const order = await driver.order(0, 0);
    const first = positionsOf(driver, wanted).reduce((a, b) => (order[b] < order[a] ? b : a));
    const left = await driver.splits(0, 0, first);
    expect(driver.role.ownSplits).toEqual([{ tree: 0, node: 0, featureName: `p1f${expected.feature}`, ...expected }]);
    const goesLeft = [...column].map((value) =>
      Number.isNaN(value) ? expected.defaultLeft : value < expected.threshold,
    );
    expect(goesLeft.map((_, i) => isSet(left, i))).toEqual(goesLeft);
  });

  test("the order is sent only after the sums, for nodes of this tree, and is the same when repeated", async () => {
    const driver = await at("growing");
    await expectError(() => driver.order(0, 0), "PROTOCOL_STATE", /before their sums/);
    await driver.root(0);
    const order = await driver.order(0, 0);
    expect([...order].sort((a, b) => a - b)).toEqual(order.map((_, i) => i));
    expect(await driver.order(0, 0)).toEqual(order);
    await expectError(() => driver.order(0, 5), "PROTOCOL_STATE", /node 5 is not known/);
    await expectError(() => driver.order(1, 0), "PROTOCOL_STATE", /is at tree 0, not 1/);
  });

  test("a list with more nodes than a tree has, or a node twice: refused before any work", async () => {
    const driver = await at("growing");
    await driver.root(0);
    const long = Array.from({ length: 1000 }, (_, i) => i);
    for (const nodes of [[0, 0], long]) {
      const order = create(ActiveOrderSchema, { tree: 0, nodes });
      await expectError(
        () => collect(driver.role.answers.order(order)),
        "PROTOCOL_STATE",
        /more nodes than a tree has/,
      );
      const decisions = nodes.map((node) => ({ node, named: { case: "candidate" as const, value: 0 } }));
      const splits = create(ActiveSplitDecisionsSchema, { tree: 0, decisions });
      await expectError(() => collect(driver.role.answers.splits(splits)), "PROTOCOL_STATE", /one of them twice/);
    }
    expect(driver.role.ownSplits).toEqual([]);
  });

  test("a candidate that does not exist, an unknown node: nothing is kept", async () => {
    const driver = await at("growing");
    await expectError(() => driver.splits(0, 0, 10), "PROTOCOL_STATE", /candidate 10 does not exist/);
    await expectError(() => driver.splits(0, 0, 0xffffffff), "PROTOCOL_STATE", /does not exist/);
    await expectError(() => driver.splits(0, 5, 0), "PROTOCOL_STATE", /node 5 is not known/);
    expect(driver.role.ownSplits).toEqual([]);
  });

  test("a node's outcomes are revealed once per tree", async () => {
    const driver = await at("growing");
    await driver.splits(0, 0, 0);
    await expectError(() => driver.splits(0, 0, 1), "PROTOCOL_STATE", /node 0 is already split/);
    expect(driver.role.ownSplits.length).toBe(1);
    await driver.finishTree(0);
    await driver.gradients(1);
    await driver.splits(1, 0, 1);
    expect(driver.role.ownSplits.map(({ tree }) => tree)).toEqual([0, 1]);
  });
});

describe("prediction", () => {
  test("the outcome of each split for each id, missing values by default direction", async () => {
    const driver = await at("growing");
    await driver.splits(0, 0, 0);
    await driver.finishTree(0);
    const [{ threshold = Number.NaN, defaultLeft }] = driver.role.ownSplits;
    const ids = ["id-3", "id-0", "id-2"];
    const answers = await driver.predict(ids);
    expect(answers.length).toBe(1);
    const { tree, node, leftMembers } = answers[0];
    expect([tree, node, leftMembers?.length]).toEqual([0, 0, 1]);
    expect(ids.map((_, i) => isSet(leftMembers ?? new Uint8Array(1), i))).toEqual([
      defaultLeft,
      1 < threshold,
      3 < threshold,
    ]);
  });

  test("an unknown id is refused without naming it", async () => {
    const driver = await at("ready");
    const error = await expectError(() => driver.predict(["id-0", "id-99"]), "ID_MISMATCH", /passive-1/);
    expect(error.message).not.toContain("id-99");
  });
});
