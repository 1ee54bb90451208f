/** Chooses the arithmetic of the curve scheme: the best native kernel if the addon loads, otherwise portable. */
import { TandemError } from "../../base/error.ts";
import type { CurveKernel } from "./kernel.ts";
import type { NativeCurveName } from "./native-addon.ts";
import { loadNativeCurve } from "./native-kernel.ts";
import { portableCurveKernel } from "./portable-curve.ts";

/** TANDEM_KERNEL names a Paillier kernel: the curve kernel of the same kind. */
const nativeNames: ReadonlyMap<string, NativeCurveName> = new Map([
  ["ifma", "ifma"],
  ["avx512", "ifma"],
  ["avx2", "avx2"],
  ["adx", "scalar"],
  ["scalar", "scalar"],
  ["ifma-emulated", "scalar"],
]);

/**
 * @param environment TANDEM_KERNEL forces one: native (the best that this processor runs), ifma, avx2, adx or scalar,
 * or portable
 * @throws TandemError USAGE for another value, or for a forced native kernel that cannot be loaded or run here
 */
export function selectCurveKernel(
  environment: Readonly<Record<string, string | undefined>> = process.env,
): CurveKernel {
  const wanted = environment["TANDEM_KERNEL"] ?? "";
  if (wanted === "portable") return portableCurveKernel;
  const name = nativeNames.get(wanted);
  if (name === undefined && wanted !== "" && wanted !== "native") {
    throw new TandemError(
      "USAGE",
      `TANDEM_KERNEL must be native, ifma, avx2, adx, scalar or portable; got '${wanted}'`,
    );
  }
  const { kernels, cause } = loadNativeCurve();
  const [best] = kernels.values();
  const kernel = name === undefined ? best : kernels.get(name);
  if (kernel !== undefined) return kernel;
  if (wanted === "") return portableCurveKernel;
  throw new TandemError(
    "USAGE",
    best === undefined
      ? `TANDEM_KERNEL is ${wanted}, but there is no native kernel; ` +
          "install g++ and run: npm rebuild @tandem-vfl/tandem (in a clone: node scripts/build-native.mjs)"
      : `TANDEM_KERNEL is ${wanted}, but this processor only runs ${[...kernels.keys()].join(", ")}`,
    { cause },
  );
}
