/** Chooses the arithmetic of Paillier. */
import { availableParallelism } from "node:os";
import { chooseKernel, type Environment } from "../forced-kernel.ts";
import type { Kernel } from "./kernel.ts";
import type { NativeKernelName } from "./native-addon.ts";
import { loadNativeKernel } from "./native-kernel.ts";
import { portableKernel } from "./portable-kernel.ts";

/** Of TANDEM_KERNEL; the emulated one is for tests. */
const names: Readonly<Record<NativeKernelName, NativeKernelName>> = {
  ifma: "ifma",
  avx2: "avx2",
  adx: "adx",
  scalar: "scalar",
  "ifma-emulated": "ifma-emulated",
};

/** @throws TandemError USAGE as chooseKernel does */
export function selectKernel(environment: Environment = process.env): Kernel {
  return chooseKernel<NativeKernelName, Kernel>(
    { portable: portableKernel, names, load: loadNativeKernel },
    environment,
  );
}

/** The default number of threads of an evaluator: one per core that this process may use. */
export function defaultThreads(): number {
  return Math.min(availableParallelism(), 64);
}
