/** The native kernels of the curve scheme, if the addon is built and loads on this machine. */
import type { CurveKernel } from "./kernel.ts";
import { loadCurveAddon, type NativeCurveName } from "./native-addon.ts";
import { NativeCurve } from "./native-curve.ts";

export interface NativeCurveLoad {
  /** Every kernel that this processor can run, best first. */
  readonly kernels: ReadonlyMap<NativeCurveName, CurveKernel>;
  /** Why there is none. */
  readonly cause?: unknown;
}

let loaded: NativeCurveLoad | undefined;

/** Loads once per process; a missing addon is a result, not an error. */
export function loadNativeCurve(): NativeCurveLoad {
  loaded ??= tryLoad();
  return loaded;
}

function tryLoad(): NativeCurveLoad {
  try {
    const addon = loadCurveAddon();
    const kernelOf = (name: NativeCurveName): CurveKernel => ({
      name: `native-${name}`,
      curve: (threads) => new NativeCurve(addon, name, threads),
    });
    return { kernels: new Map(addon.curveKernels().map((name) => [name, kernelOf(name)] as const)) };
  } catch (cause) {
    return { kernels: new Map(), cause };
  }
}
