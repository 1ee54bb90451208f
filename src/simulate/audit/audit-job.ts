/**
 * `tandem audit --job`: what a finished job has revealed, from the transcript in its folder. A passive party measures
 * how exposed its columns are: it does not know the gradients, so random ones take their place, and the result is an
 * upper estimate; where sums were hidden, what was opened is bounded instead. The active party measures how well each
 * passive party could guess its labels. No party needs another's data.
 */
import { recordedMembership } from "../../record/membership.ts";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { JsonLinesFile } from "../../base/files/json-lines.ts";
import { toNoiseScale } from "../../base/noise/noise-scale.ts";
import { osRandom } from "../../base/random.ts";
import { TandemError } from "../../base/error.ts";
import { candidateCount } from "../../gbdt/split/candidate.ts";
import type { BinnedFeature } from "../../gbdt/split/binning.ts";
import type { AuditResult } from "../../privacy/attack/audit-result.ts";
import { guessLabels } from "../../privacy/attack/cells.ts";
import { withDrawnGradients } from "../../privacy/attack/drawn-gradients.ts";
import { exposureOf } from "../../privacy/attack/exposure.ts";
import { openedAtMost } from "../../privacy/attack/opened.ts";
import { type OwnSplit, type RecordedParty, TranscriptRecorder } from "../../privacy/attack/recorder.ts";
import type { AttackClock } from "../../privacy/attack/sums.ts";
import type { Transcript, WonSplit } from "../../privacy/attack/transcript.ts";
import { membershipFacts } from "../../base/membership.ts";
import { ownFileName } from "../../record/job-record.ts";
import { readTranscript } from "../../record/transcript-file.ts";
import type { TranscriptLine } from "../../record/transcript-lines.ts";
import { mostFrequentBins } from "../../scheme/candidates/candidate-plan.ts";
import { candidateIn, type CandidateSet, TreeCandidates } from "../../scheme/candidates/candidate-set.ts";
import { leftBins } from "../../gbdt/split/candidate.ts";
import {
  keptFeature,
  type KeptJob,
  type KeptNode,
  keptSplits,
  keptTrees,
  type KeptTree,
  lastLine,
} from "./kept-transcript.ts";
import { aboutTranscript, checkTranscript } from "./check-transcript.ts";
import { toExposures } from "./exposures.ts";
import { hiddenExposure } from "./hidden-exposure.ts";
import { bytesFrom } from "../../store/stored-numbers.ts";

export interface JobAudit {
  readonly party: string;
  readonly role: "active" | "passive";
  readonly result: AuditResult;
}

/** Labels that the passive party is assumed to know in the second label attack. */
const knownLabels = 200;
const ownBytesMax = 64 << 20;

/** The result is stored with the job, for the page and the report. @throws TandemError FILE_UNREADABLE, FILE_FORMAT */
export async function auditJob(folder: string, clock: AttackClock): Promise<JobAudit> {
  const lines = await readTranscript(folder);
  const job = lastLine(lines, "job");
  if (job === undefined) throw new TandemError("FILE_UNREADABLE", `${folder}: the transcript has no job line`);
  const peers = [
    ...new Set(lines.flatMap((line) => (line.kind === "tree" || line.kind === "asked" ? [line.peer] : []))),
  ];
  // Without a tree every figure would be 0 and would read as "safe".
  if (peers.length === 0)
    throw new TandemError("FILE_UNREADABLE", `${folder}: no tree was grown with another party, nothing to audit`);
  checkTranscript(folder, lines, job);
  const result = await aboutTranscript(folder, async () =>
    job.role === "passive"
      ? {
          isEstimate: recordedMembership(job).membersAreSent && job.hidesSums !== true,
          parties: [await passiveExposure(lines, job, peers[0] ?? "", clock)],
          labels: [],
          whatIf: null,
          schemes: null,
        }
      : {
          isEstimate: false,
          parties: [],
          labels: peers.map((peer) => labelExposure(lines, job, peer)),
          whatIf: null,
          schemes: null,
        },
  );
  const kept = new JsonLinesFile(join(folder, ownFileName), ownBytesMax);
  kept.append({ kind: "exposure", exposures: toExposures(result, job, peers) });
  kept.close();
  return { party: job.party, role: job.role, result };
}

