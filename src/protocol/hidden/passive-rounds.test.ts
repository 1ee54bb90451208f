/** A round begins with its first node, which may come while the tree before it is being stored. */
import { create } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { expectError } from "../../../test/support/expect-error.ts";
import { HiddenDriver } from "../../../test/support/hidden-driver.ts";
import { ActiveJobFinishedSchema } from "../../wire/generated/tandem/v1/tandem_pb.ts";
import type { PassiveProgress } from "../passive/progress.ts";

/** Long enough for all work that is not delayed by the test. */
async function isSettled(work: Promise<unknown>): Promise<boolean> {
  const settled = work.then(
    () => true,
    () => true,
  );
  return Promise.race([settled, new Promise<boolean>((resolve) => setTimeout(() => resolve(false), 30))]);
}

/** A last message that the test delays. */
function heldBack(): { readonly isSendable: Promise<void>; send(): void } {
  let send = (): void => {};
  const isSendable = new Promise<void>((resolve) => (send = resolve));
  return { isSendable, send };
}

test("the root is accepted in advance, and answered after its last message", async () => {
  const driver = await HiddenDriver.ready();
  const expected = await driver.sums(0, 0);
  const { isSendable, send } = heldBack();
  const ahead = driver.ask(await driver.sealed(1, 0, 3), isSendable);
  expect(await isSettled(ahead)).toBe(false);
  await driver.finishTree(0); // which does not wait for it
  expect(await isSettled(ahead)).toBe(false);
  send();
  expect(await driver.opened(await ahead)).toEqual(expected);
  driver.close();
});

test("nothing is answered before the round is stored, nor where it cannot be", async () => {
  const stored: PassiveProgress[] = [];
  let fails = true;
  const store = async (next: PassiveProgress): Promise<void> => {
    if (fails) throw new Error("no space left");
    stored.push(next);
  };
  const driver = await HiddenDriver.ready({ passive: { store } });
  const root = await driver.sealed(0, 0);
  await expect(driver.ask(root)).rejects.toThrow("no space left");
  await expectError(() => driver.sums(0, 1), "PROTOCOL_STATE", /shop is ready/); // no root: its round has not begun
  fails = false;
  await driver.ask(root);
  expect(stored.at(-1)?.round?.tree).toBe(0);
  driver.close();
});

test("one root may come in advance, not two; no later tree, no other node, none after the end", async () => {
  const driver = await HiddenDriver.growing();
  await expectError(async () => driver.ask(await driver.sealed(2, 0)), "PROTOCOL_STATE", /at tree 0, not 2/);
  await expectError(async () => driver.ask(await driver.sealed(1, 1)), "PROTOCOL_STATE", /at tree 0, not 1/);
  const messages = await driver.sealed(1, 0);
  const { isSendable, send } = heldBack();
  const waiting = driver.ask([{ ...messages[0], more: true }, ...messages], isSendable);
  waiting.catch(() => {});
  expect(await isSettled(waiting)).toBe(false);
  await expectError(() => driver.ask(messages), "PROTOCOL_STATE", /ahead of its round twice/);
  driver.role.finishJob(create(ActiveJobFinishedSchema, { failure: "no more" }));
  send();
  await expectError(() => waiting, "PROTOCOL_STATE");
  await expectError(() => driver.ask(messages), "PROTOCOL_STATE", /given up/);
  driver.close();
});

test("the last message opens the round: before the tree before it is stored it is refused", async () => {
  const driver = await HiddenDriver.growing();
  await expectError(async () => driver.ask(await driver.sealed(1, 0)), "PROTOCOL_STATE", /shop is growing/);
  expect((await driver.sums(0, 1)).length).toBeGreaterThan(0);
  driver.close();
});

test("a root that is tampered with is refused, and its round has not begun", async () => {
  const driver = await HiddenDriver.ready();
  const [message] = await driver.sealed(0, 0);
  const tampered = { ...message, scheme: Uint8Array.of(255, 255, 1) };
  await expectError(() => driver.ask([tampered]), "PROTOCOL_STATE", /no LatticeNode/);
  expect(await driver.ask([message])).toHaveLength(1);
  await expectError(() => driver.ask([message]), "PROTOCOL_STATE", /too often/);
  driver.close();
});

test("a round without requested nodes begins with the end of its tree, and is stored", async () => {
  const stored: PassiveProgress[] = [];
  const store = async (next: PassiveProgress): Promise<void> => void stored.push(next);
  const driver = await HiddenDriver.ready({ passive: { store } });
  await expectError(() => driver.finishTree(1), "PROTOCOL_STATE", /tree 1 cannot begin: tree 0 is next/);
  await driver.finishTree(0);
  expect(stored.at(-1)).toMatchObject({ trees: 1, round: { tree: 0 } });
  expect((await driver.sums(1, 0)).length).toBeGreaterThan(0);
  driver.close();
});

test("a fraction of columns comes with a round's first node only, and is no smaller than was agreed on", async () => {
  const driver = await HiddenDriver.ready({ training: { colsample_bytree: 0.6 } });
  const [root] = await driver.sealed(0, 0);
  await expectError(() => driver.ask([{ ...root, colsampleBytree: 0.5 }]), "PROTOCOL_STATE", /0.6 was agreed on/);
  await driver.ask([{ ...root, colsampleBytree: 1 }]);
  const [next] = await driver.sealed(0, 1);
  await expectError(() => driver.ask([{ ...next, colsampleBytree: 1 }]), "PROTOCOL_STATE", /middle of a round/);
  driver.close();
});
