/** The events of an attempt at a passive party's job: public ones, and those for its own record only. */
import { membershipFlag } from "../../record/membership.ts";
import type { TandemError } from "../../base/error.ts";
import { presetOf } from "../../privacy/defences/defences.ts";
import { programVersion } from "../../base/program-version.ts";
import { disclosuresOf } from "../../privacy/disclosures.ts";
import type { Ledger } from "../../messages/ledger.ts";
import { type AgreedParameters, treeCountOf } from "../../protocol/job-parameters.ts";
import type { OwnSplit } from "../../protocol/passive/role.ts";
import type { Emit } from "../../record/events.ts";
import type { PassiveResult } from "../../record/events/job-events.ts";
import type { OwnLine } from "../../record/own-lines.ts";
import { earlierVettings, noteVetting } from "../../record/vetting-log.ts";
import { configNames, schemeNamed, schemeWarning } from "../../scheme/registry.ts";
import type { Crew } from "../../scheme/blocks/crew.ts";
import type { OperationCounts } from "../../scheme/scheme.ts";
import { protocolVersion } from "../../wire/version.ts";
import { agreedFacts } from "../disclosure-facts.ts";
import { recordedDefences } from "../privacy-policy.ts";
import type { AdmittedJob } from "./admitted-job.ts";
import type { PassiveEvidence } from "./job-evidence.ts";
import { decidingRows } from "./job-rows.ts";
import type { JobSpending } from "./job-spending.ts";

export interface PassiveJobOptions extends AdmittedJob {
  readonly spending: JobSpending;
  readonly evidence: PassiveEvidence;
  /** Workers that hold the rows; left out: this process. */
  readonly crew?: Crew | undefined;
  readonly emit: Emit;
  /** For this party's own record. */
  readonly own: (line: OwnLine) => void;
}

export class JobEvents {
  readonly #options: PassiveJobOptions;
  /** Common fields of most events: the party, the job, and its active party. */
  readonly #who: { readonly party: string; readonly peer: string; readonly job: string };
  readonly #treeCount: number;
  #isVetted = false;

  constructor(options: PassiveJobOptions) {
    this.#options = options;
    this.#who = { party: options.config.name, peer: options.peer, job: options.agreed.job };
    this.#treeCount = treeCountOf(options.agreed);
  }

  joined(): void {
    const { agreed, rows, digests, checkpoints, config, emit, own } = this.#options;
    const { party, job } = this.#who;
    const featureCount = rows.training.features.length;
    this.#emitJob();
    emit({ type: "data", party, job, data: { trainRows: rows.training.ids.length, testRows: 0, featureCount } });
    own({ kind: "data", sha256: digests.training });
    const { trees } = checkpoints.progress;
    // Once per job, not per connection: there may be many.
    for (let tree = 0; tree < (trees === 0 ? agreed.startTrees : 0); tree++)
      own({ kind: "own-splits", tree, splits: checkpoints.start.filter((split) => split.tree === tree) });
    // What the partner knew before the job.
    for (const line of trees === 0 ? earlierVettings(config.output.directory, this.#who.peer, party) : []) own(line);
    emit({ type: "joined", ...this.#who, featureCount });
    this.#emitBudget();
    if (trees > 0) emit({ type: "resumed", party, job, trees, treeCount: this.#treeCount });
  }

  treeFinished(tree: number, splits: readonly OwnSplit[], ledger: Ledger, counts: OperationCounts): void {
    const { emit, own } = this.#options;
    own({ kind: "own-splits", tree, splits: splits.filter((split) => split.tree === tree) });
    this.#emitLedger(ledger);
    emit({ type: "passive-tree", ...this.#who, tree, treeCount: this.#treeCount, counts: { ...counts } });
  }

  /** The sums of a vetting are being sent. */
  vetted(): void {
    const { columns, own, config } = this.#options;
    const { party, peer } = this.#who;
    if (this.#isVetted) return;
    this.#isVetted = true;
    const names = config.policy.vetting === "named";
    const between = { active: peer, passive: party };
    const line = {
      kind: "revealed",
      at: Date.now(),
      how: "vetting",
      ...between,
      features: columns.length,
      names,
    } as const;
    own(line);
    noteVetting(config.output.directory, line);
  }

  ended(failure: TandemError | null, ledger: Ledger, result: PassiveResult): void {
    const { emit } = this.#options;
    this.#emitLedger(ledger);
    this.#emitBudget();
    if (failure === null) emit({ type: "passive-result", party: this.#who.party, result });
    const ended = failure === null ? null : { code: failure.code, message: failure.message };
    emit({ type: "job-ended", ...this.#who, failure: ended });
  }

  #emitLedger(ledger: Ledger): void {
    const { party, peer } = this.#who;
    this.#options.emit({ type: "ledger", party, peer, ledger });
  }

  #emitBudget(): void {
    const { spending, emit } = this.#options;
    const { party, peer } = this.#who;
    const { spent, limits, today } = spending;
    emit({ type: "budget", party, peer, spent, limits, ...(today === null ? {} : { today }) });
  }

  /** The job's parameters, and what it will reveal at most. */
  #emitJob(): void {
    const { config, agreed, rows, features, emit } = this.#options;
    const { party, peer, job } = this.#who;
    const { startModel, startTrees, maxDepth } = agreed;
    const instances = rows.training.ids.length;
    const validation = instances - (decidingRows(rows)?.length ?? instances);
    const parties = { active: peer, passive: party };
    const facts = agreedFacts(agreed, parties, { instances, validation }, features, config);
    emit({
      type: "job",
      party,
      role: "passive",
      job,
      peers: [peer],
      treeCount: this.#treeCount,
      ...(startModel === "" ? {} : { startTrees }),
      depthMax: maxDepth,
      parameters: {
        num_round: agreed.numRound,
        max_depth: maxDepth,
        max_bin: agreed.maxBin,
        scheme: agreed.scheme,
        ...configNames(agreed.schemeParameters),
        codec: agreed.codec,
        ...(startModel === "" ? {} : { warm_start: startModel }),
        ...agreedDefences(agreed),
      },
      ...schemeWarning(agreed),
      ...membershipFlag(schemeNamed(agreed.scheme).membership),
      disclosures: disclosuresOf(facts).reveals,
      versions: { tandem: programVersion(), protocol: protocolVersion, node: process.versions.node },
    });
  }
}

/** By the names of the config. The preset's own name is not agreed upon: it follows from the others. */
function agreedDefences(agreed: AgreedParameters) {
  const privacy = presetOf(agreed.defences);
  return { ...(privacy === null ? {} : { privacy }), ...recordedDefences(agreed.defences, agreed.scheme) };
}
