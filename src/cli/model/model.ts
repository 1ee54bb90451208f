/** `tandem model`: look at a share, keep the registry, consent to an export, export. */
import { join, resolve } from "node:path";
import { Command, Option } from "commander";
import { TandemError } from "../../base/error.ts";
import { peerText } from "../../wire/peer-text.ts";
import type { Consent } from "../../store/consent-file.ts";
import { exportWords, versionWords } from "../../gbdt/tree/xgboost-agreement.ts";
import { confirm } from "../terminal/confirm.ts";
import type { SplitCount } from "../terminal/model-summary.ts";
import { addRegistryCommands } from "./registry.ts";
import { type ShowFormat, showFormats } from "./show-format.ts";
import { programVersion } from "../../base/program-version.ts";

interface ShowFlags {
  readonly config?: string;
  readonly tree?: string;
  readonly format: ShowFormat;
}

interface ConsentFlags {
  readonly config: string;
  readonly model: string;
  readonly to: string;
  readonly purpose: string;
  readonly out?: string;
  readonly yes?: boolean;
}

interface ExportFlags {
  readonly config: string;
  readonly model: string;
  readonly to: "xgboost";
  readonly consent?: readonly string[];
  readonly out: string;
}

export function modelCommand(): Command {
  const model = new Command("model").description("look at a share, keep the registry, consent to an export, export");
  model
    .command("show")
    .description("draw a tree as this party sees it")
    .argument("<share>", "a share.json, or the job's folder; with --config also a model of the registry: credit@2")
    .option("-c, --config <file>", "the party's config, where the registry is asked")
    .option("--tree <n>", "which tree, counted from 0 (default: 0; at a passive party all own splits)")
    .addOption(
      new Option("--format <format>", "for reading, for Graphviz, or for programs")
        .choices([...showFormats])
        .default("text"),
    )
    .action(show);
  model
    .command("consent")
    .description("passive party: write this party's splits, signed, so that the active party can export the model")
    .requiredOption("-c, --config <file>", "the passive party's config")
    .requiredOption("--model <job>", "the name of the job that trained it")
    .requiredOption("--to <active>", "the recipient: the active party's name in the config")
    .requiredOption("--purpose <text>", "what the exported model is for")
    .option("--out <file>", "where to write it (default: consent.json in the job's folder)")
    .option("--yes", "do not ask before writing")
    .action(consent);
  model
    .command("export")
    .description("active party: merge the shares into a model for XGBoost; every passive party must consent")
    .requiredOption("-c, --config <file>", "the active party's config")
    .requiredOption("--model <job>", "the name of the job that trained it")
    .addOption(new Option("--to <format>", "the format of the file").choices(["xgboost"]).makeOptionMandatory())
    .option(
      "--consent <file>",
      "a passive party's consent; repeat it for each",
      (file: string, before: readonly string[] = []) => [...before, file],
    )
    .requiredOption("--out <file>", `where to write the model, as JSON for ${versionWords()}`)
    .action(exportTo);
  addRegistryCommands(model);
  return model;
}

async function show(path: string, flags: ShowFlags): Promise<void> {
  const tree = flags.tree === undefined ? undefined : Number(flags.tree);
  if (tree !== undefined && !(Number.isInteger(tree) && tree >= 0))
    throw new TandemError("USAGE", `--tree must be an integer, counted from 0; got '${flags.tree}'`);
  const [{ readShare }, { sharePathOf, showActive, showPassive }] = await Promise.all([
    import("../../store/share-files.ts"),
    import("../terminal/model-show.ts"),
  ]);
  const read = await readShare(await sharePathOf(flags.config === undefined ? path : await pathIn(flags.config, path)));
  const text =
    read.kind === "active" ? showActive(read.share, flags.format, tree) : showPassive(read.share, flags.format, tree);
  process.stdout.write(`${text}\n`);
}

/** The folder of a job that the registry of a party names, or the path as it is. */
async function pathIn(config: string, path: string): Promise<string> {
  const [{ partyOf }, { referenceFrom, resolve: resolved }, { readRegistry }] = await Promise.all([
    import("./registry.ts"),
    import("../../party/model/registry.ts"),
    import("../../store/registry-file.ts"),
  ]);
  const reference = referenceFrom(path);
  if (reference === null) return path;
  const { directory } = (await partyOf(config)).config.output;
  return join(directory, resolved(await readRegistry(directory), reference).job);
}

async function consent({
  config: configPath,
  model: job,
  to: recipient,
  purpose,
  out,
  yes,
}: ConsentFlags): Promise<void> {
  const [{ readPassiveConfig }, { prepareConsent }, { featureCounts }] = await Promise.all([
    import("../../party/config/config.ts"),
    import("../../party/model/give-consent.ts"),
    import("../terminal/model-summary.ts"),
  ]);
  const config = await readPassiveConfig(configPath);
  const prepared = await prepareConsent(config, {
    job,
    recipient,
    purpose,
    out,
    tandemVersion: programVersion(),
    now: new Date(),
  });
  process.stderr.write(`${disclosure(prepared.consent, featureCounts(prepared.consent.share.splits))}\n`);
  if (yes !== true) {
    if (process.stdin.isTTY !== true)
      throw new TandemError(
        "USAGE",
        "nothing was written: there is no terminal to ask for confirmation. Pass --yes to write the consent",
      );
    const agreed = await confirm("Write the consent? Type yes:", { input: process.stdin, output: process.stderr });
    if (!agreed) throw new TandemError("USAGE", "nothing was written: the answer was not yes");
  }
  await prepared.write();
  process.stdout.write(`Wrote ${prepared.path}: send it to ${recipient} over a confidential channel.\n`);
}

/** What the consent discloses, without any threshold. */
function disclosure(
  { statement: { model, job, recipient, purpose }, share: { splits } }: Consent,
  counts: readonly SplitCount[],
): string {
  const trees = new Set(splits.map(({ tree }) => tree)).size;
  return [
    `The consent gives ${recipient.name} this party's part of the model of job ${job}:`,
    `  ${splits.length} splits in ${trees} trees, each with its threshold or its categories, and its default direction`,
    ...counts.map(({ name, splits: count }) => `  ${peerText(name)}: ${count} of them`),
    `  model ${model}`,
    `  recipient's certificate ${recipient.fingerprint}`,
    `  purpose: ${peerText(purpose)}`,
    "Anyone with the file can read them, and consent cannot be withdrawn.",
  ].join("\n");
}

async function exportTo({ config: configPath, model: job, consent: consents = [], out }: ExportFlags): Promise<void> {
  const [{ readActiveConfig }, { exportModel }] = await Promise.all([
    import("../../party/config/config.ts"),
    import("../../party/model/export-model.ts"),
  ]);
  const config = await readActiveConfig(configPath, () => "none"); // --model names the job
  const exported = await exportModel(config, { job, consents, out: resolve(out) });
  const lines = exported.consents.map(
    ({ party, statement: { date, purpose } }) => `  ${party}, ${date.slice(0, 10)}: ${peerText(purpose)}`,
  );
  process.stdout.write(
    `Wrote ${out}: ${exported.treeCount} trees over ${exported.featureCount} features. ` +
      `${exportWords(exported.objective)}. Consents:\n` +
      `${lines.join("\n")}\n`,
  );
}
