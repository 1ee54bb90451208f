/** Wrong arguments of the addon's lattice functions throw or reject; they never cause invalid memory access. */
import { describe, expect, it } from "vitest";
import { latticeCalls } from "../../../test/support/fuzz/lattice-calls.ts";
import { loadLatticeAddon } from "./native/native-addon.ts";
import { loadNativeLattice } from "./native/native-kernel.ts";

type Functions = Readonly<Record<string, (...values: readonly unknown[]) => unknown>>;

const isBuilt = loadNativeLattice().kernels.size > 0;
const addon = isBuilt ? (loadLatticeAddon() as unknown as Functions) : {};
const calls = isBuilt ? latticeCalls(addon).filter((call) => call.length > 1) : [];
if (!isBuilt) console.warn("native kernel not built: its arguments are not tested");

async function outcome(name: string, values: readonly unknown[]): Promise<unknown> {
  try {
    return await addon[name](...values);
  } catch (error) {
    return error;
  }
}

/** One element less or more. */
function resized(value: unknown, by: number): unknown {
  if (Array.isArray(value)) return by < 0 ? value.slice(0, by) : [...value, ...value.slice(0, by)];
  const array = value as Uint8Array;
  return new (array.constructor as Uint8ArrayConstructor)(array.length + by);
}

describe.runIf(isBuilt)("lattice functions of the addon", () => {
  it.each(calls.map(([name, ...values]) => ({ name, values })))("$name accepts valid arguments", async (call) => {
    expect(await outcome(call.name, call.values)).not.toBeInstanceOf(Error);
  });

  it.each(calls.map(([name, ...values]) => ({ name, values })))("$name rejects wrong sizes", async (call) => {
    for (const [at, value] of call.values.entries()) {
      const isSized = Array.isArray(value) || (ArrayBuffer.isView(value) && value.byteLength > 0);
      for (const wrong of isSized ? [resized(value, -1), resized(value, 1), 7, null] : [Symbol("wrong"), undefined]) {
        if (wrong === null && /Answer|Open/.test(call.name)) continue; // null is valid there
        const error = await outcome(call.name, call.values.with(at, wrong));
        expect(error, `argument ${at} of ${call.name}`).toBeInstanceOf(Error);
      }
    }
  });

  it.each(calls.filter(([name]) => name !== "createLattice").map(([name, ...values]) => ({ name, values })))(
    "$name rejects numbers out of range",
    async (call) => {
      for (const [at, value] of call.values.entries()) {
        if (typeof value !== "number") continue;
        for (const wrong of [-1, 0.5, Number.NaN, 2 ** 33]) {
          const error = await outcome(call.name, call.values.with(at, wrong));
          expect(error, `argument ${at} of ${call.name}`).toBeInstanceOf(Error);
        }
      }
    },
  );

  it("bins, chains, noise, smudging noise and shapes are checked", async () => {
    const call = (wanted: string): readonly unknown[] => {
      const found = calls.find(([name]) => name === wanted);
      return found === undefined ? [] : found.slice(1);
    };
    const refuses = async (name: string, at: number, wrong: unknown): Promise<void> => {
      const result = await outcome(name, call(name).with(at, wrong));
      expect(result === 0 || result instanceof Error, `argument ${at} of ${name}`).toBe(true);
    };
    const bins = call("latticeHints")[1] as Uint16Array[];
    for (const name of ["latticeHints", "latticeRowBins"]) await refuses(name, 1, [bins[0], bins[1].map(() => 2)]);
    await refuses("latticeHints", 4, Uint32Array.of(0, 3, 4)); // a chain over two features
    for (const name of ["latticeHints", "latticeAnswer"]) {
      const first = name === "latticeHints" ? 3 : 2;
      await refuses(name, first, Uint32Array.of(0, 3, 2, 3));
      await refuses(name, first + 1, Uint32Array.of(0, 1, 5));
      await refuses(name, first + 2, Int32Array.of(-1, 0, 0));
      await refuses(name, first + 2, Int32Array.of(-1, 0, -1));
      await refuses(name, first + 2, Int32Array.of(-2, 0, 1));
    }
    for (const wrong of [0.5, Number.NaN, 2 ** 54]) await refuses("latticeAnswer", 6, Float64Array.of(0, 0, 0, wrong));
    for (const wrong of [new Uint8Array(16), new Uint8Array(16).fill(1)]) await refuses("latticeAnswer", 7, wrong);
    await refuses("latticeOpen", 4, Uint32Array.of(0, 2));
    await refuses("createLattice", 0, "ifma");
    await refuses("createLattice", 1, "C");
    await refuses("createLattice", 3, new Uint8Array(16).fill(2)); // even
    await refuses("createLattice", 3, new Uint8Array(16).fill(255));
    for (const wrong of [1, 51, 64]) await refuses("createLattice", 4, wrong);
    for (const wrong of [0, 2 ** 32]) await refuses("createLattice", 2, wrong);
  });
});
