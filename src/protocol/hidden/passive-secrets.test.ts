/**
 * What a passive party uses once where members are hidden: hints, smudging noise and answers. Every attempt has the
 * same bytes, and another request for a node is refused in all of them.
 */
import { describe, expect, test } from "vitest";
import { expectError } from "../../../test/support/expect-error.ts";
import { HiddenDriver, KeptNodes, rowCount } from "../../../test/support/hidden-driver.ts";
import { noProgress, type PassiveProgress } from "../passive/progress.ts";
import { nodesOfJob, nodesPerTree } from "./terms.ts";

const seeds = { active: new Uint8Array(32).fill(1), passive: new Uint8Array(32).fill(2) };

describe("what is used once", () => {
  test("a node is answered once, also if the same bytes come again, at once or later", async () => {
    const driver = await HiddenDriver.growing();
    const messages = await driver.sealed(0, 1);
    const outcomes = await Promise.allSettled([driver.ask(messages), driver.ask(messages)]);
    expect(outcomes.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    await expectError(() => driver.ask(messages), "PROTOCOL_STATE", /node 1 of tree 0 is asked for too often/);
    driver.close();
  });

  test("the number of nodes of a tree is limited: the root, and one of each pair", async () => {
    const driver = await HiddenDriver.ready();
    const most = nodesPerTree(driver.agreed);
    expect(most).toBe(4);
    for (let node = 0; node < most; node++) await driver.sums(0, node);
    await expectError(async () => driver.ask(await driver.sealed(0, most)), "PROTOCOL_STATE", /too often/);
    await driver.finishTree(0);
    expect((await driver.sums(1, 0)).length).toBeGreaterThan(0);
    driver.close();
  });

  test("hints are sent once, also for concurrent calls, and nodes are decrypted with those", async () => {
    const driver = await HiddenDriver.of();
    await expectError(() => driver.hints(), "PROTOCOL_STATE");
    driver.join();
    await expectError(() => driver.hints(), "PROTOCOL_STATE");
    await driver.setUp(await driver.setUpMessage());
    const outcomes = await Promise.allSettled([driver.hints(), driver.hints()]);
    expect(outcomes.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    await expectError(() => driver.hints(), "PROTOCOL_STATE", /once in an attempt/);
    driver.close();
  });

  test("a node before its hints is refused", async () => {
    const [driver, other] = await Promise.all([HiddenDriver.of(), HiddenDriver.ready()]);
    driver.join();
    await driver.setUp(await driver.setUpMessage());
    await expectError(async () => driver.ask(await other.sealed(0, 0)), "PROTOCOL_STATE", /before its hints/);
    for (const each of [driver, other]) each.close();
  });

  test("every attempt has the same greeting, set-up, hints, records and answers", async () => {
    const seen: Record<"greetings" | "setUps" | "hints" | "records" | "words", Set<string>> = {
      greetings: new Set(),
      setUps: new Set(),
      hints: new Set(),
      records: new Set(),
      words: new Set(),
    };
    const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");
    for (let attempt = 0; attempt < 2; attempt++) {
      const driver = await HiddenDriver.of({ seeds });
      seen.greetings.add(hex(driver.join()));
      const setUp = await driver.setUpMessage();
      seen.setUps.add(hex(setUp));
      await driver.setUp(setUp);
      const pieces = await driver.hints();
      seen.hints.add(hex(Buffer.concat(pieces)));
      await driver.active.hints(0, driver.candidateCount, streamed(pieces));
      if (attempt === 0) await driver.sealed(0, 2); // records do not depend on which nodes were encrypted before
      await driver.sums(0, 0);
      const messages = await driver.sealed(0, 1);
      seen.records.add(hex(Buffer.concat(messages.map(({ scheme }) => scheme))));
      const [{ scheme }] = await driver.ask(messages);
      seen.words.add(hex(scheme));
      driver.close();
    }
    for (const [what, of] of Object.entries(seen)) expect(of.size, what).toBe(1);
  });

  test("another set-up has other rows, and so other hints and records, with the same seeds", async () => {
    const driver = await HiddenDriver.of({ seeds });
    driver.join();
    const own = await driver.setUpMessage();
    const other = await driver.setUpMessage([...(await HiddenDriver.of()).greetings, ...driver.greetings]);
    expect(other).not.toEqual(own);
    await driver.setUp(other);
    const hints = Buffer.concat(await driver.hints());
    const usual = await HiddenDriver.of({ seeds });
    usual.join();
    await usual.setUp(await usual.setUpMessage());
    expect(Buffer.concat(await usual.hints()).equals(hints)).toBe(false);
    for (const each of [driver, usual]) each.close();
  });
});

describe("the nodes of a job, over all attempts", () => {
  test("a repeated request gets the same bytes; one with other gradients is refused, now and later", async () => {
    const nodeJournal = new KeptNodes();
    const first = await HiddenDriver.growing({ seeds, passive: { nodeJournal } });
    const [answer] = await first.ask(await first.sealed(0, 1));
    first.close();
    expect(nodeJournal.nodes.map(({ node }) => node)).toEqual([0, 1]);
    for (let attempt = 0; attempt < 2; attempt++) {
      const again = await HiddenDriver.growing({ seeds, passive: { nodeJournal } });
      await expectError(
        async () => again.ask(await again.sealed(0, 1, 1, rowCount - 1)),
        "PROTOCOL_STATE",
        /node 1 of tree 0 was requested with other gradients before/,
      );
      again.close();
    }
    const last = await HiddenDriver.growing({ seeds, passive: { nodeJournal } });
    expect(await last.ask(await last.sealed(0, 1))).toEqual([answer]);
    last.close();
    expect(nodeJournal.nodes).toHaveLength(2);
  });

  test("the root of a later attempt cannot differ either, nor its fraction of columns", async () => {
    const nodeJournal = new KeptNodes();
    const training = { colsample_bytree: 0.6 };
    const first = await HiddenDriver.growing({ seeds, training, passive: { nodeJournal } });
    first.close();
    for (const [members, rate] of [
      [rowCount - 1, 0],
      [rowCount, 1],
    ]) {
      const again = await HiddenDriver.ready({ seeds, training, passive: { nodeJournal } });
      const [root] = await again.sealed(0, 0, 1, members);
      await expectError(() => again.ask([{ ...root, colsampleBytree: rate }]), "PROTOCOL_STATE", /other gradients/);
      again.close();
    }
  });

  test("nothing is answered before it is stored; what was not sent may be requested differently", async () => {
    const nodeJournal = new KeptNodes();
    const driver = await HiddenDriver.growing({ seeds, passive: { nodeJournal } });
    nodeJournal.fails = true;
    await expect(driver.ask(await driver.sealed(0, 1))).rejects.toThrow("no space left");
    driver.close();
    nodeJournal.fails = false;
    const again = await HiddenDriver.growing({ seeds, passive: { nodeJournal } });
    expect(await again.ask(await again.sealed(0, 1, 1, 3))).toHaveLength(1);
    again.close();
    expect(nodeJournal.nodes.map(({ node }) => node)).toEqual([0, 1]);
  });

  test("an answer that cannot be repeated is not sent", async () => {
    const nodeJournal = new KeptNodes();
    const first = await HiddenDriver.growing({ seeds, passive: { nodeJournal } });
    first.close();
    const [root] = nodeJournal.nodes;
    nodeJournal.nodes = [{ ...root, answer: "00".repeat(32) }];
    const again = await HiddenDriver.ready({ seeds, passive: { nodeJournal } });
    await expectError(async () => again.ask(await again.sealed(0, 0)), "CHECKPOINT", /cannot be repeated/);
    again.close();
  });

  test("attempts that request different nodes get no more of a tree than one attempt", async () => {
    const nodeJournal = new KeptNodes();
    const most = 4;
    for (let node = 1; node <= most; node++) {
      const driver = await HiddenDriver.growing({ seeds, passive: { nodeJournal } });
      expect(nodesPerTree(driver.agreed)).toBe(most);
      const answers = async () => driver.ask(await driver.sealed(0, node));
      if (node < most) await answers();
      else await expectError(answers, "PROTOCOL_STATE", /too often/);
      driver.close();
    }
    expect(nodeJournal.nodes).toHaveLength(most);
  });

  test("of a finished tree no other node or split is answered, and the same ones are", async () => {
    const nodeJournal = new KeptNodes();
    let progress = noProgress;
    const passive = { nodeJournal, store: async (now: PassiveProgress): Promise<void> => void (progress = now) };
    const first = await HiddenDriver.growing({ seeds, passive });
    const [answer] = await first.ask(await first.sealed(0, 1));
    const [side] = await first.split(0, 0, 1);
    await first.finishTree(0);
    first.close();
    const again = await HiddenDriver.growing({ seeds, passive: { ...passive, progress } });
    expect(await again.ask(await again.sealed(0, 1))).toEqual([answer]);
    const refusal = /^tree 0 is finished: nothing new about node \d is answered$/;
    await expectError(async () => again.ask(await again.sealed(0, 2)), "PROTOCOL_STATE", refusal);
    await expectError(() => again.split(0, 1, 0), "PROTOCOL_STATE", refusal);
    expect(await again.split(0, 0, 1)).toEqual([side]);
    await again.finishTree(0);
    expect((await again.sums(1, 0)).length).toBeGreaterThan(0);
    again.close();
    expect([nodeJournal.nodes.map(({ tree, node }) => [tree, node]), progress.splits.length]).toEqual([
      [
        [0, 0],
        [0, 1],
        [1, 0],
      ],
      1,
    ]);
  });

  test("with three classes a round has the nodes of three trees, over all attempts", async () => {
    const nodeJournal = new KeptNodes();
    const training = { objective: "multi:softprob", num_class: 3, num_round: 1 } as const;
    let progress = noProgress;
    const store = async (now: PassiveProgress): Promise<void> => void (progress = now);
    const attempt = () => HiddenDriver.ready({ seeds, training, passive: { nodeJournal, store, progress } });
    const most = 4;
    const lost = await attempt();
    for (const node of [0, 3]) await lost.ask(await lost.sealed(0, node));
    lost.close();
    for (let again = 0; again < 2; again++) {
      const driver = await attempt();
      expect([nodesPerTree(driver.agreed), driver.agreed.treesPerRound]).toEqual([most, 3]);
      for (let tree = 0; tree < 3; tree++) {
        for (let node = 0; node < most; node++) await driver.ask(await driver.sealed(tree, node));
        await expectError(async () => driver.ask(await driver.sealed(tree, most)), "PROTOCOL_STATE");
        await driver.finishTree(tree);
      }
      expect(nodeJournal.nodes).toHaveLength(nodesOfJob(driver.agreed));
      driver.close();
    }
    expect(progress.trees).toBe(3);
  });

  test.each([1, 10, 200])("smudging noise is made for the nodes of %i rounds, without spare ones", async (rounds) => {
    const { agreed } = await HiddenDriver.of({ training: { num_round: rounds } });
    expect(nodesOfJob(agreed)).toBe(rounds * nodesPerTree(agreed));
    const training = { objective: "multi:softprob", num_class: 3, num_round: rounds } as const;
    const classes = (await HiddenDriver.of({ training })).agreed;
    expect(nodesOfJob(classes)).toBe(3 * rounds * nodesPerTree(classes));
  });
});

async function* streamed<T>(items: readonly T[]): AsyncGenerator<T> {
  yield* items;
}
