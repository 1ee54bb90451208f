/**
 * What can be done with a registry of models: register a version, give an alias to it, roll the alias back, retire a
 * version. Each takes a registry and returns the next one, or refuses.
 */
import { TandemError } from "../../base/error.ts";
import { jobSyntax } from "../../base/job-name.ts";
import {
  aliasSyntax,
  earlierMax,
  type RegisteredModel,
  type RegisteredVersion,
  type Registry,
} from "../../store/registry-file.ts";

/** A model by its name and an alias or the number of a version: credit@champion, credit@2. */
export interface Reference {
  readonly name: string;
  readonly of: string;
}

/** Null for a text that is no reference: no job's name has an @. */
export function referenceFrom(text: string): Reference | null {
  const [name, of, ...more] = text.split("@");
  const isReference = of !== undefined && more.length === 0 && jobSyntax.test(name);
  return isReference && (aliasSyntax.test(of) || /^[1-9]\d{0,5}$/.test(of)) ? { name, of } : null;
}

export function wordsOf({ name, of }: Reference): string {
  return `${name}@${of}`;
}

/** @throws TandemError MODEL_UNKNOWN with what there is instead */
export function resolve(registry: Registry, reference: Reference): RegisteredVersion {
  const model = modelNamed(registry, reference.name);
  const { of } = reference;
  const number = aliasSyntax.test(of) ? model.aliases.find(({ alias }) => alias === of)?.version : Number(of);
  const found = model.versions.find(({ version }) => version === number);
  if (found !== undefined) return found;
  const known = [...model.aliases.map(({ alias }) => alias), ...model.versions.map(({ version }) => String(version))];
  throw new TandemError(
    "MODEL_UNKNOWN",
    `the registry has no ${wordsOf(reference)}; of ${model.name} it has ${known.join(", ")}`,
  );
}

/** @throws TandemError POLICY for a retired version */
export function inUse(found: RegisteredVersion, reference: Reference): RegisteredVersion {
  if (found.retired === undefined) return found;
  throw new TandemError(
    "POLICY",
    `${reference.name}@${found.version} was retired on ${found.retired.slice(0, 10)}. ` +
      "Name another version, or register its job again",
  );
}

/**
 * A new version, or a retired one in use again.
 * @throws TandemError USAGE for a name that cannot be one, or a share that is registered
 */
export function register(
  registry: Registry,
  name: string,
  given: Pick<RegisteredVersion, "job" | "model" | "share">,
  now: Date,
): { readonly registry: Registry; readonly version: RegisteredVersion } {
  if (!jobSyntax.test(name))
    throw new TandemError("USAGE", "--name takes up to 64 letters, digits, dots, dashes and underscores");
  for (const model of registry.models)
    for (const known of model.versions)
      if (known.job === given.job && known.share === given.share) {
        if (known.retired === undefined || model.name !== name)
          throw new TandemError(
            "USAGE",
            `the model of job ${given.job} is registered as ${model.name}@${known.version}`,
          );
        const { retired: _, ...version } = known;
        return { registry: changed(registry, withVersion(model, version)), version };
      }
  const model = registry.models.find((one) => one.name === name) ?? { name, versions: [], aliases: [] };
  const version = { version: model.versions.length + 1, ...given, registered: now.toISOString() };
  return { registry: changed(registry, { ...model, versions: [...model.versions, version] }), version };
}

/** @throws TandemError USAGE for an alias that cannot be one; POLICY for a retired version */
export function promote(registry: Registry, reference: Reference, alias: string, now: Date): Registry {
  if (!aliasSyntax.test(alias))
    throw new TandemError("USAGE", "--as takes a letter and up to 31 more letters, digits, dashes and underscores");
  const model = modelNamed(registry, reference.name);
  const { version } = inUse(resolve(registry, reference), reference);
  const before = model.aliases.find((one) => one.alias === alias);
  if (before?.version === version)
    throw new TandemError("USAGE", `${model.name}@${version} is the ${alias} already; nothing was changed`);
  const earlier = before === undefined ? [] : [...before.earlier, before.version].slice(-earlierMax);
  return changed(registry, withAlias(model, { alias, version, since: now.toISOString(), earlier }));
}

/** The version that an alias had before. @throws TandemError USAGE if there is none; POLICY if it is retired */
export function rolledBackTo(registry: Registry, { name, of }: Reference): RegisteredVersion {
  const model = modelNamed(registry, name);
  const current = model.aliases.find(({ alias }) => alias === of);
  const version = current?.earlier.at(-1);
  if (version === undefined)
    throw new TandemError("USAGE", `there is nothing to roll back to: ${name}@${of} has had no other version`);
  return inUse(resolve(registry, { name, of: String(version) }), { name, of: String(version) });
}

export function rollBack(registry: Registry, reference: Reference, now: Date): Registry {
  const model = modelNamed(registry, reference.name);
  const { version } = rolledBackTo(registry, reference);
  const earlier = model.aliases.find(({ alias }) => alias === reference.of)?.earlier.slice(0, -1) ?? [];
  return changed(registry, withAlias(model, { alias: reference.of, version, since: now.toISOString(), earlier }));
}

/** @throws TandemError USAGE for a version that has an alias, or is retired */
export function retire(registry: Registry, reference: Reference, now: Date): Registry {
  const model = modelNamed(registry, reference.name);
  const found = resolve(registry, reference);
  const alias = model.aliases.find(({ version }) => version === found.version);
  if (alias !== undefined)
    throw new TandemError(
      "USAGE",
      `${model.name}@${found.version} is the ${alias.alias}. Promote another version first, or roll back`,
    );
  if (found.retired !== undefined) throw new TandemError("USAGE", `${wordsOf(reference)} is retired already`);
  return changed(registry, withVersion(model, { ...found, retired: now.toISOString() }));
}

/** @throws TandemError MODEL_UNKNOWN */
function modelNamed({ models }: Registry, name: string): RegisteredModel {
  const found = models.find((one) => one.name === name);
  if (found !== undefined) return found;
  const known = models.length === 0 ? "it is empty" : `it has ${models.map((one) => one.name).join(", ")}`;
  throw new TandemError("MODEL_UNKNOWN", `the registry has no model '${name}': ${known}`);
}

function withVersion(model: RegisteredModel, version: RegisteredVersion): RegisteredModel {
  return { ...model, versions: model.versions.map((one) => (one.version === version.version ? version : one)) };
}

function withAlias(model: RegisteredModel, alias: RegisteredModel["aliases"][number]): RegisteredModel {
  return { ...model, aliases: [...model.aliases.filter((one) => one.alias !== alias.alias), alias] };
}

function changed({ models }: Registry, model: RegisteredModel): Registry {
  const isKnown = models.some(({ name }) => name === model.name);
  return { models: isKnown ? models.map((one) => (one.name === model.name ? model : one)) : [...models, model] };
}
