/** Calls of the addon's curve functions that all succeed: four rows, two features, two candidates, two values. */
type Functions = Readonly<Record<string, (...values: readonly unknown[]) => unknown>>;
type Call = readonly [name: string, ...values: unknown[]];

/**
 * The table of logarithms is filled and the keys are made before the calls are returned.
 * @param kernel by default the best of this processor
 */
export async function curveCalls(
  addon: Functions,
  kernel = (addon["curveKernels"]() as string[])[0],
): Promise<readonly Call[]> {
  const context = addon["createCurve"](kernel);
  const rows = addon["createCurveScalars"](4);
  const secrets = addon["createCurveScalars"](2);
  const wiped = addon["createCurveScalars"](1);
  const bases = addon["createCurvePoints"](4);
  const values = addon["createCurvePoints"](8);
  const baseSums = addon["createCurveSums"](5);
  const valueSums = addon["createCurveSums"](10);
  const keys = addon["createCurveKeys"](2);
  const logarithms = addon["createCurveLogarithms"](1000);
  const wide = Uint8Array.from({ length: 4 * 64 }, (_, i) => (7 * i + 3) % 256);
  const keyBytes = new Uint8Array(2 * 32);
  const keyPlaces = Uint32Array.of(0, 1);
  await addon["curveReduce"](rows, wide, 1);
  await addon["curveReduce"](secrets, wide.slice(0, 128), 1);
  await addon["curveMultiples"](context, secrets, keyPlaces, keyBytes, 1);
  await addon["curveMakeKeys"](context, keyBytes, keys, 1);
  await addon["curveFillLogarithms"](context, logarithms, 1);
  const neutral = new Uint8Array(8 * 32).map((_, i) => (i % 32 === 0 ? 1 : 0));
  const bins = [Uint16Array.of(0, 1, 2, 0), Uint16Array.of(1, 1, 0, 0)];
  const [binCounts, skipped] = [Uint32Array.of(3, 2), Int32Array.of(-1, 0)];
  const chains = [Uint32Array.of(0, 2, 3), Uint32Array.of(0, 1, 3), Int32Array.of(-1, 0, 1)];
  const sources = [bases, values];
  const results = [baseSums, valueSums];
  const places = Uint32Array.of(0, 1, 2, 3);
  const centres = Float64Array.of(0, 10, -10, 0);
  const bounds = Float64Array.of(100, -1, 100, 100);
  const answer = [new Uint8Array(2), new Float64Array(4), keys, wide.slice(0, 128), new Uint8Array(2 * 96)];
  return [
    ["curveKernels"],
    ["createCurve", kernel],
    ["createCurveScalars", 3],
    ["createCurvePoints", 3],
    ["createCurveSums", 3],
    ["createCurveKeys", 3],
    ["createCurveLogarithms", 1000],
    ["curveReduce", rows, wide, 2],
    ["curveWipe", wiped],
    ["curveMultiples", context, rows, places, new Uint8Array(4 * 32), 2],
    ["curveEncrypt", context, rows, places, secrets, new Int32Array(8).fill(-5), new Uint8Array(8 * 32), 2],
    ["curveFillLogarithms", context, logarithms, 2],
    ["curveOpen", context, secrets, neutral.slice(0, 192), centres, bounds, logarithms, new Float64Array(4), 2],
    ["curveLoad", context, neutral, values, 2, places, 2],
    ["curveHistogram", context, sources, Uint32Array.of(1, 2), places, bins, binCounts, skipped, 1, results, 2],
    ["curveAdd", context, baseSums, baseSums, addon["createCurveSums"](5), 2],
    ["curveEncode", context, baseSums, new Uint8Array(5 * 32), 2],
    ["curveDecode", context, neutral.slice(0, 160), baseSums, 2],
    ["curveMakeKeys", context, keyBytes, keys, 2],
    ["curveAnswer", context, baseSums, valueSums, ...chains, ...answer, 2],
    ["curveAnswer", context, baseSums, valueSums, ...chains, ...answer.with(1, null), 2],
  ];
}
