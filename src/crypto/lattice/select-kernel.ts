/** Chooses the arithmetic: the best of the native addon if it is there, otherwise portable TypeScript. */
import type { LatticeKernel } from "./kernel.ts";
import type { NativeLatticeName } from "./native-addon.ts";
import { loadNativeLattice } from "./native-kernel.ts";
import { portableLatticeKernel } from "./portable-lattice.ts";

/** Paillier's kernels by the names that they have here: what the same processor runs. */
const byName: Readonly<Record<string, NativeLatticeName>> = {
  ifma: "avx512",
  avx512: "avx512",
  avx2: "avx2",
  adx: "scalar",
  scalar: "scalar",
};

/** @param environment TANDEM_KERNEL forces one, as Paillier's selectKernel, which refuses what there is not */
export function selectLatticeKernel(
  environment: Readonly<Record<string, string | undefined>> = process.env,
): LatticeKernel {
  const wanted = environment["TANDEM_KERNEL"] ?? "";
  if (wanted === "portable") return portableLatticeKernel;
  const native = loadNativeLattice();
  const named = byName[wanted] === undefined ? undefined : native.kernels.get(byName[wanted]);
  const [best = portableLatticeKernel] = native.kernels.values();
  return named ?? best;
}
