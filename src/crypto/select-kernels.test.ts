/** Which kernels TANDEM_KERNEL forces for the schemes whose kernels have names of their own. */
import { describe, expect, it } from "vitest";
import { loadNativeCurve } from "./curve/native-kernel.ts";
import { selectCurveKernel } from "./curve/select-kernel.ts";
import type { Environment } from "./forced-kernel.ts";
import { loadNativeLattice } from "./lattice/native/native-kernel.ts";
import { selectLatticeKernel } from "./lattice/select-kernel.ts";
import { loadNativeMaximum } from "./maximum/native-kernel.ts";
import { selectMaximumKernel } from "./maximum/select-kernel.ts";

describe.each([
  { scheme: "curve", kernels: loadNativeCurve().kernels, selected: selectCurveKernel, wide: "avx2", widest: "ifma" },
  {
    scheme: "lattice",
    kernels: loadNativeLattice().kernels,
    selected: selectLatticeKernel,
    wide: "avx2",
    widest: "avx512",
  },
  {
    scheme: "comparison of candidates",
    kernels: loadNativeMaximum(1).kernels,
    selected: (environment: Environment) => selectMaximumKernel(1, environment),
    wide: "aesni",
    widest: "vaes",
  },
])("$scheme", ({ kernels, selected, wide, widest }) => {
  const select = (wanted?: string): string => selected({ TANDEM_KERNEL: wanted }).name;
  const [best = { name: "portable" }] = kernels.values();

  it("chooses the best native kernel, or the portable one if there is none", () => {
    expect(select()).toBe(best.name);
    expect(select("")).toBe(best.name);
    expect(select("portable")).toBe("portable");
  });

  it("rejects an unknown name", () => {
    for (const name of ["gpu", "constructor"]) expect(() => select(name)).toThrow(/TANDEM_KERNEL must be .* got '/);
  });

  it.runIf(kernels.size === 0)("says why a forced native kernel is missing", () => {
    expect(() => select("native")).toThrow(/no native kernel/);
  });

  it.runIf(kernels.size > 0)("chooses the kernel of the same kind as Paillier's, if the processor runs it", () => {
    const names: ReadonlySet<string> = new Set(kernels.keys());
    expect(select("native")).toBe(best.name);
    for (const name of ["scalar", "adx", "ifma-emulated"]) expect(select(name)).toBe("native-scalar");
    for (const [name, own] of [
      ["avx2", wide],
      ["ifma", widest],
      ["avx512", widest],
    ]) {
      if (names.has(own)) expect(select(name)).toBe(`native-${own}`);
      else expect(() => select(name)).toThrow(/only runs/);
    }
  });
});
