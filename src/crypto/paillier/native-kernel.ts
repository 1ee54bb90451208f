/**
 * The native kernels, if build/tandem.node is there and loads on this machine (scripts/build-native.mjs makes it). It
 * is one addon with several arithmetics inside. The best that the processor can run is the default.
 */
import { loadAddon, type NativeAddon, type NativeKernelName } from "./native-addon.ts";
import { NativePrivateEvaluator } from "./native-private.ts";
import { NativePublicEvaluator } from "./native-public.ts";
import type { SeamedKernel } from "./portable-kernel.ts";
import { checkThreads } from "./request-checks.ts";

export interface NativeKernelLoad {
  /** The best there is. */
  readonly kernel?: SeamedKernel;
  /** Every kernel that this processor can run. */
  readonly kernels: ReadonlyMap<NativeKernelName, SeamedKernel>;
  /** Why there is none. */
  readonly cause?: unknown;
}

let loaded: NativeKernelLoad | undefined;

/** Loads once per process; a missing addon is an answer, not an error. */
export function loadNativeKernel(): NativeKernelLoad {
  loaded ??= tryLoad();
  return loaded;
}

function tryLoad(): NativeKernelLoad {
  try {
    const addon = loadAddon();
    const [best, ...others] = addon.kernels().map((name) => [name, kernelOf(addon, name)] as const);
    return { kernel: best[1], kernels: new Map([best, ...others]) };
  } catch (cause) {
    return { kernels: new Map(), cause };
  }
}

function kernelOf(addon: NativeAddon, name: NativeKernelName): SeamedKernel {
  return {
    name: `native-${name}`,
    publicEvaluator(key, { threads }) {
      checkThreads(threads);
      return new NativePublicEvaluator(addon, name, key, threads);
    },
    privateEvaluator(key, options) {
      checkThreads(options.threads);
      return new NativePrivateEvaluator(addon, name, key, options);
    },
  };
}
