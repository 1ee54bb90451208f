/** Wrong arguments of the addon's curve functions throw or reject; they never cause invalid memory access. */
import { describe, expect, it } from "vitest";
import { curveCalls } from "../../../test/support/fuzz/curve-calls.ts";
import { loadCurveAddon } from "./native-addon.ts";
import { loadNativeCurve } from "./native-kernel.ts";

type Functions = Readonly<Record<string, (...values: readonly unknown[]) => unknown>>;

const isBuilt = loadNativeCurve().kernels.size > 0;
const addon = isBuilt ? (loadCurveAddon() as unknown as Functions) : {};
const calls = isBuilt ? (await curveCalls(addon)).filter((call) => call.length > 1) : [];
if (!isBuilt) console.warn("native kernel not built: its arguments are not tested");
const named = calls.map(([name, ...values]) => ({ name, values }));

async function outcome(name: string, values: readonly unknown[]): Promise<unknown> {
  try {
    return await addon[name](...values);
  } catch (error) {
    return error;
  }
}

/** One element less or more. */
function resized(value: unknown, by: number): unknown {
  if (Array.isArray(value)) return by < 0 ? value.slice(0, by) : [...(value as unknown[]), value[0]];
  const array = value as Uint8Array;
  return new (array.constructor as Uint8ArrayConstructor)(array.length + by);
}

describe.runIf(isBuilt)("curve functions of the addon", () => {
  it.each(named)("$name accepts valid arguments", async ({ name, values }) => {
    expect(await outcome(name, values)).not.toBeInstanceOf(Error);
  });

  it.each(named)("$name rejects wrong sizes and kinds", async ({ name, values }) => {
    for (const [at, value] of values.entries()) {
      const isSized = Array.isArray(value) || (ArrayBuffer.isView(value) && value.byteLength > 0);
      const handles = [{}, addon["createCurveSums"](1), addon["createCurveKeys"](1), Symbol("wrong"), undefined];
      for (const wrong of isSized ? [resized(value, -1), resized(value, 1), 7, null] : handles) {
        const isValid = name === "curveAnswer" ? wrong === null : name === "curveHistogram" && at === 3;
        if (isValid && typeof wrong !== "number") continue; // no noise; any number of rows
        const error = await outcome(name, values.with(at, wrong));
        expect(error, `argument ${at} of ${name}`).toBeInstanceOf(Error);
      }
    }
  });

  it.each(named)("$name rejects numbers out of range", async ({ name, values }) => {
    for (const [at, value] of values.entries()) {
      if (typeof value !== "number") continue;
      for (const wrong of [-1, 0.5, Number.NaN, 2 ** 36]) {
        const error = await outcome(name, values.with(at, wrong));
        expect(error, `argument ${at} of ${name}`).toBeInstanceOf(Error);
      }
    }
  });

  it("rejects indices, bins, chains, bounds and noise out of range", async () => {
    const call = (wanted: string): readonly unknown[] => named.find(({ name }) => name === wanted)?.values ?? [];
    const rejects = async (name: string, at: number, wrong: unknown): Promise<void> => {
      const error = await outcome(name, call(name).with(at, wrong));
      expect(error, `argument ${at} of ${name}`).toBeInstanceOf(Error);
    };
    const last = 2 ** 32 - 1;
    await rejects("curveMultiples", 2, Uint32Array.of(0, 1, 2, 4));
    await rejects("curveEncrypt", 2, Uint32Array.of(0, 1, 2, last));
    await rejects("curveLoad", 4, Uint32Array.of(0, 1, 2, 4));
    await rejects("curveLoad", 3, 3);
    await rejects("curveHistogram", 3, Uint32Array.of(0, 4));
    await rejects("curveHistogram", 2, Uint32Array.of(1, 1));
    await rejects("curveHistogram", 2, Uint32Array.of(0, 2));
    const bins = call("curveHistogram")[4] as Uint16Array[];
    await rejects("curveHistogram", 4, [bins[0], bins[1].map(() => 2)]);
    for (const wrong of [0.5, Number.NaN, 2 ** 36, -(2 ** 36)]) {
      await rejects("curveOpen", 3, Float64Array.of(0, 0, 0, wrong));
      await rejects("curveAnswer", 7, Float64Array.of(0, 0, 0, wrong));
    }
    for (const wrong of [-2, Number.NaN, 2 ** 36]) await rejects("curveOpen", 4, Float64Array.of(0, 0, 0, wrong));
    await rejects("curveOpen", 5, addon["createCurveLogarithms"](1000)); // not filled
    await rejects("curveAnswer", 3, Uint32Array.of(0, 3, 2));
    await rejects("curveAnswer", 4, Uint32Array.of(0, 1, 5));
    await rejects("curveAnswer", 5, Int32Array.of(-1, 0, 0));
    await rejects("curveAnswer", 5, Int32Array.of(-1, 0, -1));
    await rejects("curveAnswer", 8, addon["createCurveKeys"](2)); // not made
    await rejects("createCurve", 0, "avx512");
    await rejects("createCurveLogarithms", 0, 2 ** 35 + 1);
  });
});
