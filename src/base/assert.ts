/** Assertions for our own bugs; they stay on in production. For errors of input, peers or the system throw a
 * TandemError. */
import { TandemError } from "./error.ts";

export function assert(condition: boolean, message: string): asserts condition {
  if (!condition) throw new TandemError("INTERNAL", `assertion failed: ${message}`);
}

/** For the default branch of an exhaustive switch. */
export function unreachable(value: never): never {
  throw new TandemError("INTERNAL", `unreachable: ${String(value)}`);
}
