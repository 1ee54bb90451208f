/** The jobs of a passive party: each is opened by a hello, and runs until its service ends. */
import { TandemError } from "../../base/error.ts";
import type { OwnLine } from "../../record/own-lines.ts";
import type { Crew } from "../../scheme/blocks/crew.ts";
import type { Caller } from "../../transport/caller.ts";
import type { PassiveEnd, PassiveService } from "../../transport/passive-service.ts";
import type { ActiveHello } from "../../wire/generated/tandem/v1/tandem_pb.ts";
import { requireActiveVersion } from "../../wire/version.ts";
import { checkOwnGroups } from "../interaction-groups.ts";
import { agreedByPolicy, checkValidationFile } from "../policy.ts";
import type { QueuedJob } from "../queue/job-queue.ts";
import { deriveSamplingSecret } from "../sampling-secret.ts";
import { binTableInTurns } from "../tables/party-data.ts";
import type { Running } from "./admission-state.ts";
import type { AdmittedJob } from "./admitted-job.ts";
import type { AdmissionParts } from "./alignments.ts";
import { PassiveCheckpoints } from "./checkpoints.ts";
import { type EvidenceCredentials, openPassiveEvidence } from "./job-evidence.ts";
import { decidingRows, jobRows } from "./job-rows.ts";
import { JobSpending } from "./job-spending.ts";
import { startSplits, toStoredTerms } from "./job-terms.ts";
import { openPassiveJob } from "./job.ts";
import { rowDigests } from "./row-digests.ts";
import { refuseUnfinished } from "./unfinished-jobs.ts";
import { vettedColumns } from "./vetted-columns.ts";

export interface RunningJobsParts extends AdmissionParts {
  readonly own: (job: string, line: OwnLine) => void;
  /** Workers that hold the rows; undefined: this process. */
  readonly crew: Crew | undefined;
  readonly credentials: EvidenceCredentials;
  readonly onJobEnded: (end: PassiveEnd) => void;
}

export class RunningJobs {
  readonly #parts: RunningJobsParts;

  constructor(parts: RunningJobsParts) {
    this.#parts = parts;
  }

  async open(hello: ActiveHello, caller: Caller): Promise<PassiveService> {
    const { config, emit, own, crew, credentials, files, places, approvals, budgets, activities } = this.#parts;
    const { name, policy } = config;
    return activities.opening(caller, hello.parameters?.job ?? "", async (before, place) => {
      if (before.kind === "running" && before.caller === caller) return before.service; // a duplicate hello
      await budgets.daily.charge(caller.name, { attempts: 1 }, "job");
      requireActiveVersion(hello.protocolVersion, name);
      const agreed = agreedByPolicy(hello, policy, name, config.experiment);
      await approvals.jobBegins(hello, agreed, caller);
      places.queue.resize(place, places.jobBytes(agreed, hello.instanceCount));
      checkValidationFile(hello.validationFile, config.data.validation_path, name);
      if (!agreed.vetting) checkOwnGroups(config.data.interaction_constraints, agreed.interactionGroups, name);
      const { job } = agreed;
      const aligned = before.kind === "aligned" && before.caller === caller ? before : null;
      const rows = await jobRows(files, { hello, job, active: caller.name, aligned });
      const sampling = await files.using(async () => deriveSamplingSecret(config, job));
      const digests = await rowDigests(rows);
      const terms = toStoredTerms(hello, agreed, rows, digests, caller.name, sampling);
      const checkpoints = await PassiveCheckpoints.open(files.checkpointsOf(job), terms, () =>
        startSplits(files, agreed, caller.name, rows.training),
      );
      if (!checkpoints.isStored) await refuseUnfinished(files, caller.name, job, activities.jobsOf(caller));
      if (!checkpoints.isStored) await budgets.daily.chargeJob(caller.name, `${job}/${terms.jobId}`);
      const binned = await files.using(async () => binTableInTurns(rows.training, agreed, decidingRows(rows)));
      const columns = agreed.vetting ? vettedColumns(binned, rows, checkpoints, { policy, agreed }) : [];
      const features = agreed.vetting ? columns.map(({ feature }) => feature) : binned;
      const data = { rows, digests, features, columns };
      const admitted = { config, hello, agreed, ...data, checkpoints, peer: caller.name };
      const evidence = await openPassiveEvidence(files, admitted, credentials);
      const spending = await this.#spendingOf(admitted);
      const { service, report } = openPassiveJob({
        ...admitted,
        evidence,
        spending,
        crew,
        emit: (event) => emit({ ...event, job }),
        own: (line) => own(job, line),
      });
      const state: Running = { kind: "running", caller, job, service, checkpoints, release: () => spending.release() };
      activities.begin(place, state);
      void this.#untilEnded(place, state, report);
      return service;
    });
  }

  /** What the job takes of the partner's budget, held for it until it ends. @throws TandemError POLICY */
  async #spendingOf({ agreed, rows, checkpoints, peer }: AdmittedJob): Promise<JobSpending> {
    const instanceCount = rows.training.ids.length;
    const summed = decidingRows(rows)?.length ?? instanceCount;
    const { budgets } = this.#parts;
    const spending = new JobSpending(budgets, peer, checkpoints.beginning, agreed, instanceCount, summed);
    if (!checkpoints.isFinished) await spending.admit();
    return spending;
  }

  async #untilEnded(place: QueuedJob, state: Running, report: (end: PassiveEnd) => void): Promise<void> {
    const { activities, onJobEnded } = this.#parts;
    const end = await state.service.ended;
    void activities.inTurn(() => state.checkpoints.retire());
    state.release();
    if (activities.isCurrent(place, state)) {
      if (end.isLost === true) activities.lose(place, state.caller, state.checkpoints.trees);
      else activities.end(place);
    }
    report(end);
    onJobEnded(end);
  }

  /** @throws TandemError if the caller has none */
  of(caller: Caller): PassiveService {
    const { config, places, activities } = this.#parts;
    const found = activities.find(caller, "running");
    if (found === null) {
      activities.refuseIdle(caller);
      throw new TandemError("PROTOCOL_STATE", `${config.name} has no job under way on this connection`);
    }
    places.queue.touch(found[0]);
    return found[1].service;
  }

  /** The job that was just opened failed before it began. */
  refused(caller: Caller, error: unknown): void {
    const { activities } = this.#parts;
    const found = activities.find(caller, "running");
    if (found === null || found[1].service.hasBegun) return;
    const [place, { checkpoints, release }] = found;
    activities.end(place);
    release();
    void activities.inTurn(() => checkpoints.retire());
    activities.refused(caller, error);
  }
}
