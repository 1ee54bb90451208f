/** Chooses the arithmetic of the comparison of candidates. */
import { chooseKernel, type Environment } from "../forced-kernel.ts";
import type { MaximumKernel } from "./kernel.ts";
import { loadNativeMaximum, type NativeMaximumName } from "./native-kernel.ts";
import { portableMaximumKernel } from "./portable-kernel.ts";

/** TANDEM_KERNEL names a Paillier kernel: the one here that runs where that does. */
const names: Readonly<Record<string, NativeMaximumName>> = {
  ifma: "vaes",
  avx512: "vaes",
  avx2: "aesni",
  adx: "scalar",
  scalar: "scalar",
  "ifma-emulated": "scalar",
};

/** @throws TandemError USAGE as chooseKernel does */
export function selectMaximumKernel(threads: number, environment: Environment = process.env): MaximumKernel {
  return chooseKernel({ portable: portableMaximumKernel, names, load: () => loadNativeMaximum(threads) }, environment);
}
