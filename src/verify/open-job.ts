/** `tandem verify-job open`: reads a party's own data again, and writes all inputs that it committed to. */
import { drawnGroups } from "../data/drawn-groups.ts";
import { create } from "@bufbuild/protobuf";
import { join } from "node:path";
import { TandemError } from "../base/error.ts";
import { diskStorage } from "../base/files/storage.ts";
import { foldRows } from "../data/split.ts";
import { activeFacts, passiveFacts } from "../party/job-facts.ts";
import { jobTables, readActiveTables, withClassesOf } from "../party/active/tables.ts";
import { type ActiveConfig, type PassiveConfig, readActiveConfig, readPassiveConfig } from "../party/config/config.ts";
import { ConfigFile } from "../party/config/config-file.ts";
import { binningOf, binTable } from "../party/tables/party-data.ts";
import { PassiveFiles } from "../party/passive/passive-files.ts";
import { decidingRows, jobRows } from "../party/passive/job-rows.ts";
import type { Job } from "../protocol/job.ts";
import type { Facts } from "../protocol/chain/commitment.ts";
import { idsDigest } from "../protocol/ids.ts";
import { defaultScheme, schemeNamed } from "../scheme/registry.ts";
import { readPassiveJob } from "../store/passive-checkpoint.ts";
import { bytesFrom, fromHex, rowsFrom, toBase64 } from "../store/stored-numbers.ts";
import { ActiveHelloSchema } from "../wire/generated/tandem/v1/tandem_pb.ts";
import { keptAnswers, keptEvidence, keptGradients, keptTrees, requireFacts } from "./kept-evidence.ts";
import { type Opening, storedFeature, storedJob, storedRows } from "./opening.ts";

/**
 * The opening of either party, by its config.
 * @throws TandemError CHECKPOINT if config or data are not what was committed to, FILE_UNREADABLE without a record
 */
export async function openJob(configPath: string, job: string): Promise<Opening> {
  const isActive = (await ConfigFile.read(configPath)).has("passives");
  if (!isActive) return openPassive(await readPassiveConfig(configPath), job);
  const config = await readActiveConfig(configPath, () => job);
  return openActive({ ...config, job: { ...config.job, name: job } });
}

/** @throws TandemError CHECKPOINT if the data is not what was committed to, FILE_UNREADABLE without a record */
export async function openActive(given: ActiveConfig): Promise<Opening> {
  const folder = join(given.output.directory, given.job.name);
  const evidence = await keptEvidence(folder, "active");
  const { facts } = evidence.opened;
  const foldCount = Number(facts["folds"]);
  const tables = await readActiveTables(given);
  const { passives, data, name, job: asked } = withClassesOf(given, tables);
  const job = withCodecOf(asked, facts);
  const aligned = evidence.aligned === null ? null : rowsFrom(evidence.aligned);
  const read = foldCount === 0 ? data : { ...data, validation_fraction: undefined };
  const { train, rows } = jobTables(tables, aligned, { job, data: read });
  const features = binTable(train, binningOf(job), rows.training);
  const now = activeFacts({
    name,
    passives,
    job,
    idsDigest: idsDigest(train.ids),
    rows,
    features,
    // These are in the evidence only.
    samplingSecret: String(facts["sampling"]),
    secret: await schemeNamed(job.scheme).readSecret(String(facts["key"])),
    seed: fromHex(String(facts["seed"])),
    start: startIn(facts),
    folds: foldCount,
  });
  requireFacts(folder, facts, now);
  const folds = Array.from({ length: foldCount }, (_, fold) =>
    drawnGroups(
      rows.columns,
      rows.count,
      (units) => foldRows(units, foldCount, fold, data.seed ?? job.training.seed).test,
    ),
  );
  const trees = await keptTrees(folder, evidence);
  return {
    ...recordOf(evidence),
    features: features.map(storedFeature),
    trees,
    gradients: [],
    answers: await keptAnswers(folder, evidence, trees),
    active: {
      ...storedRows(rows),
      folds: folds.map(toBase64),
      passives: passives.map(({ name }) => name),
      ...storedJob(job),
    },
  };
}

/** The job may have used a lower resolution than requested: the evidence has the actual one. */
function withCodecOf(job: Job, facts: Facts): Job {
  const { codec, scheme, privacy } = job;
  const done = Number(facts["codec.resolution_bits"]);
  const mayBeCoarser = scheme !== defaultScheme || privacy.hidden_sums; // otherwise Paillier takes what is requested
  return mayBeCoarser && done < codec.resolution_bits ? { ...job, codec: { ...codec, resolution_bits: done } } : job;
}

/** @throws TandemError CHECKPOINT if the data is not what was committed to, FILE_UNREADABLE without a record */
export async function openPassive(config: PassiveConfig, job: string): Promise<Opening> {
  const folder = join(config.output.directory, job);
  const evidence = await keptEvidence(folder, "passive");
  const stored = await readPassiveJob(folder, diskStorage);
  if (stored === null) throw new TandemError("FILE_UNREADABLE", `${folder}: this party has no evidence of this job`);
  const { facts } = evidence.opened;
  const hello = create(ActiveHelloSchema, {
    aligned: stored.aligned,
    trainingRows: bytesFrom(stored.training),
    validationRows: bytesFrom(stored.validation),
  });
  const files = new PassiveFiles(config, diskStorage, () => {});
  const rows = await jobRows(files, { hello, job, active: stored.active, aligned: null });
  const agreed = stored.agreed;
  const features = binTable(
    rows.training,
    {
      maxBin: Number(agreed["maxBin"]),
      sketchedCuts: agreed["sketchedCuts"] === true,
      enableCategorical: agreed["enableCategorical"] === true,
      maxCatToOnehot: Number(agreed["maxCatToOnehot"]),
      interactionGroups: String(agreed["interactionGroups"] ?? ""),
    },
    decidingRows(rows),
  );
  requireFacts(
    folder,
    facts,
    passiveFacts({
      name: config.name,
      idsDigest: idsDigest(rows.training.ids),
      instanceCount: rows.training.ids.length,
      features,
      // These are in the evidence only.
      ...secretsIn(facts),
    }),
  );
  const trees = await keptTrees(folder, evidence);
  const gradients = await keptGradients(folder, evidence, trees.length);
  return { ...recordOf(evidence), features: features.map(storedFeature), trees, gradients, answers: [] };
}

/** The start model; null: none. */
export function startIn(facts: Facts): { readonly model: string } | null {
  return facts["start"] === "" ? null : { model: String(facts["start"]) };
}

/** The facts of a passive party besides its data. */
export function secretsIn(facts: Opening["opened"]["facts"]) {
  const noise = String(facts["noise"]);
  return {
    permutationSecret: fromHex(String(facts["order"])),
    samplingSecret: String(facts["sampling"]),
    ...(noise === "none" ? {} : { noiseSecret: fromHex(noise) }),
    minimums: { perNode: Number(facts["minimums.perNode"]), perCandidate: Number(facts["minimums.perCandidate"]) },
    allowsUnpacked: facts["unpacked"] === true,
  };
}

function recordOf({ role, name, job, run, own, opened, firstTree, peers }: Awaited<ReturnType<typeof keptEvidence>>) {
  const facts = { ...opened.facts };
  return { role, name, job, run, own, opened: { salt: opened.salt, facts }, firstTree, peers };
}
