/** Mistakes in a config, each refused with file, line, field and what to write instead. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { active, ConfigFiles, passive, print, read } from "../../../test/support/config-texts.ts";
import { expectError } from "../../../test/support/expect-error.ts";
import { readPassiveConfig } from "./config.ts";

const files = new ConfigFiles();
const file = (text: string): string => files.write(text);

const mistakes: readonly [
  what: string,
  role: "active" | "passive",
  from: string,
  to: string,
  line: number,
  says: RegExp,
][] = [
  ["a misspelt field", "passive", "policy:", "polcy:", 15, /unknown field 'polcy'; did you mean 'policy'\?/],
  [
    "a misspelt field inside",
    "passive",
    "  max_trees: 20",
    "  max_tree: 20",
    16,
    /unknown field 'policy\.max_tree'; did you mean 'max_trees'\?/,
  ],
  [
    "a misspelt field in a list",
    "passive",
    "    fingerprint:",
    "    finger_print:",
    10,
    /unknown field 'active\[1\]\.finger_print'; did you mean 'fingerprint'\?/,
  ],
  [
    "a misspelt value",
    "passive",
    "  max_trees: 20",
    "  schemes: [pailier]",
    16,
    /field 'policy\.schemes\[1\]': must be one of paillier, curve, lattice; did you mean 'paillier'\?/,
  ],
  [
    "a misspelt preset",
    "active",
    "training:",
    "privacy: guardd\ntraining:",
    15,
    /field 'privacy': must be one of exact, guarded, strict; did you mean 'guarded'\?/,
  ],
  [
    "a misspelt objective",
    "active",
    "  num_round: 10",
    "  objective: binary:logitic",
    16,
    /must be one of .*; did you mean 'binary:logistic'\?/,
  ],
  [
    "the config of a passive party",
    "active",
    active,
    passive,
    8,
    /this is the config of a passive party, as field 'active' shows; use the config of the active party/,
  ],
  [
    "the config of the active party",
    "passive",
    passive,
    active,
    2,
    /this is the config of the active party, as field 'passives' shows; use the config of a passive party/,
  ],
  ["a field that is missing", "passive", "  id: id\n", "", 11, /field 'data\.id' is missing/],
  ["no source of data", "passive", "  path: data/people.csv\n", "", 11, /field 'data\.path' is missing/],
  [
    "two sources of data",
    "passive",
    "  id: id",
    "  command: [cat, x]\n  id: id",
    13,
    /'data\.path' and 'data\.command' exclude each other/,
  ],
  [
    "a port out of range",
    "passive",
    "7443",
    "74430",
    4,
    /field 'listen\.port': must be a whole number from 0 to 65535/,
  ],
  [
    "an invalid fingerprint",
    "passive",
    print,
    "PASTE-IT",
    10,
    /field 'active\[1\]\.fingerprint': must be a SHA-256 fingerprint/,
  ],
  [
    "no active party",
    "passive",
    `active:\n  - name: bank\n    fingerprint: ${print}`,
    "active: []",
    8,
    /field 'active': must name at least one/,
  ],
  [
    "a short key without the word insecure",
    "passive",
    "  max_trees: 20",
    "  min_key_bits: 1024",
    16,
    /field 'policy\.min_key_bits': must be a whole number from 2048 to 4096/,
  ],
  [
    "a minimum of zero",
    "passive",
    "  max_trees: 20",
    "  min_instances_per_candidate: 0",
    16,
    /field 'policy\.min_instances_per_candidate': must be a whole number from 1 to/,
  ],
  [
    "a minimum that is no whole number",
    "passive",
    "  max_trees: 20",
    "  min_instances_per_node: 2.5",
    16,
    /field 'policy\.min_instances_per_node': must be a whole number from 1 to/,
  ],
  [
    "an unknown normalisation",
    "passive",
    "  features: all",
    "  features: all\n  normalise: [upper]",
    15,
    /field 'data\.normalise\[1\]': must be one of nfkc, lowercase, digits, strip-leading-zeros/,
  ],
  [
    "features that are no list",
    "passive",
    "  features: all",
    "  features: some",
    14,
    /field 'data\.features': must be a list of columns, 'all', or/,
  ],
  ["text where fields belong", "passive", "  directory: jobs", "", 17, /field 'output': must have fields of its own/],
  ["no YAML", "passive", "  port: 7443", "  port: [7443", 5, /this is not YAML/],
  ["a field twice", "passive", "  id: id", "  id: id\n  id: other", 14, /this is not YAML: Map keys must be unique/],
  [
    "an unknown hyper-parameter",
    "active",
    "  num_round: 10",
    "  num_rounds: 10",
    16,
    /unknown parameter 'num_rounds'; did you mean 'num_round'\?/,
  ],
  [
    "a hyper-parameter out of bounds",
    "active",
    "  num_round: 10",
    "  num_round: 10\n  eta: 7",
    17,
    /parameter eta must be a number above 0 up to 1/,
  ],
  [
    "trees without a limit",
    "active",
    "num_round: 10",
    "num_round: 10\n  max_depth: 0",
    17,
    /max_depth and max_leaves are both 0, so that trees have no limit\. Set one of them/,
  ],
  [
    "hidden outcomes where there is nothing to hide",
    "active",
    "training:",
    "privacy:\n  hidden_outcomes: true\ntraining:",
    15,
    /hidden_outcomes: the scheme paillier reveals the instances of each node/,
  ],
  [
    "validation rows from two places",
    "active",
    "  label: outcome",
    "  label: outcome\n  validation_path: v.csv\n  validation_fraction: 0.2",
    16,
    /exclude each other/,
  ],
  [
    "test rows from two places",
    "active",
    "  label: outcome",
    "  label: outcome\n  test_path: t.csv\n  test_fraction: 0.2",
    16,
    /exclude each other/,
  ],
  [
    "a test fraction of everything",
    "active",
    "  label: outcome",
    "  label: outcome\n  test_fraction: 1",
    15,
    /field 'data\.test_fraction': must be below 1/,
  ],
  [
    "a short key",
    "active",
    "training:",
    "key_bits: 1024\ntraining:",
    15,
    /field 'key_bits': must be a whole number from 2048/,
  ],
  [
    "a scheme that there is not",
    "active",
    "training:",
    "scheme: rot13\ntraining:",
    15,
    /field 'scheme': must be one of paillier, curve, lattice/,
  ],
  [
    "a key where there is none",
    "active",
    "training:",
    "scheme: lattice\nkey_bits: 2048\ntraining:",
    16,
    /field 'key_bits' cannot be used with the lattice scheme: its security does not depend on a key length/,
  ],
  [
    "a short key where there is none",
    "active",
    "training:",
    "scheme: lattice\ninsecure_key_bits: 512\ntraining:",
    16,
    /field 'insecure_key_bits' cannot be used with the lattice scheme/,
  ],
  [
    "a removed block",
    "active",
    "training:",
    "speed:\n  packing: false\ntraining:",
    15,
    /field 'speed' was removed: all shortcuts are on; delete the block/,
  ],
  [
    "a removed field",
    "active",
    "training:",
    "codec:\n  layout: paper\ntraining:",
    16,
    /field 'codec\.layout' was removed: .*delete the line/,
  ],
  [
    "a word for minimums that means nothing",
    "passive",
    "  max_trees: 20",
    "  lattice_minimums: leaf",
    16,
    /everywhere, root/,
  ],
  ["two keys", "active", "training:", "key_bits: 2048\ninsecure_key_bits: 512\ntraining:", 16, /exclude each other/],
  [
    "a job that would leave its folder",
    "active",
    "name: bank",
    "name: bank\njob: ../../etc",
    2,
    /field 'job': must be up to 64 letters/,
  ],
  [
    "two parties of one name",
    "active",
    "passives:",
    `passives:\n  - { name: retailer, host: h, port: 1, fingerprint: ${print} }`,
    4,
    /two passive parties have the same name/,
  ],
  [
    "a number where text belongs",
    "active",
    "  label: outcome",
    "  label: outcome\n  missing: [-999]",
    15,
    /field 'data\.missing\[1\]': must be text; put it in quotes/,
  ],
];

test.each(mistakes)("%s is refused with file, line and field", async (_what, role, from, to, line, says) => {
  const text = role === "active" ? active : passive;
  expect(text).toContain(from);
  const path = file(text.replace(from, to));
  const error = await expectError(() => read[role](path), "FILE_FORMAT", says);
  expect(error.message.startsWith(`${path}, line ${line}: `), error.message).toBe(true);
});

test("a file that is not there, or empty", async () => {
  await expectError(
    () => readPassiveConfig(join(files.folder, "none.yaml")),
    "FILE_UNREADABLE",
    /none\.yaml: no such file; check the path, or write a config by 'tandem init'/,
  );
  await expectError(() => readPassiveConfig(file("")), "FILE_FORMAT", /line 1: this is not a config/);
});

describe("files that are made to hurt", () => {
  const levels = Array.from({ length: 9 }, (_, i) => `l${i + 1}: &l${i + 1} [${Array(9).fill(`*l${i}`).join(",")}]`);
  const cases: [string, string, RegExp][] = [
    ["aliases of aliases", `l0: &l0 [a, b]\n${levels.join("\n")}\n`, /line 10: its aliases cannot be resolved/],
    ["many aliases", `a: &a 1\nb: [${Array(200).fill("*a").join(",")}]\n`, /line 2: there are more than 100 aliases/],
    ["brackets", `name: x\na: ${"[".repeat(5000)}`, /line 2: this is nested more than 64 deep/],
    ["dashes", `name:\n  ${"- ".repeat(5000)}x\n`, /line 2: this is nested more than 64 deep/],
    ["stairs", Array.from({ length: 300 }, (_, i) => `${" ".repeat(i)}a:\n`).join(""), /line 258: .*indented by more/],
    ["fields", `a: {${Array.from({ length: 9000 }, (_, i) => `f${i}`).join(",")}}`, /line 1: there are more than 4096/],
    ["size", `# ${"x".repeat(2_000_000)}`, /is larger than a config may be \(1048576 bytes\)/],
    ["a prototype", `${passive}__proto__:\n  admin: true\n`, /line \d+: unknown field '__proto__'/],
    ["a cycle", `${passive}more: &m [*m]\n`, /line \d+: (unknown field 'more'|its aliases)/],
  ];
  test.each(cases)("%s", async (_what, text, says) => {
    const path = file(text);
    await expectError(() => read.passive(path), "FILE_FORMAT", says);
    await expectError(() => read.active(path), "FILE_FORMAT", /line \d+|is larger/);
  });

  test("bytes that are no text", async () => {
    const path = file("");
    writeFileSync(path, Buffer.from("name: M\u00fcller\n", "latin1"));
    await expectError(() => readPassiveConfig(path), "FILE_FORMAT", /is not a config: it is not UTF-8 text/);
  });
});
