/**
 * Approval of a passive party's jobs by a person, where its policy wants that. A request waits before it takes a place
 * in the queue, and until then its active party learns nothing but the policy's refusals. What begins later is compared
 * with what was approved.
 */
import { createHash } from "node:crypto";
import { formatCount, roundedUp } from "../../base/text/format.ts";
import { presetOf } from "../../privacy/defences/defences.ts";
import { gaugeOf, gaugeText } from "../../privacy/job-gauge.ts";
import { disclosuresOf } from "../../privacy/disclosures.ts";
import { disclosureText } from "../../privacy/disclosure-text.ts";
import { openedBitsMax, reachOfSums } from "../../privacy/spending.ts";
import { type AgreedParameters, treeCountOf } from "../../protocol/job-parameters.ts";
import { schemeNamed } from "../../scheme/registry.ts";
import type { JobPlace, RequestedJob } from "../../transport/admission-service.ts";
import type { Caller } from "../../transport/caller.ts";
import type { ActiveRequest } from "../../wire/generated/tandem/v1/admission_pb.ts";
import type { ActiveAlignmentOffer } from "../../wire/generated/tandem/v1/alignment_pb.ts";
import type { ActiveHello } from "../../wire/generated/tandem/v1/tandem_pb.ts";
import { TandemError } from "../../base/error.ts";
import { Approvals, type ApprovalsOptions, type Described } from "../approvals/approvals.ts";
import { parametersOf, requestTerms } from "../approvals/request-terms.ts";
import type { PassiveConfig } from "../config/config.ts";
import { requestedFacts } from "../disclosure-facts.ts";
import type { PartnerBudgets } from "../partner-budget.ts";

export interface JobApprovalsOptions extends Omit<ApprovalsOptions, "party" | "directory" | "days"> {
  readonly config: PassiveConfig;
  readonly budgets: PartnerBudgets;
  /** This party's table: known once it was read. */
  readonly table: () => { readonly rows: number; readonly featureNames: readonly string[] };
}

export class JobApprovals {
  readonly #options: JobApprovalsOptions;
  readonly #approvals: Approvals;

  constructor(options: JobApprovalsOptions) {
    const { config } = options;
    const { name: party, output, policy } = config;
    this.#options = options;
    this.#approvals = new Approvals({ ...options, party, directory: output.directory, days: policy.approval_days });
  }

