/** `tandem model register | list | promote | rollback | retire`: the registry of a party's models. */
import type { Command } from "commander";
import { TandemError } from "../../base/error.ts";
import type { ActiveConfig, PassiveConfig } from "../../party/config/config.ts";
import type { Reference } from "../../party/model/registry.ts";
import type { RegisteredModel, RegisteredVersion } from "../../store/registry-file.ts";
import { textTable } from "../terminal/text-table.ts";

interface RegistryFlags {
  readonly config: string;
}

type Party =
  | { readonly role: "active"; readonly config: ActiveConfig }
  | { readonly role: "passive"; readonly config: PassiveConfig };

const champion = "champion";

export function addRegistryCommands(model: Command): void {
  registryCommand(model, "register", "give a finished job's model a name and a version in this party's registry")
    .requiredOption("--model <job>", "the name of the job that trained it")
    .requiredOption("--name <name>", "the name that its versions share: credit")
    .action(register);
  registryCommand(model, "list", "list this party's registry: names, versions, aliases")
    .option("--json", "print the registry as one line of JSON")
    .action(list);
  registryCommand(model, "promote", "active party: give an alias to a version, if all parties can score with it")
    .argument("<version>", "credit@2, or credit@challenger")
    .option("--as <alias>", "the alias", champion)
    .option("--without-asking", "do not ask the passive parties whether they can score with it")
    .action(promote);
  registryCommand(model, "rollback", "active party: give an alias back to the version that had it before")
    .argument("<alias>", "credit@champion")
    .option("--without-asking", "do not ask the passive parties whether they can score with it")
    .action(rollBack);
  registryCommand(model, "retire", "take a version out of use; a passive party no longer answers for it")
    .argument("<version>", "credit@1")
    .action(retire);
}

function registryCommand(model: Command, name: string, description: string): Command {
  return model.command(name).description(description).requiredOption("-c, --config <file>", "the party's config");
}

async function register({ config, model: job, name }: RegistryFlags & { model: string; name: string }): Promise<void> {
  const [party, { registerJob }] = await Promise.all([
    partyOf(config),
    import("../../party/model/registered-share.ts"),
  ]);
  const version = await registerJob(party.config.output.directory, { name, job }, new Date());
  say(`Registered ${named(name, version)}.`);
  if (party.role === "active")
    say(`Let each passive party register it too, then: tandem model promote -c ${config} ${name}@${version.version}`);
  else if (party.config.policy.scoring_models === "all")
    say("All models may be scored with, except retired ones: the policy has 'scoring_models: all'.");
  else say(`${party.config.active.map((one) => one.name).join(", ")} may now score with it, if the model is theirs.`);
}

async function list({ config, json }: RegistryFlags & { json?: boolean }): Promise<void> {
  const [party, { readRegistry }] = await Promise.all([partyOf(config), import("../../store/registry-file.ts")]);
  const registry = await readRegistry(party.config.output.directory);
  if (json === true) {
    say(JSON.stringify(registry));
    return;
  }
  if (registry.models.length === 0) {
    say("The registry is empty: tandem model register adds a finished job's model.");
    return;
  }
  const rows = registry.models.flatMap((model) =>
    model.versions.map((version) => [
      `${model.name}@${version.version}`,
      aliasesOf(model, version),
      version.job,
      version.model.slice(0, 12),
      version.registered.slice(0, 10),
    ]),
  );
  say(textTable([["version", "alias", "job", "model", "registered"], ...rows]));
}

async function promote(
  text: string,
  { config, as: alias, withoutAsking }: RegistryFlags & { as: string; withoutAsking?: boolean },
): Promise<void> {
  const reference = await referenceOf(text);
  const [active, { runPromote }] = await Promise.all([activeOf(config), import("../../scoring/promote-model.ts")]);
  const asks = withoutAsking !== true;
  const version = await runPromote(active, { reference, alias, asks, now: new Date() });
  say(`${reference.name}@${alias} is now ${named(reference.name, version)}. A running tandem serve follows.`);
}

async function rollBack(text: string, { config, withoutAsking }: RegistryFlags & { withoutAsking?: boolean }) {
  const reference = await referenceOf(text);
  const [active, { runRollBack }] = await Promise.all([activeOf(config), import("../../scoring/promote-model.ts")]);
  const version = await runRollBack(active, { reference, asks: withoutAsking !== true, now: new Date() });
  say(`${text} is again ${named(reference.name, version)}. A running tandem serve follows.`);
}

async function retire(text: string, { config }: RegistryFlags): Promise<void> {
  const reference = await referenceOf(text);
  const [party, { changeRegistry }, registry] = await Promise.all([
    partyOf(config),
    import("../../party/model/registered-share.ts"),
    import("../../party/model/registry.ts"),
  ]);
  const now = new Date();
  await changeRegistry(party.config.output.directory, (before) => registry.retire(before, reference, now));
  say(
    party.role === "passive"
      ? `Retired ${text}: a running tandem party refuses it within a second. Registering its job again allows it.`
      : `Retired ${text}: it can no longer be named. Registering its job again allows it.`,
  );
}

export async function partyOf(path: string): Promise<Party> {
  const [{ roleOfConfig }, { readActiveConfig, readPassiveConfig }] = await Promise.all([
    import("../../party/config/config-role.ts"),
    import("../../party/config/config.ts"),
  ]);
  const role = await roleOfConfig(path);
  return role === "active"
    ? { role, config: await readActiveConfig(path, () => "none") } // no job is named
    : { role, config: await readPassiveConfig(path) };
}

/** @throws TandemError USAGE for a passive party's config */
async function activeOf(path: string): Promise<ActiveConfig> {
  const party = await partyOf(path);
  if (party.role === "active") return party.config;
  throw new TandemError(
    "USAGE",
    `aliases belong to the active party, and ${party.config.name} is a passive one: ` +
      "it registers the models that may be scored with, and retires others",
  );
}

/** @throws TandemError USAGE */
async function referenceOf(text: string): Promise<Reference> {
  const { referenceFrom } = await import("../../party/model/registry.ts");
  const reference = referenceFrom(text);
  if (reference !== null) return reference;
  throw new TandemError("USAGE", `a model is named as credit@2 or credit@champion; got '${text}'`);
}

function named(name: string, { version, job, model }: RegisteredVersion): string {
  return `${name}@${version}, the model of job ${job} (${model.slice(0, 12)})`;
}

function aliasesOf({ aliases }: RegisteredModel, { version, retired }: RegisteredVersion): string {
  const names = aliases.filter((one) => one.version === version).map(({ alias }) => alias);
  return [...names, ...(retired === undefined ? [] : ["retired"])].join(", ");
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}
