/** Placeholder until the addon is wired: reports that there is no native kernel. */
import type { SeamedKernel } from "./portable-kernel.ts";

export function loadNativeKernel(): { readonly kernel?: SeamedKernel; readonly cause?: unknown } {
  return { cause: new Error("not built") };
}
