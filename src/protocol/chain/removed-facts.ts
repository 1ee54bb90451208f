/**
 * Parameters of jobs of 0.6 that were removed. Records of such a job are accepted if each of them had the value that
 * all jobs have now.
 */
import { TandemError } from "../../base/error.ts";
import type { Facts } from "./commitment.ts";

/** Null: every value is accepted, since the layout of these jobs did not use it. */
const removedFacts: Readonly<Record<string, string | number | boolean | null>> = {
  "codec.codec": "batched",
  "codec.layout": "auto",
  "codec.padding": 2,
  "codec.shift": null,
  "codec.codec_alpha": null,
  "codec.alpha_max": null,
  "codec.r": null,
  "speed.packing": true,
  "speed.subtraction": true,
  "speed.joint_bins": true,
  "speed.skip_bin": true,
  "speed.encryption": "full",
};

/** The facts without removed parameters. @throws TandemError CHECKPOINT naming a parameter that had another value */
export function presentFacts<F extends Facts>(stored: F): F {
  const isRemoved = (name: string): boolean => Object.hasOwn(removedFacts, name);
  for (const [name, value] of Object.entries(stored)) {
    if (!isRemoved(name) || removedFacts[name] === null || removedFacts[name] === value) continue;
    throw new TandemError(
      "CHECKPOINT",
      `the job was begun with '${name}', which was removed: finish and verify it with the version that began it`,
    );
  }
  return Object.fromEntries(Object.entries(stored).filter(([name]) => !isRemoved(name))) as F;
}
