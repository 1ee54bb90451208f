import { describe, expect, test } from "vitest";
import { expectError } from "../../../test/support/expect-error.ts";
import { aliasesOf, codecParameters, describeBounds, type ParameterSpec, resolveParameters } from "./parameters.ts";
import { trainingParameters } from "../../gbdt/parameters/training-parameters.ts";

const tables: Record<string, Record<string, ParameterSpec>> = { trainingParameters, codecParameters };

describe.each(Object.entries(tables))("%s", (_name, table) => {
  test("nothing given: every default, and every default passes its own bounds", () => {
    const defaults = resolveParameters(table, {});
    expect(Object.keys(defaults)).toEqual(Object.keys(table));
    for (const [name, spec] of Object.entries(table)) expect(defaults[name]).toBe(spec.default);
    expect(resolveParameters(table, defaults)).toEqual(defaults);
    expect(resolveParameters(table, Object.fromEntries(Object.keys(table).map((name) => [name, undefined])))).toEqual(
      defaults,
    );
  });

  test.each(Object.keys(table))("%s: bounds from both sides, types, and a message that says which", async (name) => {
    const spec = table[name];
    const accept = (value: unknown): unknown => resolveParameters(table, { [name]: value })[name];
    const refuse = (value: unknown): Promise<unknown> =>
      expectError(() => accept(value), "USAGE", new RegExp(`parameter ${name} must be .*; got '`));
    if (spec.kind === "switch") {
      for (const value of [true, false]) expect(accept(value)).toBe(value);
      for (const value of ["true", null, 2]) await refuse(value);
      if (spec.bits === true) for (const value of [0, 1]) expect(accept(value)).toBe(value === 1);
      else await refuse(1);
      return;
    }
    if (spec.kind === "list") {
      expect(accept(spec.choices)).toEqual(spec.choices);
      expect(accept(` ${spec.choices[0]},${spec.choices[1]} `)).toEqual(spec.choices.slice(0, 2));
      for (const value of ["nonsense", 1, null, [spec.choices[0], "x"], ""]) await refuse(value);
      for (const numbered of spec.numbered) {
        expect(accept(`${numbered}@0.7,${numbered}@12`)).toEqual([`${numbered}@0.7`, `${numbered}@12`]);
        for (const value of ["@", "@x", "@1@2", "@-1", "@1e3", "@ 1"]) await refuse(`${numbered}${value}`);
      }
      const plain = spec.choices.find((choice) => !spec.numbered.includes(choice));
      await refuse(`${plain}@3`);
      return;
    }
    for (const value of [null, {}, [], true, "", " ", "three", "1,5", Number.NaN, Infinity, "Infinity", 1n])
      await refuse(value);
    if (spec.kind === "numbers") {
      expect(accept(0.25)).toEqual([0.25]);
      expect(accept(" 0.1, 0.9")).toEqual([0.1, 0.9]);
      const many = Array.from({ length: spec.countMax + 1 }, () => 0.5);
      for (const value of [spec.above, spec.below, [0.5, 2], "0.5,", many]) await refuse(value);
      return;
    }
    if (spec.kind === "choice") {
      for (const choice of spec.choices) expect(accept(choice)).toBe(choice);
      await refuse(`${spec.default}x`);
      await refuse(0);
      return;
    }
    expect(accept(` ${spec.default} `)).toBe(spec.default);
    if (spec.kind === "integer") await refuse(spec.default + 0.5);
    if (spec.max !== undefined) {
      if (spec.maxExclusive === true) await refuse(spec.max);
      else expect(accept(spec.max)).toBe(spec.max);
      await refuse(spec.max + 1);
    }
    if (spec.min !== undefined) {
      if (spec.minExclusive === true) await refuse(spec.min);
      else expect(accept(String(spec.min))).toBe(spec.min);
      await refuse(spec.min - 1);
    }
    await expectError(() => accept("nonsense"), "USAGE", new RegExp(describeBounds(spec).replaceAll(/[.+]/g, "\\$&")));
  });
});

test("no two of the tables that a job mixes share a name", () => {
  const names = Object.values(tables).flatMap((table) =>
    Object.entries(table).flatMap(([name, spec]) => [name, ...aliasesOf(spec)]),
  );
  expect(names.filter((name, i) => names.indexOf(name) < i)).toEqual([]);
});

test("an unknown name is refused with the nearest known one", async () => {
  await expectError(() => resolveParameters(trainingParameters, { max_dept: 3 }), "USAGE", /'max_dept'.*'max_depth'/);
  await expectError(() => resolveParameters(trainingParameters, { learning_eta: 3 }), "USAGE", /'learning_eta'/);
  await expectError(
    () => resolveParameters(trainingParameters, JSON.parse('{"__proto__":1}') as Record<string, unknown>),
    "USAGE",
    /'__proto__'/,
  );
  await expectError(() => resolveParameters(trainingParameters, { toString: 1 }), "USAGE", /'toString'/);
});

test("describeBounds", () => {
  expect(describeBounds(trainingParameters.max_depth)).toBe("an integer from 0 up to 16");
  expect(describeBounds(trainingParameters.eta)).toBe("a number above 0 up to 1");
  expect(describeBounds(trainingParameters.base_score)).toBe("a number or auto");
  expect(describeBounds(trainingParameters.grow_policy)).toBe("depthwise|lossguide");
});

test("a booster without trees is refused by name, with what to do", async () => {
  const given = { booster: "gblinear" };
  await expectError(() => resolveParameters(trainingParameters, given), "USAGE", /cannot be gblinear here: .* gbtree/);
});
