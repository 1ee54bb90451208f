/** The native kernels of the lattice scheme, if the addon is built and loads on this machine. */
import type { LatticeKernel } from "../kernel.ts";
import { loadLatticeAddon, type NativeLatticeName } from "./native-addon.ts";
import { NativeLattice } from "./native-lattice.ts";

export interface NativeLatticeLoad {
  /** Every kernel that this processor can run, best first. */
  readonly kernels: ReadonlyMap<NativeLatticeName, LatticeKernel>;
  /** Why there is none. */
  readonly cause?: unknown;
}

let loaded: NativeLatticeLoad | undefined;

/** Loads once per process; a missing addon is a result, not an error. */
export function loadNativeLattice(): NativeLatticeLoad {
  loaded ??= tryLoad();
  return loaded;
}

function tryLoad(): NativeLatticeLoad {
  try {
    const addon = loadLatticeAddon();
    const kernelOf = (name: NativeLatticeName): LatticeKernel => ({
      name: `native-${name}`,
      lattice: (shape, threads) => new NativeLattice(addon, name, shape, threads),
    });
    return { kernels: new Map(addon.latticeKernels().map((name) => [name, kernelOf(name)] as const)) };
  } catch (cause) {
    return { kernels: new Map(), cause };
  }
}
