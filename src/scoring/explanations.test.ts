import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { create } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { scratchDirectory } from "../../test/support/command.ts";
import { expectError } from "../../test/support/expect-error.ts";
import { type PassiveConfig, passiveConfig } from "../party/config/config.ts";
import type { PartyEvent } from "../record/events.ts";
import type { PassiveShare } from "../store/share-files.ts";
import { ActiveContributionsSchema } from "../wire/generated/tandem/v1/scoring_pb.ts";
import { ContributionsFile, contributionsFileName } from "./contributions-file.ts";
import { Explanations } from "./explanations.ts";
import { contributionBytes } from "./received-contributions.ts";

const root = scratchDirectory();
let folders = 0;
const rule = { threshold: 1, defaultLeft: true };
/** Two trees; the feature "a" is tag 0 in the first and tag 1 in the second. */
const share: PassiveShare = {
  name: "shop",
  job: "spring",
  model: "5".repeat(64),
  active: "bank",
  splits: [
    { tree: 0, node: 0, feature: 0, featureName: "a", ...rule },
    { tree: 1, node: 0, feature: 1, featureName: "b", ...rule },
    { tree: 1, node: 2, feature: 0, featureName: "a", ...rule },
  ],
};

function made(policy: Record<string, unknown>, contributions = false) {
  const directory = join(root, `party-${folders++}`);
  const events: PartyEvent[] = [];
  const config = {
    policy: { explanations: true, max_outputs: 3, privacy: { masked_scoring: false }, ...policy },
    name: "shop",
    output: { directory, contributions },
  } as unknown as PassiveConfig;
  const explanations = new Explanations(config, (event) => events.push(event));
  const take = (changes: Record<string, unknown> = {}, of: PassiveShare = share): Promise<void> =>
    explanations.take(
      create(ActiveContributionsSchema, {
        ids: ["c1", "c2"],
        outputCount: 1,
        treesPerRound: 1,
        values: contributionBytes(Float64Array.of(1, 2, 4, 8, 16, 32)),
        ...changes,
      }),
      of,
      (id) => id.startsWith("c"),
    );
  return { explanations, take, events, path: join(directory, "spring", contributionsFileName) };
}

test("explanations are off unless a config says otherwise", () => {
  const shape = passiveConfig.shape;
  expect(shape.policy.parse({}).explanations).toBe(false);
  expect(shape.output.parse({ directory: "jobs" }).contributions).toBe(false);
});

describe("without consent", () => {
  test("no tags are sent, and no values are accepted", async () => {
    const { explanations } = made({ explanations: false }, true);
    const refusal = /does not allow explanations \('explanations: true' in its policy would allow them\)/;
    await expectError(() => explanations.checkAllowed(), "POLICY", refusal);
    await expectError(() => explanations.checkTaken(), "POLICY", refusal);
    await expectError(() => made({}).explanations.checkTaken(), "POLICY", /takes no contributions/);
  });

  test("nothing of a model with masked scoring, or where the policy demands it", async () => {
    const masked = { ...share, maskedScoring: true } as const;
    await expectError(() => made({}).explanations.tags(masked), "POLICY", /masked scoring only/);
    await expectError(() => made({}, true).take({}, masked), "POLICY", /masked scoring only/);
    const strict = made({ privacy: { masked_scoring: true } });
    await expectError(() => strict.explanations.tags(share), "POLICY", /masked scoring only/);
  });
});

test("tags are always the same, and fit a message", async () => {
  const { explanations } = made({});
  expect(explanations.tags(share)).toEqual([0, 0, 1]);
  expect(explanations.tags(share)).toEqual(explanations.tags(share));
  const [split] = share.splits;
  const many = { ...share, splits: Array.from({ length: (1 << 20) + 1 }, (_, node) => ({ ...split, node })) };
  await expectError(() => explanations.tags(many), "PROTOCOL_STATE", /do not fit one message/);
});

describe("values of own features", () => {
  test("are summed over trees and written to a file that only its owner can read", async () => {
    const { take, path } = made({}, true);
    await Promise.all([take(), take({ ids: ["c3", 'c"4'] })]);
    const lines = ["id,tandem_job,a,b", "c1,spring,5,2", "c2,spring,40,16", "c3,spring,5,2", '"c""4",spring,40,16'];
    expect(readFileSync(path, "utf8")).toBe(`${lines.join("\n")}\n`);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    const turns = made({}, true);
    await turns.take({ outputCount: 2, treesPerRound: 2 });
    expect(readFileSync(turns.path, "utf8")).toBe(
      "id,tandem_job,a_0,b_0,a_1,b_1\nc1,spring,1,0,4,2\nc2,spring,8,0,32,16\n",
    );
  });

  test("name their model: a refreshed one has the same id, and the same file", async () => {
    const { take, path } = made({}, true);
    await take({ job: "spring", ids: ["c1", "c2"] });
    await take({ job: "autumn", ids: ["c1", "c2"] });
    const lines = ["id,tandem_job,a,b", "c1,spring,5,2", "c2,spring,40,16", "c1,autumn,5,2", "c2,autumn,40,16"];
    expect(readFileSync(path, "utf8")).toBe(`${lines.join("\n")}\n`);
  });

  test.each<[string, Record<string, unknown>, "PROTOCOL_STATE" | "POLICY", RegExp]>([
    ["too few", { values: new Uint8Array(40) }, "PROTOCOL_STATE", /40 bytes for 2 ids of 3 values each/],
    ["too many", { values: new Uint8Array(56) }, "PROTOCOL_STATE", /56 bytes/],
    [
      "values that are not numbers",
      { values: contributionBytes(new Float64Array(6).fill(NaN)) },
      "PROTOCOL_STATE",
      /not numbers/,
    ],
    ["no output", { outputCount: 0 }, "PROTOCOL_STATE", /outputs that the model does not have/],
    ["too many outputs", { outputCount: 4_294_967_295 }, "POLICY", /at most 3 outputs/],
    [
      "trees that are not interleaved",
      { outputCount: 3, treesPerRound: 2 },
      "PROTOCOL_STATE",
      /outputs that the model does not have/,
    ],
    ["unknown ids", { ids: ["c1", "x"] }, "PROTOCOL_STATE", /does not hold/],
    ["an invalid job name", { job: "spring,\n" }, "PROTOCOL_STATE", /job name is not valid/],
    ["one id twice", { ids: ["c1", "c1"] }, "PROTOCOL_STATE", /one id twice/],
  ])("are refused: %s", async (_, changes, code, message) => {
    const { take, path } = made({}, true);
    await expectError(() => take(changes), code, message);
    expect(existsSync(path)).toBe(false);
  });

  test("another model's file is not appended to, and only its owner sees why", async () => {
    const { take, path, events } = made({}, true);
    await take();
    writeFileSync(path, "id,other\n");
    const error = await expectError(() => take(), "FILE_FORMAT", /trouble with its own files/);
    expect(error.message).not.toContain(path);
    expect(events).toMatchObject([{ type: "error", message: expect.stringContaining("other columns") as string }]);
  });

  test("do not fill the disk", async () => {
    const folder = join(root, "full");
    const file = new ContributionsFile(60);
    const received = { names: ["a"], values: Float64Array.of(1) };
    await file.append(folder, "s", ["c1"], received);
    await file.append(folder, "s", ["c2"], received);
    await expectError(() => file.append(folder, "s", ["c".repeat(40)], received), "POLICY", /is full/);
    expect(readFileSync(join(folder, contributionsFileName), "utf8")).toBe("id,tandem_job,a\nc1,s,1\nc2,s,1\n");
  });
});
