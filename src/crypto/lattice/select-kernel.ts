/** Chooses the arithmetic of the lattice scheme. */
import { chooseKernel, type Environment } from "../forced-kernel.ts";
import type { LatticeKernel } from "./kernel.ts";
import type { NativeLatticeName } from "./native/native-addon.ts";
import { loadNativeLattice } from "./native/native-kernel.ts";
import { portableLatticeKernel } from "./portable/portable-lattice.ts";

/** TANDEM_KERNEL names a Paillier kernel: the lattice kernel of the same kind. */
const names: Readonly<Record<string, NativeLatticeName>> = {
  ifma: "avx512",
  avx512: "avx512",
  avx2: "avx2",
  adx: "scalar",
  scalar: "scalar",
  "ifma-emulated": "scalar",
};

/** @throws TandemError USAGE as chooseKernel does */
export function selectLatticeKernel(environment: Environment = process.env): LatticeKernel {
  return chooseKernel({ portable: portableLatticeKernel, names, load: loadNativeLattice }, environment);
}
