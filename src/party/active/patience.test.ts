import { expect, test } from "vitest";
import { expectError } from "../../../test/support/expect-error.ts";
import { TandemError } from "../../base/error.ts";
import { Patience } from "./patience.ts";

/** Patience with a clock that only advances while waiting. */
function patient(patienceMs: number) {
  const clock = { now: 0 };
  const sleep = (ms: number): Promise<void> => {
    clock.now += ms;
    return Promise.resolve();
  };
  const options = { patienceMs, firstContactMs: 1000, now: () => clock.now, sleep, jitter: () => 0, onWait: () => {} };
  return { clock, patience: new Patience(options, true) };
}

/** Attempts of a minute each, in which all parties answer, until it gives up. @returns how many */
async function attempts({ clock, patience }: ReturnType<typeof patient>, error: TandemError): Promise<number> {
  for (let count = 1; ; count++) {
    patience.connecting();
    patience.joined();
    clock.now += 60_000;
    try {
      await patience.afterFailure(error);
    } catch {
      return count;
    }
  }
}

const engineLost = new TandemError("ENGINE_LOST", "the engine has not answered for 60 s");

test("a party whose engine stays lost is given up when patience is over, though it answers each time", async () => {
  expect(await attempts(patient(20_000), engineLost)).toBe(2);
  expect(await attempts(patient(600_000), engineLost)).toBe(11);
});

test("the first such attempt counts in part only, and stored progress resets it", async () => {
  const { clock, patience } = patient(20_000);
  for (let round = 0; round < 3; round++) {
    patience.connecting();
    patience.joined();
    clock.now += 3_600_000;
    await patience.afterFailure(engineLost);
    patience.connecting();
    patience.joined();
    patience.progressed();
  }
  patience.connecting();
  clock.now += 21_000;
  await expectError(() => patience.afterFailure(engineLost), "ENGINE_LOST", /gave up after waiting for 21 s/);
});