  /** @throws TandemError if stored requests or decisions were changed */
  async load(): Promise<void> {
    if (this.#options.config.policy.approval === "required") await this.#approvals.load();
  }

  isRequired({ name }: Pick<Caller, "name">): boolean {
    const { approval, automatic_for: automatic } = this.#options.config.policy;
    return approval === "required" && !automatic.includes(name);
  }

  /**
   * @param agreed null where only an alignment is requested
   * @param enter takes a place in the queue; called when the request is approved
   * @throws TandemError if the request is refused
   */
  async request(
    request: ActiveRequest,
    agreed: AgreedParameters | null,
    caller: Caller,
    enter: () => RequestedJob,
  ): Promise<RequestedJob> {
    const { approvalOnly } = request;
    const begin = (): RequestedJob => (approvalOnly ? approvedAlready : enter());
    if (!this.isRequired(caller)) return begin();
    const { config, table } = this.#options;
    const terms = requestTerms(request, agreed, caller.name, table().featureNames, config.name);
    const describe = (): Promise<Described> => this.#describe(caller.name, agreed, terms.rows);
    const asked = await this.#approvals.ask(terms, Buffer.from(request.jobId).toString("hex"), describe);
    let entered: RequestedJob | null = null;
    return {
      changed: () => entered?.changed() ?? this.#approvals.changed,
      where: () => {
        if (entered !== null) return entered.where();
        const standing = this.#approvals.standing(asked);
        if (standing.kind === "denied") throw this.#approvals.denial(asked.id, standing.reason);
        if (standing.kind === "over")
          throw new TandemError("PARTY_LOST", "the request was replaced by another one for the same job");
        if (standing.kind === "waiting") return { place: 0, waiting: 0, request: asked.id };
        entered = begin();
        return entered.where();
      },
    };
  }

  /** @throws TandemError POLICY unless it is part of an approved request */
  async alignmentOffered({ job, ...offer }: ActiveAlignmentOffer, caller: Caller): Promise<void> {
    const { activeIdCount: rows, normalisations, validationFile } = offer;
    if (this.isRequired(caller))
      await this.#approvals.check(caller.name, job, { rows, aligned: true, normalisations, validationFile });
  }

  /** The alignment reveals something now. @throws TandemError POLICY */
  async alignmentBegins(job: string, caller: Caller): Promise<void> {
    if (this.isRequired(caller)) await this.#approvals.alignmentBegins(caller.name, job);
  }

  async aligned(job: string, caller: Caller): Promise<void> {
    if (this.isRequired(caller)) await this.#approvals.aligned(caller.name, job);
  }

  /** @throws TandemError POLICY unless it is the job that was approved */
  async jobBegins(hello: ActiveHello, agreed: AgreedParameters, caller: Caller): Promise<void> {
    if (!this.isRequired(caller)) return;
    const { instanceCount: rows, aligned, validationFile } = hello;
    const brought = { rows, aligned, validationFile, parameters: parametersOf(agreed) };
    const id = Buffer.from(hello.jobId).toString("hex");
    await this.#approvals.jobBegins(caller.name, agreed.job, brought, { id, rows: rowsDigest(hello) });
  }

  async #describe(active: string, agreed: AgreedParameters | null, rows: number): Promise<Described> {
    const { config, budgets, table } = this.#options;
    const { rows: ownRows, featureNames } = table();
    const { sumsPerPerson, openedPerPerson, noisySumsPerPerson, outcomesPerPerson } = await budgets.readSpent(active);
    const rounded = (value: number): string => String(Number(value.toPrecision(2)));
    const before =
      `Before this request ${active} has received ${rounded(sumsPerPerson)} exact sums per person, which ` +
      `reveal ${reachWords[reachOfSums(sumsPerPerson)]} of the columns, ${rounded(openedPerPerson)} of best ` +
      "candidates only, " +
      `which reveal at most ${roundedUp(openedBitsMax(openedPerPerson))} bits per person, ` +
      `${rounded(noisySumsPerPerson)} with noise, and ` +
      `${rounded(outcomesPerPerson)} outcomes of splits.`;
    if (agreed === null) {
      const reveals = [
        `which of its ${rows} ids ${config.name} holds too`,
        `the number of ids that ${config.name} holds: ${ownRows}`,
      ];
      return {
        summary: `private set intersection with ${formatCount(rows)} ids, without a job`,
        reveals,
        figures: [before],
      };
    }
    const constrainedFeatures = Object.values(config.data.monotone_constraints).filter((sign) => sign !== 0).length;
    const shape = { rows: ownRows, features: featureNames.length, constrainedFeatures };
    const facts = requestedFacts(agreed, { active, passive: config.name }, rows, shape, config);
    const gauge = gaugeOf(facts);
    return {
      summary: summaryOf(agreed, rows),
      reveals: disclosuresOf(facts)
        .reveals.filter(({ learner }) => learner === active)
        .map(disclosureText),
      figures: [...(gauge === null ? [] : [gaugeText(gauge)]), before],
    };
  }
}

const reachWords = { little: "little", some: "a part", half: "about half", all: "nearly all" } as const;

function summaryOf(agreed: AgreedParameters, rows: number): string {
  const { maxDepth, maxLeaves, scheme, schemeParameters, defences, startTrees } = agreed;
  const preset = presetOf(defences);
  return [
    ...(agreed.vetting
      ? [`the sums of up to ${agreed.maxBin} bins of every column`]
      : [
          `${formatCount(treeCountOf(agreed))} trees`,
          maxDepth === 0 ? `of ${maxLeaves} leaves` : `of depth ${maxDepth}`,
        ]),
    `from up to ${formatCount(rows)} rows,`,
    preset === null ? "with defences of its own," : `privacy: ${preset},`,
    schemeNamed(scheme).describe(schemeParameters),
    ...(startTrees === 0 ? [] : [`, continuing a model of ${startTrees} trees`]),
  ].join(" ");
}

/** Which rows a job has: the same in all of its attempts. */
function rowsDigest({ idsDigest, aligned, trainingRows, validationRows }: ActiveHello): string {
  const hash = createHash("sha256");
  for (const part of [idsDigest, Uint8Array.of(Number(aligned)), trainingRows, validationRows])
    hash.update(`${part.length} `).update(part);
  return hash.digest("hex");
}

const begun: JobPlace = { place: 0, waiting: 0, request: "" };
const approvedAlready: RequestedJob = { where: () => begun, changed: () => Promise.resolve() };
