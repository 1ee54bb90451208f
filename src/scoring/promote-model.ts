/**
 * Promoting a model and rolling it back, together with the passive parties: the registry changes only if each of them
 * can score with the model now. Nothing is sent to them but its id.
 */
import { TandemError } from "../base/error.ts";
import { diskStorage, type Storage } from "../base/files/storage.ts";
import type { ActiveConfig } from "../party/config/config.ts";
import { changeRegistry, readVersion } from "../party/model/registered-share.ts";
import { inUse, promote, type Reference, resolve, rollBack, rolledBackTo } from "../party/model/registry.ts";
import type { RegisteredVersion, Registry } from "../store/registry-file.ts";
import { Scorer } from "./scorer.ts";

export interface PromoteOptions {
  readonly reference: Reference;
  /** Whether passive parties are asked first. */
  readonly asks: boolean;
  readonly now: Date;
  readonly storage?: Storage;
}

const askMs = 10_000;

type PromotingConfig = Pick<ActiveConfig, "passives" | "tls" | "output">;

/** Gives an alias to a version. @throws TandemError, and the registry is as it was */
export function runPromote(
  config: PromotingConfig,
  { alias, ...options }: PromoteOptions & { readonly alias: string },
): Promise<RegisteredVersion> {
  const { reference, now } = options;
  return runChange(
    config,
    options,
    (registry) => inUse(resolve(registry, reference), reference),
    (registry) => promote(registry, reference, alias, now),
  );
}

/** Gives an alias back to the version that had it before. @throws TandemError, and the registry is as it was */
export function runRollBack(config: PromotingConfig, options: PromoteOptions): Promise<RegisteredVersion> {
  const { reference, now } = options;
  return runChange(
    config,
    options,
    (registry) => rolledBackTo(registry, reference),
    (registry) => rollBack(registry, reference, now),
  );
}

async function runChange(
  config: PromotingConfig,
  { reference, asks, storage = diskStorage }: PromoteOptions,
  versionIn: (registry: Registry) => RegisteredVersion,
  change: (registry: Registry) => Registry,
): Promise<RegisteredVersion> {
  const changed = await changeRegistry(
    config.output.directory,
    async (registry) => {
      const next = change(registry); // what is impossible is refused before any party is asked
      const version = versionIn(registry);
      const share = await readVersion(config.output.directory, version, { ...reference, of: String(version.version) });
      if (asks) await checkParties(await Scorer.connect(config, share), version);
      return { registry: next, version };
    },
    storage,
  );
  return changed.version;
}

async function checkParties(scorer: Scorer, { job }: RegisteredVersion): Promise<void> {
  try {
    for (const { party, trouble } of await scorer.ready(askMs))
      if (trouble !== null)
        throw new TandemError(
          trouble.code,
          `nothing was changed: ${party} cannot score with the model of job ${job}: ${trouble.message}`,
          { cause: trouble },
        );
  } finally {
    scorer.close();
  }
}
