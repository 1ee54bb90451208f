import { expect, it } from "vitest";
import { loadNativeCurve } from "./native-kernel.ts";
import { portableCurveKernel } from "./portable-curve.ts";
import { selectCurveKernel } from "./select-kernel.ts";

const { kernels } = loadNativeCurve();
const select = (wanted?: string): string => selectCurveKernel({ TANDEM_KERNEL: wanted }).name;

it("chooses the best native kernel, or the portable one if there is none", () => {
  const [best = portableCurveKernel] = kernels.values();
  expect(select()).toBe(best.name);
  expect(select("")).toBe(best.name);
  expect(select("portable")).toBe("portable");
});

it("rejects an unknown name", () => {
  expect(() => select("gpu")).toThrow(/TANDEM_KERNEL must be .* got 'gpu'/);
});

it.runIf(kernels.size === 0)("says why a forced native kernel is missing", () => {
  expect(() => select("native")).toThrow(/no native kernel/);
});

it.runIf(kernels.size > 0)("chooses the kernel of the same kind as Paillier's, if the processor runs it", () => {
  expect(select("native")).toBe([...kernels.values()][0].name);
  for (const name of ["scalar", "adx", "ifma-emulated"]) expect(select(name)).toBe("native-scalar");
  for (const [name, own] of [
    ["avx2", "avx2"],
    ["ifma", "ifma"],
    ["avx512", "ifma"],
  ] as const) {
    if (kernels.has(own)) expect(select(name)).toBe(`native-${own}`);
    else expect(() => select(name)).toThrow(/only runs/);
  }
});
