/** What a passive party answers about explanations of scores, as far as its owner allows them. */
import { join } from "node:path";
import { TandemError } from "../base/error.ts";
import { jobSyntax } from "../base/job-name.ts";
import type { PassiveConfig } from "../party/config/config.ts";
import { withOwnFiles } from "../party/own-files.ts";
import { appendOwn } from "../record/append-own.ts";
import type { Emit } from "../record/events.ts";
import type { PassiveShare } from "../store/share-files.ts";
import type { ActiveContributions } from "../wire/generated/tandem/v1/scoring_pb.ts";
import { messageBytesMax } from "../wire/version.ts";
import { ContributionsFile } from "./contributions-file.ts";
import { type FeatureTags, featureTags } from "./feature-tags.ts";
import { ownContributions } from "./received-contributions.ts";

/** A tag takes up to three bytes, and a message has other fields. */
const splitsMax = messageBytesMax / 4;

export class Explanations {
  readonly #config: PassiveConfig;
  readonly #emit: Emit;
  readonly #file = new ContributionsFile();

  constructor(config: PassiveConfig, emit: Emit) {
    this.#config = config;
    this.#emit = emit;
  }

  /** Before anything is looked up: a caller that may not ask learns nothing of models. @throws TandemError POLICY */
  checkAllowed(): void {
    const { name, policy } = this.#config;
    if (!policy.explanations)
      throw new TandemError(
        "POLICY",
        `the policy of ${name} does not allow explanations ('explanations: true' in its policy would allow them)`,
      );
  }

  /** @throws TandemError POLICY, or PROTOCOL_STATE if they do not fit one message */
  tags(share: PassiveShare): FeatureTags {
    const { name } = this.#config;
    this.#checkPlain(share);
    if (share.splits.length > splitsMax)
      throw new TandemError("PROTOCOL_STATE", `${name}: tags of ${share.splits.length} splits do not fit one message`);
    return featureTags(share.splits);
  }

  /** @throws TandemError POLICY */
  checkTaken(): void {
    this.checkAllowed();
    const { name, output } = this.#config;
    if (!output.contributions)
      throw new TandemError("POLICY", `${name} takes no contributions ('contributions: true' in its 'output' would)`);
  }

  /** Appends contributions of the own features to the file. @throws TandemError for values that are not valid */
  async take(request: ActiveContributions, share: PassiveShare, knows: (id: string) => boolean): Promise<void> {
    const { name, policy, output } = this.#config;
    this.#checkPlain(share);
    const { ids, outputCount, treesPerRound, values } = request;
    const job = request.job === "" ? share.job : request.job;
    if (outputCount > policy.max_outputs)
      throw new TandemError("POLICY", `${name} allows at most ${policy.max_outputs} outputs, not ${outputCount}`);
    if (new Set(ids).size < ids.length || !ids.every(knows))
      throw new TandemError(
        "PROTOCOL_STATE",
        `${name}: contributions of ids that it does not hold, or of one id twice`,
      );
    if (!jobSyntax.test(job))
      throw new TandemError("PROTOCOL_STATE", `${name}: contributions of a model whose job name is not valid`);
    const received = ownContributions(share.splits, { outputCount, treesPerRound }, values, ids.length);
    if (ids.length === 0 || received.names.length === 0) return;
    // Errors of own files are logged, not sent.
    const folder = join(output.directory, share.job);
    await withOwnFiles(name, this.#emit, () => this.#file.append(folder, job, ids, received));
    const parties = { active: share.active, passive: name };
    appendOwn(folder, { kind: "revealed", at: Date.now(), how: "contributions", ...parties, ids: ids.length });
  }

  /** SHAP values need outcomes, which masked scoring does not reveal. */
  #checkPlain({ maskedScoring }: PassiveShare): void {
    const { name, policy } = this.#config;
    if (maskedScoring === true || policy.privacy.masked_scoring)
      throw new TandemError("POLICY", `${name} scores with this model by masked scoring only: it is not explained`);
  }
}