async function passiveExposure(lines: readonly TranscriptLine[], job: KeptJob, peer: string, clock: AttackClock) {
  const features = (lastLine(lines, "columns")?.columns ?? []).map(keptFeature);
  if (!recordedMembership(job).membersAreSent) return hiddenExposure(lines, job, peer, features, clock);
  const kept = keptTrees(lines, peer, job.people);
  const allRows = Uint32Array.from({ length: job.people }, (_, i) => i);
  const party: RecordedParty = {
    owner: 1,
    features,
    permutationSecret: osRandom.fill(new Uint8Array(32)),
    skippedBins: mostFrequentBins(features, allRows),
    sampler: null,
  };
  const splits = keptSplits(lines);
  const transcript = withDrawnGradients(
    party,
    job.people,
    kept.map((tree) => recordedTree(tree, party, splits, job.hidesSums === true)),
    {
      featureCount: features.filter((feature) => candidateCount(feature) > 0).length,
      takesAllColumns: job.takesAllColumns,
      isLinked: false,
      leavesOutBin: true,
    },
    1,
  );
  const recorder = new TranscriptRecorder(party);
  return exposureOf(
    {
      name: job.party,
      features,
      instances: summedEver(kept, allRows),
      transcript,
      splits,
      sideAt: (tree, position) => recorder.sideAt(tree, position),
      opened: job.hidesSums === true ? openedAtMost(transcript.trees.flatMap(({ nodes }) => nodes).length) : null,
      noise: toNoiseScale({ ...job, resolutionBits: 24, maxDepth: 1, maxLeaves: 0 }),
      tellsScoring: !job.maskedScoring,
      membership: membershipFacts.sent,
    },
    clock,
    availableParallelism(),
  );
}

/** The instances that some tree was trained on: held-out rows are never summed. */
function summedEver(trees: readonly KeptTree[], allRows: Uint32Array): Uint32Array {
  const summed = new Set(trees.flatMap(({ nodes }) => Array.from(nodes[0]?.summed ?? [])));
  return summed.size === allRows.length ? allRows : allRows.filter((i) => summed.has(i));
}

/** The transcript does not record which candidates were suppressed: all are assumed to be sent, an upper bound. */
function recordedTree(
  { tree, nodes }: KeptTree,
  party: RecordedParty,
  splits: readonly OwnSplit[],
  hidesSums: boolean,
) {
  const sets = new TreeCandidates(party, tree, tree);
  return {
    tree,
    round: tree,
    nodes: nodes.map((node) => {
      const set = sets.at({ node: node.id, depth: node.depth });
      const own = splits.find((split) => split.tree === tree && split.node === node.id);
      const groups = set.groups.map(({ size, hasMissing, flipped }) => ({ size, hasMissing, flipped }));
      // Where sums are hidden, what is opened of a won split follows from its outcome; of others it is not known here.
      const suppressed = new Uint8Array(set.byPosition.length).fill(hidesSums ? 1 : 0);
      return { ...node, suppressed, groups, won: wonSplit(node, own, set, party.features) };
    }),
  };
}

/** The position of the split's candidate. Splits by category sets are not looked up. */
function wonSplit(
  { left }: KeptNode,
  own: OwnSplit | undefined,
  set: CandidateSet,
  features: readonly BinnedFeature[],
): WonSplit | null {
  if (left === null) return null;
  const positions = Array.from(set.byPosition.keys()).filter((position) => {
    const { feature, ...candidate } = candidateIn(set, position);
    return feature === own?.feature && leftBins(features[feature], candidate).every((bin, i) => bin === own.left[i]);
  });
  return { candidates: positions.slice(0, 1), sets: [], left, leftOfAll: null };
}

function labelExposure(lines: readonly TranscriptLine[], job: KeptJob, peer: string) {
  const people = lastLine(lines, "people");
  const labels = new Float64Array(bytesFrom(people?.labels ?? "").buffer);
  const scores = new Float64Array(bytesFrom(people?.scores ?? "").buffer);
  const isBinary = labels.every((label) => label === 0 || label === 1);
  const { membersAreSent } = recordedMembership(job);
  if (!membersAreSent || labels.length !== job.people || scores.length !== job.people || !isBinary)
    return { party: peer, membersAreSent, guess: null };
  const allRows = Uint32Array.from({ length: job.people }, (_, i) => i);
  return {
    party: peer,
    membersAreSent,
    guess: guessLabels(seenBy(lines, job, peer), labels, allRows, scores, knownLabels),
  };
}

/** The members of each node, as sent to a passive party; it receives no sums. */
function seenBy(lines: readonly TranscriptLine[], job: KeptJob, peer: string): Transcript {
  const gradients = { instanceCount: job.people, grids: [], columns: [] };
  const none = { rows: new Float64Array(0), suppressed: new Uint8Array(0), groups: [] };
  return {
    instanceCount: job.people,
    job: { featureCount: 0, takesAllColumns: job.takesAllColumns, isLinked: false, leavesOutBin: true },
    predictions: [],
    trees: keptTrees(lines, peer, job.people).map(({ tree, nodes }) => ({
      tree,
      gradients,
      nodes: nodes.map((node) => ({
        ...node,
        ...none,
        won: node.left && { candidates: [], sets: [], left: node.left, leftOfAll: null },
      })),
    })),
  };
}
