/** Chooses the arithmetic: the best native kernel if the addon loads, otherwise portable TypeScript. */
import { availableParallelism } from "node:os";

import { TandemError } from "../../base/error.ts";
import type { Kernel } from "./kernel.ts";
import type { NativeKernelName } from "./native-addon.ts";
import { loadNativeKernel } from "./native-kernel.ts";
import { portableKernel } from "./portable-kernel.ts";

const nativeNames: readonly string[] = ["ifma", "avx2", "adx", "scalar", "ifma-emulated"] satisfies NativeKernelName[];

/**
 * @param environment TANDEM_KERNEL forces one: native (the best that this processor runs), ifma, avx2, adx, scalar,
 * ifma-emulated (for tests) or portable
 * @throws TandemError USAGE for another value, or for a forced native kernel that cannot be loaded or run here
 */
export function selectKernel(environment: Readonly<Record<string, string | undefined>> = process.env): Kernel {
  const wanted = environment["TANDEM_KERNEL"];
  if (wanted === "portable") return portableKernel;
  const isNamed = wanted !== undefined && nativeNames.includes(wanted);
  if (wanted !== undefined && wanted !== "" && wanted !== "native" && !isNamed) {
    throw new TandemError(
      "USAGE",
      `TANDEM_KERNEL must be native, ifma, avx2, adx, scalar or portable; got '${wanted}'`,
    );
  }
  const native = loadNativeKernel();
  const kernel = isNamed ? native.kernels.get(wanted as NativeKernelName) : native.kernel;
  if (kernel !== undefined) return kernel;
  if (wanted === undefined || wanted === "") return portableKernel;
  if (native.kernel !== undefined) {
    throw new TandemError(
      "USAGE",
      `TANDEM_KERNEL is ${wanted}, but this processor only runs ${[...native.kernels.keys()].join(", ")}`,
    );
  }
  throw new TandemError(
    "USAGE",
    `TANDEM_KERNEL is ${wanted}, but there is no native kernel; ` +
      "install g++ and run: npm rebuild @tandem-vfl/tandem (in a clone: node scripts/build-native.mjs)",
    { cause: native.cause },
  );
}

/** The default number of threads of an evaluator: one per core that this process may use. */
export function defaultThreads(): number {
  return Math.min(availableParallelism(), 64);
}
