import { expect, test } from "vitest";
import { defaultScheme, schemeNames } from "../scheme/registry.ts";
import { schemeChoices, schemeFactsOf, schemeOption } from "./scheme-options.ts";

test("the command line offers every scheme that there is, and Paillier unless told otherwise", () => {
  expect([...schemeChoices]).toEqual(schemeNames());
  expect(schemeOption().defaultValue).toBe(defaultScheme);
});

test("a summary has the length of a key where there is a key", async () => {
  expect(await schemeFactsOf({ keyBits: 2048 })).toEqual({ scheme: "paillier", keyBits: 2048 });
  expect(await schemeFactsOf({ scheme: "lattice", keyBits: 2048 })).toEqual({ scheme: "lattice" });
});
