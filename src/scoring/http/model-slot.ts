/**
 * A name under which the server has a model. An alias of the registry is followed: when another version has it, and all
 * parties can score with that one, new requests go there. Until then, and if it cannot be used, the model before stays.
 */
import { TandemError } from "../../base/error.ts";
import type { ActiveConfig } from "../../party/config/config.ts";
import { findActiveShare } from "../../party/model/find-share.ts";
import { referenceFrom, resolve } from "../../party/model/registry.ts";
import { readRegistry } from "../../store/registry-file.ts";
import type { ActiveShare } from "../../store/share-files.ts";
import { ServedModel, type ServedModelOptions } from "./served-model.ts";

const lookMs = 1000;
const readyMs = 10_000;

export type SlotOptions = Omit<ServedModelOptions, "name">;

export class ModelSlot {
  /** In paths and metrics: a reference to the registry as given, or the job's name. */
  readonly name: string;
  readonly #config: ActiveConfig;
  readonly #named: string;
  readonly #options: SlotOptions;
  readonly #timer: NodeJS.Timeout | null;
  #current: ServedModel;
  /** What the registry has for the name; null where it is a job's. */
  #version: string | null;
  #looking: Promise<void> | null = null;
  /** What was complained about last. */
  #complaint = "";
  #isClosed = false;

  private constructor(
    config: ActiveConfig,
    named: string,
    { name, version, served }: { readonly name: string; readonly version: string | null; readonly served: ServedModel },
    options: SlotOptions,
  ) {
    this.#config = config;
    this.#named = named;
    this.#options = options;
    this.name = name;
    this.#current = served;
    this.#version = version;
    this.#timer = version === null ? null : setInterval(() => void this.follow(), lookMs).unref();
  }

  /**
   * @param named a job, a model of the registry, or a folder with a share
   * @param prefix of the name in metrics
   * @throws TandemError MODEL_UNKNOWN
   */
  static async open(config: ActiveConfig, named: string, options: SlotOptions, prefix = ""): Promise<ModelSlot> {
    const version = await versionOf(config, named);
    const share = await findActiveShare(named, config);
    const name = `${prefix}${version === null ? share.job : named}`;
    const served = await ServedModel.open(config, share, { ...options, name });
    return new ModelSlot(config, named, { name, version, served }, options);
  }

  get current(): ServedModel {
    return this.#current;
  }

  /** Looks at the registry now; errors are logged once. */
  follow(): Promise<void> {
    return (this.#looking ??= this.#follow()
      .catch((error: unknown) => this.#complain(error))
      .finally(() => (this.#looking = null)));
  }

  async #follow(): Promise<void> {
    const version = await versionOf(this.#config, this.#named);
    if (version === this.#version || this.#isClosed) return;
    const share = await findActiveShare(this.#named, this.#config);
    let isServed = false; // until then its trouble is the one that is thrown
    const complain = (error: unknown): void => (isServed ? this.#options.complain(error) : undefined);
    const next = await ServedModel.open(this.#config, share, { ...this.#options, complain, name: this.name });
    try {
      for (const { party, trouble } of await next.ready(readyMs))
        if (trouble !== null) throw notReady(share, party, trouble);
    } catch (error) {
      await next.close();
      throw error;
    }
    if (this.#isClosed) return next.close();
    isServed = true;
    const before = this.#current;
    [this.#current, this.#version, this.#complaint] = [next, version, ""];
    const words = `${this.name} is now the model of job ${share.job} (${share.model.slice(0, 12)})`;
    this.#options.emit({ type: "notice", party: this.#config.name, words });
    before.retire().catch((error: unknown) => this.#complain(error));
  }

  #complain(error: unknown): void {
    const text = String(error);
    if (text !== this.#complaint && !this.#isClosed) this.#options.complain(error);
    this.#complaint = text;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    if (this.#timer !== null) clearInterval(this.#timer);
    await this.#looking;
    await this.#current.close();
  }
}

/** Null for a name that the registry does not decide about. */
async function versionOf({ output }: ActiveConfig, named: string): Promise<string | null> {
  const reference = referenceFrom(named);
  if (reference === null) return null;
  const { version, share } = resolve(await readRegistry(output.directory), reference);
  return `${version}/${share}`;
}

function notReady({ job }: ActiveShare, party: string, trouble: TandemError): TandemError {
  return new TandemError(
    trouble.code,
    `the model of job ${job} is not served yet, and the one before stays: ${party}: ${trouble.message}`,
    { cause: trouble },
  );
}
