import type { SplitTest } from "./split-test.ts";

/** A split of a feature by name, as in rules and in the splits of a share. */
export type NamedTest = SplitTest & { readonly featureName: string };
