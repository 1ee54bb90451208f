/** kubernetes.yaml and compose.yaml are held to the platforms' own specifications, field by field. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { scratchDirectory } from "../../../test/support/command.ts";
import type { Rule } from "../../../test/support/field-rules.ts";
import { composeSchema, kubernetesSchemas } from "../../../test/support/platform-schemas.ts";
import { initParty } from "../init.ts";
import { initCrew } from "./init-crew.ts";

type Tree = { [name: string]: unknown };

const folder = scratchDirectory();
await initParty({ role: "passive", name: "retailer", host: "127.0.0.1", port: 0, directory: folder });
const out = join(folder, "crew");
await initCrew({ party: join(folder, "passive.yaml"), hosts: ["nats-0.nats"], port: 4222, directory: out });
const read = (name: string): string => readFileSync(join(out, name), "utf8");
const kubernetes = parseAllDocuments(read("kubernetes.yaml")).map((document) => document.toJS() as Tree);
const documents: readonly (readonly [string, Tree, Rule])[] = [
  ...kubernetes.map((tree) => [String(tree["kind"]), tree, kubernetesSchemas[String(tree["kind"])]] as const),
  ["compose.yaml", parse(read("compose.yaml")) as Tree, composeSchema],
];

test.each(documents)("%s has what its specification asks for, and nothing that it does not know", (_, tree, rule) => {
  expect(rule(tree, "")).toEqual([]);
});

/** Where names are free. */
const freeMaps = /(?:^|\.)(?:labels|matchLabels|data|services|volumes)$/;

/** Every object of a tree, with the place where it is. */
function* objectsIn(value: unknown, at = ""): Generator<readonly [Tree, string]> {
  if (typeof value !== "object" || value === null) return;
  if (!Array.isArray(value)) yield [value as Tree, at];
  for (const [name, item] of Object.entries(value)) yield* objectsIn(item, at === "" ? name : `${at}.${name}`);
}

test.each(documents)("%s: every misspelt field and every value of another kind would be seen", (_, tree, rule) => {
  const copy = structuredClone(tree);
  let tried = 0;
  for (const [object, at] of objectsIn(copy)) {
    for (const name of Object.keys(object)) {
      const value = object[name];
      if (!freeMaps.test(at)) {
        delete object[name];
        object[`${name}x`] = value;
        expect(rule(copy, ""), `${at}.${name}x`).not.toEqual([]);
        delete object[`${name}x`];
      }
      object[name] = Array.isArray(value) ? "text" : [value];
      expect(rule(copy, ""), `${at}.${name}`).not.toEqual([]);
      object[name] = value;
      tried++;
    }
  }
  expect(tried).toBeGreaterThan(6);
  expect(rule(copy, "")).toEqual([]);
});

test("what a server refuses besides: names, sizes, paths, both of two limits", () => {
  const [secret, deployment, budget] = kubernetes.map((tree) => JSON.stringify(tree));
  for (const [kind, json, from, to, words] of [
    ["Secret", secret, '"tandem-retailer-worker"', '"Tandem_Worker"', /metadata\.name: 'Tandem_Worker' does not match/],
    ["Secret", secret, '"crew.key":"', '"crew.key":"%', /data\.crew\.key: /],
    ["Deployment", deployment, '"16Gi"', '"16 gigabytes"', /requests\.memory: '16 gigabytes'/],
    ["Deployment", deployment, '"mountPath":"/', '"mountPath":"a:/', /volumeMounts\[0\]\.mountPath/],
    ["Deployment", deployment, '"selector"', '"selectors"', /spec\.selector: is missing/],
    ["Deployment", deployment, '"RuntimeDefault"', '"Default"', /must be one of RuntimeDefault/],
    ["PodDisruptionBudget", budget, '"maxUnavailable"', '"minAvailable":1,"maxUnavailable"', /both a minimum/],
  ] as const) {
    expect(json).toContain(from);
    const problems = kubernetesSchemas[kind](JSON.parse(json.replaceAll(from, to)), "");
    expect(problems.join("\n")).toMatch(words);
  }
});
