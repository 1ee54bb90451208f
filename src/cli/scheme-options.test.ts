import { expect, test } from "vitest";
import { resolveJob } from "../party/resolve-job.ts";
import { defaultScheme, schemeNames } from "../scheme/registry.ts";
import { schemeChoices, toSchemeFacts, schemeOption } from "./scheme-options.ts";

test("the command line offers every scheme, with Paillier as the default", () => {
  expect([...schemeChoices]).toEqual(schemeNames());
  expect(schemeOption().defaultValue).toBe(defaultScheme);
});

test("a summary has the length of a key where there is a key", () => {
  expect(toSchemeFacts(resolveJob({}))).toEqual({ scheme: "paillier", keyBits: 2048 });
  expect(toSchemeFacts(resolveJob({ scheme: "lattice" }))).toEqual({ scheme: "lattice" });
});
