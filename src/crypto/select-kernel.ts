/** Chooses the arithmetic: the native addon if it is there, otherwise portable TypeScript. */
import { availableParallelism } from "node:os";

import { TandemError } from "../base/error.ts";
import type { Kernel } from "./kernel.ts";
import { loadNativeKernel } from "./native-kernel.ts";
import { portableKernel } from "./portable-kernel.ts";

/**
 * @param environment TANDEM_KERNEL = native | portable forces one
 * @throws TandemError USAGE for another value, or for a forced native kernel that cannot be loaded
 */
export function selectKernel(environment: Readonly<Record<string, string | undefined>> = process.env): Kernel {
  const wanted = environment["TANDEM_KERNEL"];
  if (wanted === "portable") return portableKernel;
  if (wanted !== undefined && wanted !== "" && wanted !== "native") {
    throw new TandemError("USAGE", `TANDEM_KERNEL must be native or portable; got '${wanted}'`);
  }
  const native = loadNativeKernel();
  if (native.kernel !== undefined) return native.kernel;
  if (wanted !== "native") return portableKernel;
  throw new TandemError(
    "USAGE",
    "TANDEM_KERNEL is native, but there is no native kernel; install g++ and run: npm rebuild tandem (in a clone: node scripts/build-native.mjs)",
    { cause: native.cause },
  );
}

/** Threads for an evaluator when nobody says otherwise: one per core that this process may use. */
export function defaultThreads(): number {
  return Math.min(availableParallelism(), 64);
}
