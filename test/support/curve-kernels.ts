/** Kernels of the curve scheme that this machine runs, the portable one last. */
import type { CurveKernel } from "../../src/crypto/curve/kernel.ts";
import { loadNativeCurve } from "../../src/crypto/curve/native-kernel.ts";
import { portableCurveKernel } from "../../src/crypto/curve/portable-curve.ts";

const { kernels } = loadNativeCurve();

export const nativeCurveKernels: readonly CurveKernel[] = [...kernels.values()];
export const curveKernels: readonly CurveKernel[] = [...nativeCurveKernels, portableCurveKernel];

for (const name of ["ifma", "avx2", "scalar"] as const)
  if (!kernels.has(name)) console.warn(`native-${name} does not run here: its curve kernel is not tested`);
