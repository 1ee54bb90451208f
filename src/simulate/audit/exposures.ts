/** The result of a job's audit in the form that the party's page and report show. */
import { membershipFlag, recordedMembership } from "../../record/membership.ts";
import type { AuditResult, LabelExposure, PartyExposure } from "../../privacy/attack/audit-result.ts";
import type { ColumnExposure, Exposure } from "../../record/exposure.ts";
import type { KeptJob } from "./kept-transcript.ts";

/** @param peers the other parties */
export function toExposures({ parties, labels }: AuditResult, job: KeptJob, peers: readonly string[]): Exposure[] {
  return [
    ...parties.map((party) => columnExposure(party, job, peers[0] ?? "the active party")),
    ...labels.map((each) => labelExposure(each, job)),
  ];
}

function columnExposure(party: PartyExposure, job: KeptJob, learner: string): Exposure {
  const bounds = party.columns.flatMap(({ sumsBound }) => sumsBound ?? []);
  return {
    ...common(job),
    learner,
    about: party.party,
    people: party.people,
    trees: party.trees,
    sumsPerPerson: party.sumsPerPerson,
    noise:
      job.answerNoise === 0 || !party.triesSums
        ? null
        : { sigma: job.answerNoise, bitsPerColumnMax: Math.max(0, ...bounds) },
    isEstimate: party.triesSums,
    ...(party.openedBits !== null ? { hidesSums: true } : {}),
    ...membershipFlag(party.membership.name),
    columns: party.columns.map(keptColumn),
    labels: null,
  };
}

/** Scoring adds to training: together they reveal at least as much as either alone. */
function keptColumn({ name, bins, bits, certain, left }: PartyExposure["columns"][number]): ColumnExposure {
  const [outcomes, sums, scoring] = [left.outcomes, left.sums, left.scoring].map((open) => Math.max(0, bits - open));
  return {
    name,
    bins,
    bits,
    toldBits: { outcomes, sums, scoring: Math.max(sums, scoring) },
    certain: { ...certain, scoring: Math.max(certain.sums, certain.scoring) },
  };
}

function labelExposure({ party, guess }: LabelExposure, job: KeptJob): Exposure {
  return {
    ...common(job),
    learner: party,
    about: job.party,
    people: job.people,
    trees: guess?.byTree.length ?? 0,
    sumsPerPerson: 0,
    noise: null,
    isEstimate: false,
    ...membershipFlag(recordedMembership(job).name),
    columns: [],
    labels: guess && { byTree: guess.byTree, modelAuc: guess.model, riskiestTenth: guess.without.tenth },
  };
}

function common({ depthMax }: KeptJob): Pick<Exposure, "depthMax" | "whatIf"> {
  return { depthMax, whatIf: [] };
}
