/** What `tandem bench --only` takes. */
export const benchParts = [
  "arithmetic",
  "training",
  "ablation",
  "noise",
  "hidden-sums",
  "serving",
  "scoring-masked",
  "lattice",
  "curve",
  "reading",
  "resolution",
  "wan",
  "wan-table",
  "workers",
  "release",
  "relay",
] as const;
export type BenchPart = (typeof benchParts)[number];
