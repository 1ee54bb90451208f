import type { LatticeKernel } from "./kernel.ts";
import { portableLatticeKernel } from "./portable-lattice.ts";

export function selectLatticeKernel(): LatticeKernel {
  return portableLatticeKernel;
}
