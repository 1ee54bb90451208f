/** Failures of tests that expect a TandemError: code and message are both part of the contract. */
import { expect } from "vitest";
import { type ErrorCode, TandemError } from "../../src/base/error.ts";

/** Runs `work`, which must throw or reject with a TandemError of this code whose message matches. */
export async function expectError(work: () => unknown, code: ErrorCode, message: RegExp = /./): Promise<TandemError> {
  let outcome: unknown;
  try {
    await work();
    outcome = "no error at all";
  } catch (error) {
    outcome = error;
  }
  expect(outcome).toBeInstanceOf(TandemError);
  const error = outcome as TandemError;
  expect(`${error.code}: ${error.message}`).toMatch(new RegExp(`^${code}: `));
  expect(error.message).toMatch(message);
  return error;
}

/** Notes every unhandled rejection of the process from now on; `expectNone` ends that, and fails if there was one. */
export function watchRejections(): { expectNone(): Promise<void> } {
  const seen: unknown[] = [];
  const listener = (reason: unknown): void => void seen.push(reason);
  process.on("unhandledRejection", listener);
  return {
    async expectNone() {
      // Rejections are reported when the microtasks have run dry.
      await new Promise((resolve) => setTimeout(resolve, 20));
      process.off("unhandledRejection", listener);
      expect(seen).toEqual([]);
    },
  };
}
