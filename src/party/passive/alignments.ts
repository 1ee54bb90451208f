/** The alignments of a passive party: private set intersection with an active party, before its job or alone. */
import { join } from "node:path";
import { TandemError } from "../../base/error.ts";
import { tableDigestsInTurns } from "../../data/table-digest.ts";
import { PassivePsi } from "../../psi/passive-psi.ts";
import type { Emit } from "../../record/events.ts";
import { writeAlignment } from "../../store/passive-checkpoint.ts";
import type { Caller } from "../../transport/caller.ts";
import type { ActiveAlignmentOffer } from "../../wire/generated/tandem/v1/alignment_pb.ts";
import type { PassiveConfig } from "../config/config.ts";
import type { PartnerBudgets } from "../partner-budget.ts";
import type { QueuedJob } from "../queue/job-queue.ts";
import { alignedCsv } from "../tables/joined-tables.ts";
import { type Activities, knownError } from "./activities.ts";
import type { Aligning } from "./admission-state.ts";
import { checkOffer, knownNormalisations } from "./alignment-offer.ts";
import { refuseAlignment } from "./checkpoints.ts";
import type { JobApprovals } from "./job-approvals.ts";
import type { JobPlaces } from "./job-places.ts";
import type { PassiveFiles } from "./passive-files.ts";
import { refuseUnfinished } from "./unfinished-jobs.ts";

/** What decides whether a party takes part, and what it takes part with. */
export interface AdmissionParts {
  readonly config: PassiveConfig;
  readonly emit: Emit;
  readonly files: PassiveFiles;
  readonly places: JobPlaces;
  readonly approvals: JobApprovals;
  readonly budgets: PartnerBudgets;
  readonly activities: Activities;
}

export class Alignments {
  readonly #parts: AdmissionParts;

  constructor(parts: AdmissionParts) {
    this.#parts = parts;
  }

  async begin(offer: ActiveAlignmentOffer, caller: Caller): Promise<{ passiveIdCount: number }> {
    const { config, emit, files, places, approvals, budgets, activities } = this.#parts;
    const { job, activeIdCount, hashDomain } = offer;
    return activities.opening(caller, job, async (before, place) => {
      const { name, policy, threads } = config;
      await budgets.daily.charge(caller.name, { attempts: 1 }, "PSI run");
      if (before.kind === "running" && before.caller === caller)
        throw new TandemError("PROTOCOL_STATE", `${name} has this job open on this connection already`);
      checkOffer(offer, config);
      await approvals.alignmentOffered(offer, caller);
      await refuseAlignment(files.checkpointsOf(job), caller.name);
      await refuseUnfinished(files, caller.name, job, activities.jobsOf(caller));
      const data = await files.table();
      files.noteRead(data);
      places.queue.resize(place, places.alignmentBytes());
      const asked = { alignments: 1, ids: activeIdCount };
      await budgets.daily.check(caller.name, asked, "PSI run");
      const normalisations = knownNormalisations(offer, name);
      const alignment = new PassivePsi(data.ids, {
        activeIdCountMax: policy.max_active_ids,
        boundTo: caller.fingerprint,
        // Counted here, not above: while another party is unreachable an alignment restarts repeatedly and reveals
        // nothing.
        admit: async () => {
          await budgets.daily.charge(caller.name, asked, "PSI run");
          await approvals.alignmentBegins(job, caller);
        },
        ...(threads === undefined ? {} : { threads }),
      });
      const answer = alignment.begin({ hashDomain, normalisations, activeIdCount });
      activities.begin(place, { kind: "aligning", caller, job, alignment, data });
      emit({
        type: "aligning",
        party: name,
        peer: caller.name,
        job,
        ownIdCount: data.ids.ids.length,
        peerIdCount: activeIdCount,
      });
      return answer;
    });
  }

  /** @throws TandemError PROTOCOL_STATE if the caller has none */
  of(caller: Caller): PassivePsi {
    return this.#underWay(caller)[1].alignment;
  }

  /** @param rows those that all parties hold, in their common order */
  async done(caller: Caller, rows: Uint32Array): Promise<void> {
    const { config, emit, files, approvals, activities } = this.#parts;
    const [place, state] = this.#underWay(caller);
    const { job, data } = state;
    await activities.inTurn(async () => {
      if (!activities.isCurrent(place, state)) throw new TandemError("PROTOCOL_STATE", "the alignment was given up");
      await files.using(async () => {
        const { folder, storage } = files.checkpointsOf(job);
        await storage.makeFolder(folder);
        await storage.write(join(folder, "aligned.csv"), alignedCsv(data, rows));
        const [digest] = await tableDigestsInTurns(data.table);
        await writeAlignment(folder, { active: caller.name, rows, data: digest }, storage);
      });
      if (activities.isCurrent(place, state)) activities.begin(place, { kind: "aligned", caller, job, rows, data });
    });
    await approvals.aligned(job, caller);
    emit({ type: "aligned", party: config.name, job, peer: caller.name, commonCount: rows.length });
    if (caller.gone.aborted) activities.callerGone(caller);
  }

  failed(caller: Caller, error: unknown): void {
    const { config, emit, activities } = this.#parts;
    const found = activities.find(caller, "aligning");
    if (found === null) return;
    const [place, { job, alignment }] = found;
    alignment.close();
    if (caller.gone.aborted) activities.lose(place, caller);
    else activities.end(place);
    const { code, message } = knownError(error);
    emit({ type: "alignment-failed", party: config.name, peer: caller.name, job, code, message });
    activities.refused(caller, error);
  }

  lost(caller: Caller): void {
    this.failed(
      caller,
      new TandemError("PARTY_LOST", "the active party is gone: its connection closed during the alignment"),
    );
  }

  #underWay(caller: Caller): [QueuedJob, Aligning] {
    const found = this.#parts.activities.find(caller, "aligning");
    if (found !== null) return found;
    throw new TandemError("PROTOCOL_STATE", `${this.#parts.config.name} has no alignment under way on this connection`);
  }
}
