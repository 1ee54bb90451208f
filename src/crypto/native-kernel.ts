/** The native kernel, if build/tandem.node is there and loads on this machine (scripts/build-native.mjs makes it). */
import { loadAddon, type NativeAddon } from "./native-addon.ts";
import { NativePrivateEvaluator } from "./native-private.ts";
import { NativePublicEvaluator } from "./native-public.ts";
import type { SeamedKernel } from "./portable-kernel.ts";
import { checkThreads } from "./request-checks.ts";

export interface NativeKernelLoad {
  readonly kernel?: SeamedKernel;
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
    return { kernel: kernelOf(loadAddon()) };
  } catch (cause) {
    return { cause };
  }
}

function kernelOf(addon: NativeAddon): SeamedKernel {
  return {
    name: "native",
    publicEvaluator(key, { threads }) {
      checkThreads(threads);
      return new NativePublicEvaluator(addon, key, threads);
    },
    privateEvaluator(key, { threads }) {
      checkThreads(threads);
      return new NativePrivateEvaluator(addon, key, threads);
    },
  };
}
