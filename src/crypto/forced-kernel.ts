/** The choice of a scheme's arithmetic: the best native kernel if the addon loads, otherwise portable TypeScript. */
import { TandemError } from "../base/error.ts";

/** TANDEM_KERNEL forces a kernel. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** A scheme's kernels. */
export interface KernelChoice<Name extends string, Kernel> {
  readonly portable: Kernel;
  /** The native kernel of each value of TANDEM_KERNEL, beside `native`: the best that this processor runs. */
  readonly names: Readonly<Record<string, Name>>;
  /** Every kernel that this processor runs, best first; the cause if there is none. */
  load(): { readonly kernels: ReadonlyMap<Name, Kernel>; readonly cause?: unknown };
}

/** @throws TandemError USAGE for another value, or for a forced native kernel that cannot be loaded or run here */
export function chooseKernel<Name extends string, Kernel>(
  { portable, names, load }: KernelChoice<Name, Kernel>,
  environment: Environment,
): Kernel {
  const wanted = environment["TANDEM_KERNEL"] ?? "";
  if (wanted === "portable") return portable;
  const name = Object.hasOwn(names, wanted) ? names[wanted] : undefined;
  if (name === undefined && wanted !== "" && wanted !== "native") {
    throw new TandemError(
      "USAGE",
      `TANDEM_KERNEL must be native, ifma, avx2, adx, scalar or portable; got '${wanted}'`,
    );
  }
  const { kernels, cause } = load();
  const [best] = kernels.values();
  const kernel = name === undefined ? best : kernels.get(name);
  if (kernel !== undefined) return kernel;
  if (wanted === "") return portable;
  throw new TandemError(
    "USAGE",
    best === undefined
      ? `TANDEM_KERNEL is ${wanted}, but there is no native kernel; ` +
          "install g++ and run: npm rebuild @tandem-vfl/tandem (in a clone: node scripts/build-native.mjs)"
      : `TANDEM_KERNEL is ${wanted}, but this processor only runs ${[...kernels.keys()].join(", ")}`,
    { cause },
  );
}
