/** A round's first node may come before the round is opened: it is taken, and not answered before. */
import { expect, test } from "vitest";
import { create } from "@bufbuild/protobuf";
import { expectError } from "../../../test/support/expect-error.ts";
import { HiddenDriver } from "../../../test/support/hidden-driver.ts";
import { ActiveJobFinishedSchema } from "../../wire/generated/tandem/v1/tandem_pb.ts";
import type { PassiveProgress } from "./progress.ts";

/** Long enough for everything that is not held back. */
async function isSettled(work: Promise<unknown>): Promise<boolean> {
  const settled = work.then(
    () => true,
    () => true,
  );
  return Promise.race([settled, new Promise<boolean>((resolve) => setTimeout(() => resolve(false), 30))]);
}

test("the root is answered when its round is open, with the sums that it would have had", async () => {
  const driver = await HiddenDriver.growing();
  const expected = await driver.sums(0, 0);
  const ahead = driver.sums(1, 0);
  expect(await isSettled(ahead)).toBe(false);
  await driver.finishTree(0); // which does not wait for it
  expect(await isSettled(ahead)).toBe(false);
  await driver.open(1);
  expect(await ahead).toEqual(expected);
  driver.close();
});

test("nothing is answered before its nodes are counted, nor where they cannot be", async () => {
  const stored: PassiveProgress[] = [];
  let fails = true;
  const store = async (next: PassiveProgress): Promise<void> => {
    if (fails) throw new Error("no space left");
    stored.push(next);
  };
  const driver = await HiddenDriver.ready({ passive: { store } });
  const refused = driver.ask(await driver.sealed(0, 0));
  refused.catch(() => {});
  await expect(driver.open(0)).rejects.toThrow("no space left");
  await expectError(() => refused, "PROTOCOL_STATE", /shop is ready/);
  fails = false;
  const ahead = driver.sums(0, 1).catch(() => null);
  expect(await ahead).toBeNull(); // no root: it is refused at once
  await driver.open(0);
  expect(stored.at(-1)?.nodesReserved).toBeGreaterThan(0);
  driver.close();
});

test("one waits, not two; nobody for a tree after the next, for another node, or when the job is over", async () => {
  const driver = await HiddenDriver.growing();
  await expectError(async () => driver.ask(await driver.sealed(2, 0)), "PROTOCOL_STATE", /at tree 0, not 2/);
  await expectError(async () => driver.ask(await driver.sealed(1, 1)), "PROTOCOL_STATE", /at tree 0, not 1/);
  const messages = await driver.sealed(1, 0);
  const waiting = driver.ask(messages);
  waiting.catch(() => {});
  await expectError(() => driver.ask(messages), "PROTOCOL_STATE", /ahead of its round twice/);
  expect(await isSettled(waiting)).toBe(false);
  driver.role.finishJob(create(ActiveJobFinishedSchema, { failure: "no more" }));
  await expectError(() => waiting, "PROTOCOL_STATE", /given up/);
  driver.close();
});

test("what is tampered with ahead is refused, and the round with it", async () => {
  const driver = await HiddenDriver.ready();
  const [message] = await driver.sealed(0, 0);
  const waiting = driver.ask([{ ...message, scheme: Uint8Array.of(255, 255, 1) }]);
  waiting.catch(() => {});
  await driver.open(0);
  await expectError(() => waiting, "PROTOCOL_STATE", /no LatticeNode/);
  await expectError(() => driver.ask([message]), "PROTOCOL_STATE", /too often/);
  driver.close();
});
