import { expect, test } from "vitest";
import { expectError } from "../../../test/support/expect-error.ts";
import { TandemError } from "../../base/error.ts";
import { Patience } from "./patience.ts";

/** Of a clock that only moves when somebody waits. */
function patient(patienceMs: number) {
  const clock = { now: 0 };
  const sleep = (ms: number): Promise<void> => {
    clock.now += ms;
    return Promise.resolve();
  };
  const options = { patienceMs, firstContactMs: 1000, now: () => clock.now, sleep, jitter: () => 0, onWait: () => {} };
  return { clock, patience: new Patience(options, true) };
}

/** Attempts of a minute each, in which everybody answers, until it is given up. @returns how many */
async function attempts({ clock, patience }: ReturnType<typeof patient>, error: TandemError): Promise<number> {
  for (let count = 1; ; count++) {
    patience.knocking();
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

test("a party whose engine stays away is given up when patience is over, though it answers each time", async () => {
  expect(await attempts(patient(20_000), engineLost)).toBe(2);
  expect(await attempts(patient(600_000), engineLost)).toBe(11);
});

test("of the first such attempt nobody knows what was work, and what is stored begins it anew", async () => {
  const { clock, patience } = patient(20_000);
  for (let round = 0; round < 3; round++) {
    patience.knocking();
    patience.joined();
    clock.now += 3_600_000;
    await patience.afterFailure(engineLost);
    patience.knocking();
    patience.joined();
    patience.progressed();
  }
  patience.knocking();
  clock.now += 21_000;
  await expectError(() => patience.afterFailure(engineLost), "ENGINE_LOST", /gave up after waiting for 21 s/);
});
