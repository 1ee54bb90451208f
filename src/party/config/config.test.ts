import { expect, describe, test } from "vitest";
import { noDefences } from "../../privacy/defences/defences.ts";
import { parse } from "yaml";
import { join } from "node:path";
import { active, ConfigFiles, passive, print, read } from "../../../test/support/config-texts.ts";
import { areOff } from "../../gbdt/split/offered-candidates.ts";
import { readPassiveConfig } from "./config.ts";
import { fieldsOfJob } from "./job-config.ts";
import { toMinimums } from "../policy.ts";

const files = new ConfigFiles();
const file = (text: string): string => files.write(text);

const { folder } = files;
describe("a config", () => {
  test("of a passive party: paths are relative to the file, and what is not said has a default", async () => {
    const config = await readPassiveConfig(file(passive));
    expect(config.tls).toEqual({
      certificate: join(folder, "certificate.pem"),
      key: "/etc/tandem/key.pem",
      insecure_key_file: false,
      authority: undefined,
    });
    expect(config.data).toMatchObject({
      path: join(folder, "data", "people.csv"),
      features: "all",
      normalise: [],
      duplicates: "refuse",
      missing: [],
    });
    expect(config.policy).toEqual({
      approval: "automatic",
      approval_days: 7,
      automatic_for: [],
      max_trees: 20,
      max_depth: 10,
      min_key_bits: 2048,
      max_active_ids: 10_000_000,
      min_instances: 100,
      min_instances_per_node: 1,
      min_instances_per_candidate: 1,
      schemes: ["paillier"],
      lattice_minimums: "everywhere",
      max_outputs: 1,
      max_unfinished_jobs: 100,
      max_unfinished_megabytes: 4096,
      scoring: true,
      scoring_models: "all",
      explanations: false,
      vetting: "refused",
      warm_start: true,
      max_scoring_ids: 10_000,
      max_scores_per_person: 20,
      privacy: { privacy: "exact", ...noDefences },
      min_instances_per_tree: 1,
      budget: { vettings: 20, daily: {} },
    });
    expect(config.log.level).toBe("info");
  });

  test("of a passive party with minimums: they are what its candidates are held to", async () => {
    const { policy } = await readPassiveConfig(
      file(passive.replace("  max_trees: 20", "  min_instances_per_node: 20\n  min_instances_per_candidate: 5")),
    );
    expect(toMinimums(policy)).toEqual({ perNode: 20, perCandidate: 5 });
    expect(areOff(toMinimums((await readPassiveConfig(file(passive))).policy))).toBe(true);
  });

  test("of an active party: hyper-parameters are complete, and a job has a name", async () => {
    const config = await read.active(file(active));
    expect(config).toMatchObject({
      align: true,
      job: {
        name: "made-up",
        scheme: "paillier",
        schemeParameters: { keyBits: 2048 },
        training: { num_round: 10, max_depth: 3, eta: 0.3 },
      },
    });
    expect(config.output.directory).toBe(join(folder, "jobs"));
  });

  test("of an active party: a job that is written down again is the same job", async () => {
    const { job } = await read.active(file(active));
    const written = { ...(parse(active) as object), ...fieldsOfJob(job) };
    expect((await read.active(file(JSON.stringify(written)))).job).toEqual(job);
  });

  test("may be JSON", async () => {
    const json = {
      name: "bank",
      passives: [{ name: "a", host: "h", port: 1, fingerprint: print }],
      tls: { certificate: "c", key: "k" },
      data: { command: ["psql", "--csv"], id: "id", features: { all_but: ["x"] }, label: "y" },
      output: { directory: "o" },
      insecure_key_bits: 512,
      job: "j",
    };
    expect(await read.active(file(JSON.stringify(json)))).toMatchObject({
      job: { name: "j", schemeParameters: { keyBits: 512 } },
      data: { command: ["psql", "--csv"] },
    });
  });
});
