/**
 * What a passive party uses once where members are hidden: hints, smudging noise, and the budget of a job's answers.
 */
import { describe, expect, test } from "vitest";
import { expectError } from "../../../test/support/expect-error.ts";
import { HiddenDriver } from "../../../test/support/hidden-driver.ts";
import { nodesOfJob, nodesPerTree } from "./terms.ts";
import type { PassiveProgress } from "../passive/progress.ts";

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

  test("another attempt has another greeting, other hints and other answers, and the same sums", async () => {
    const seen: Record<"greetings" | "hints" | "words" | "sums", string[]> = {
      greetings: [],
      hints: [],
      words: [],
      sums: [],
    };
    for (let attempt = 0; attempt < 2; attempt++) {
      const driver = await HiddenDriver.of();
      seen.greetings.push(Buffer.from(driver.join()).toString("hex"));
      await driver.setUp(await driver.setUpMessage());
      const pieces = await driver.hints();
      seen.hints.push(Buffer.concat(pieces).toString("hex"));
      await driver.active.hints(
        0,
        driver.candidateCount,
        (async function* () {
          yield* pieces;
        })(),
      );
      seen.sums.push((await driver.sums(0, 0)).join());
      const [{ scheme }] = await driver.ask(await driver.sealed(0, 1));
      seen.words.push(Buffer.from(scheme).toString("hex"));
      driver.close();
    }
    for (const what of ["greetings", "hints", "words"] as const) expect(new Set(seen[what]).size, what).toBe(2);
    expect(new Set(seen.sums).size).toBe(1);
  });
});

describe("the budget of answers", () => {
  function stored(progress?: PassiveProgress): {
    current: PassiveProgress | undefined;
    fails: boolean;
    store(next: PassiveProgress): Promise<void>;
  } {
    return {
      current: progress,
      fails: false,
      async store(next) {
        if (this.fails) throw new Error("no space left");
        this.current = next;
      },
    };
  }

  test("is stored for the whole round before its first answer; where it cannot be, nothing is answered", async () => {
    const disk = stored();
    const driver = await HiddenDriver.ready({ passive: { store: (next) => disk.store(next) } });
    disk.fails = true;
    const root = await driver.sealed(0, 0);
    await expect(driver.ask(root)).rejects.toThrow("no space left");
    await expectError(async () => driver.ask(await driver.sealed(0, 1)), "PROTOCOL_STATE");
    disk.fails = false;
    await driver.ask(root);
    expect(disk.current?.nodesReserved).toBe(nodesPerTree(driver.agreed));
    driver.close();
  });

  test("a crash between storing and answering costs a round; when the budget is used up the job ends", async () => {
    let progress: PassiveProgress | undefined;
    const disk = stored();
    let tries = 0;
    for (;;) {
      const driver = await HiddenDriver.ready({
        passive: { store: (next) => disk.store(next), ...(progress === undefined ? {} : { progress }) },
      });
      const most = nodesOfJob(driver.agreed);
      if (disk.current?.nodesReserved === most) {
        await expectError(() => driver.sums(0, 0), "POLICY", new RegExp(`for ${most} nodes .*used up`));
        await expectError(async () => driver.ask(await driver.sealed(0, 1)), "PROTOCOL_STATE");
        expect(disk.current.nodesReserved).toBe(most);
        driver.close();
        break;
      }
      await driver.sums(0, 0);
      progress = disk.current;
      expect(progress?.nodesReserved).toBe(++tries * nodesPerTree(driver.agreed));
      driver.close();
    }
    // Two rounds, and 50 spare ones.
    expect(tries).toBe(52);
  });

  test.each([
    [1, 51],
    [10, 60],
    [50, 100],
    [200, 400],
  ])("of %i rounds is that of %i", async (num_round, rounds) => {
    const { agreed } = await HiddenDriver.of({ training: { num_round } });
    expect(nodesOfJob(agreed)).toBe(rounds * nodesPerTree(agreed));
  });

  test("counts every class's tree", async () => {
    const disk = stored();
    const training = { objective: "multi:softprob", num_class: 3 } as const;
    const driver = await HiddenDriver.of({ training, passive: { store: (next) => disk.store(next) } });
    expect(nodesOfJob(driver.agreed)).toBe((2 + 50) * 3 * 4);
    driver.join();
    await driver.setUp(await driver.setUpMessage());
    await driver.takeHints();
    await driver.sums(0, 0);
    expect(disk.current?.nodesReserved).toBe(3 * 4);
    driver.close();
  });
});
