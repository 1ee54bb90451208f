/**
 * The native kernels, if build/tandem.node exists and loads on this machine (scripts/build-native.mjs builds it). One
 * addon contains several arithmetics. The best one that the processor can run is the default.
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

/** Loads once per process; a missing addon is a result, not an error. */
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
