/** Chooses the arithmetic of products by transfers. */
import { chooseKernel, type Environment } from "../forced-kernel.ts";
import { loadNativeProducts, type NativeProductName } from "./native-product-kernel.ts";
import { portableProducts, type ProductKernel } from "./product-kernel.ts";

/** TANDEM_KERNEL names a Paillier kernel: the one here that runs where that does. */
const names: Readonly<Record<string, NativeProductName>> = {
  ifma: "vaes",
  avx512: "vaes",
  avx2: "aesni",
  adx: "scalar",
  scalar: "scalar",
  "ifma-emulated": "scalar",
};

/** @throws TandemError USAGE as chooseKernel does */
export function selectProductKernel(environment: Environment = process.env): ProductKernel {
  return chooseKernel({ portable: portableProducts, names, load: loadNativeProducts }, environment);
}
