/**
 * Which models a passive party may be asked about: with `scoring_models: registered` those of its registry, and in any
 * case none that it has retired. What is on disk counts, within a second.
 */
import { TandemError } from "../../base/error.ts";
import type { Emit } from "../../record/events.ts";
import { readRegistry, type Registry } from "../../store/registry-file.ts";
import type { PassiveConfig } from "../config/config.ts";
import { withOwnFiles } from "../own-files.ts";

const ageMsMax = 1000;

export class ScoringPermits {
  readonly #config: Pick<PassiveConfig, "name" | "policy" | "output">;
  readonly #emit: Emit;
  readonly #now: () => number;
  #kept: Promise<Registry> | null = null;
  #readAt = Number.NEGATIVE_INFINITY;

  constructor(
    config: Pick<PassiveConfig, "name" | "policy" | "output">,
    emit: Emit,
    now: () => number = () => performance.now(),
  ) {
    this.#config = config;
    this.#emit = emit;
    this.#now = now;
  }

  /**
   * @param model one that the caller has trained with this party
   * @throws TandemError POLICY; and where the registry cannot be read, so that no retired model is answered for
   */
  async check(model: string): Promise<void> {
    const { name, policy } = this.#config;
    const { models } = await this.#registry();
    const versions = models.flatMap((one) => one.versions).filter((version) => version.model === model);
    if (versions.some(({ retired }) => retired !== undefined))
      throw new TandemError(
        "POLICY",
        `${name} has retired this model. Score with another one, or ask ${name} to register it again`,
      );
    if (policy.scoring_models === "registered" && versions.length === 0)
      throw new TandemError(
        "POLICY",
        `the policy of ${name} allows registered models only. Ask ${name} to register this one (tandem model register)`,
      );
  }

  #registry(): Promise<Registry> {
    if (this.#kept !== null && this.#now() - this.#readAt < ageMsMax) return this.#kept;
    const { name, output } = this.#config;
    this.#readAt = this.#now();
    const reading = withOwnFiles(name, this.#emit, () => readRegistry(output.directory));
    reading.catch(() => (this.#kept = null));
    return (this.#kept = reading);
  }
}
