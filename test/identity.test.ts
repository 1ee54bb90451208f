/**
 * Trains every job of test/fixtures/identity-0.6 again, federated and centrally: shares, predictions, metrics and the
 * export for XGBoost must be those of 0.6, byte for byte, except that the export lists used features only.
 * scripts/capture-identity.mjs made them.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";
import { Command } from "commander";
import { describe, expect, test } from "vitest";
import { addJobOptions, type JobFlags, jobFrom } from "../src/cli/table/job-options.ts";
import { simulate } from "../src/simulate/simulate.ts";
import { gbtreeOf } from "../src/store/xgboost/booster.ts";
import type { XgboostModel } from "../src/store/xgboost/export.ts";
import { protocolVersion } from "../src/wire/version.ts";
import { partOf } from "./support/campaign.ts";
import { scratchDirectory } from "./support/command.ts";
import { superviseInProcess } from "./world/in-process-parties.ts";

const folder = fileURLToPath(new URL("fixtures/identity-0.6/", import.meta.url));
const records = scratchDirectory();

interface IdentityJob {
  readonly name: string;
  /** The job's name: a part of its shares. */
  readonly job: string;
  readonly warmStart?: string;
  /** The wire version that it was trained with. */
  readonly protocol: number;
  /** Of `tandem simulate`. */
  readonly options: readonly string[];
}

interface Golden {
  readonly trees: number;
  readonly metrics: object;
  /** For XGBoost. */
  readonly export: string;
  /** Of the test rows. */
  readonly predictions: string;
  /** The active party's, then each passive party's. */
  readonly shares: readonly string[];
}

const jobs = JSON.parse(readFileSync(join(folder, "jobs.json"), "utf8")) as readonly IdentityJob[];
const goldens = JSON.parse(gunzipSync(readFileSync(join(folder, "goldens.json.gz"))).toString()) as Readonly<
  Record<string, Golden>
>;

/** A model's id covers the parameters of the handshake: it may change with the wire version, and with nothing else. */
function shareAt(text: string, protocol: number): string {
  if (protocol === protocolVersion) return text;
  return text.replace(/"sha256":"[0-9a-f]{64}"/, "").replace(/"model":"[0-9a-f]{64}"/, "");
}

/** An export of 0.6 without the features that no split uses, which it listed as well. */
function withUsedFeaturesOnly(text: string): string {
  const { learner } = JSON.parse(text) as XgboostModel;
  const used = new Set(
    gbtreeOf(learner.gradient_booster).model.trees.flatMap(({ split_indices: indices, left_children: left }) =>
      indices.filter((_, node) => left[node] !== -1),
    ),
  );
  const kept = learner.feature_names.flatMap((_, index) => (used.has(index) ? [index] : []));
  const keptOf = (all: readonly string[]): string =>
    JSON.stringify(kept.flatMap((index) => all.slice(index, index + 1)));
  return text
    .replace(/"feature_names":\[[^\]]*\]/, () => `"feature_names":${keptOf(learner.feature_names)}`)
    .replace(/"feature_types":\[[^\]]*\]/, () => `"feature_types":${keptOf(learner.feature_types)}`)
    .replaceAll(/"num_feature":"\d+"/g, `"num_feature":"${kept.length}"`)
    .replaceAll(/"split_indices":\[([^\]]*)\]/g, (_, indices: string) => {
      // A leaf has index 0, whether or not the first feature is used.
      const moved = indices.split(",").map((index) => Math.max(0, kept.indexOf(Number(index))));
      return `"split_indices":[${moved.join(",")}]`;
    });
}

async function train({ name, job, warmStart, options, protocol }: IdentityJob): Promise<Golden> {
  const flags = addJobOptions(new Command())
    .parse(["--data", join(folder, "people.csv"), "--id", "id", ...options], { from: "user" })
    .opts<JobFlags>();
  const files = { predictions: join(records, `${name}.csv`), export: join(records, `${name}.json`) };
  const { active, passives, difference } = await simulate(
    {
      ...jobFrom(flags),
      ...files,
      keep: { directory: records, job },
      warmStart,
      check: true,
      onEvent: () => {},
    },
    superviseInProcess,
  );
  expect(difference, "between parties and in one place").toBe("");
  const parties = ["active", ...passives.map((_, i) => `passive-${i + 1}`)];
  return {
    trees: active.trees,
    // As JSON has them.
    metrics: JSON.parse(JSON.stringify(active.metrics)) as object,
    export: readFileSync(files.export, "utf8"),
    predictions: readFileSync(files.predictions, "utf8"),
    shares: parties.map((party) => shareAt(readFileSync(join(records, party, job, "share.json"), "utf8"), protocol)),
  };
}

/** With noise other splits win since gains are corrected for it: the oracle of these jobs is central training. */
const noisy = ["noise", "guarded", "strict-lattice"];

describe("trained as by 0.6, byte for byte", () => {
  // Every third job, with every scheme, and the warm start: the job that it continues is among them.
  const some = new Set([...partOf(jobs, 0, 3), ...jobs.filter(({ warmStart }) => warmStart !== undefined)]);
  test.each(jobs.filter((job) => some.has(job)))("$name", async (job) => {
    const golden = goldens[job.name];
    const now = await train(job);
    const shares = golden.shares.map((share) => shareAt(share, job.protocol));
    if (noisy.includes(job.name)) expect(now.trees).toBe(golden.trees);
    else expect(now).toEqual({ ...golden, shares, export: withUsedFeaturesOnly(golden.export) });
  });
});
