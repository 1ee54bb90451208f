/** Chooses the arithmetic of the curve scheme. */
import { chooseKernel, type Environment } from "../forced-kernel.ts";
import type { CurveKernel } from "./kernel.ts";
import type { NativeCurveName } from "./native-addon.ts";
import { loadNativeCurve } from "./native-kernel.ts";
import { portableCurveKernel } from "./portable-curve.ts";

/** TANDEM_KERNEL names a Paillier kernel: the curve kernel of the same kind. */
const names: Readonly<Record<string, NativeCurveName>> = {
  ifma: "ifma",
  avx512: "ifma",
  avx2: "avx2",
  adx: "scalar",
  scalar: "scalar",
  "ifma-emulated": "scalar",
};

/** @throws TandemError USAGE as chooseKernel does */
export function selectCurveKernel(environment: Environment = process.env): CurveKernel {
  return chooseKernel({ portable: portableCurveKernel, names, load: loadNativeCurve }, environment);
}
