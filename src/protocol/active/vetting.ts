/**
 * The active party's side of a vetting: it requests the root of one tree, and reads the bins of every column from the
 * sums of its candidates. Nothing is grown.
 */
import { everyRow } from "../../base/rows/row-loops.ts";
import { sentGradients } from "../../base/gradients/quantised-gradients.ts";
import { quantiseRound } from "../../codec/gradient-layout.ts";
import type { RealGradients } from "../../base/gradients/real-gradients.ts";
import { categoryCountMax } from "../../gbdt/split/category-binning.ts";
import { GrowingNode, rootId } from "../../gbdt/tree/grow.ts";
import { type ColumnBin, columnBins, type ColumnShape, isGroup, shapeCandidates } from "../../gbdt/vet/column-bins.ts";
import { VettedSums } from "../../gbdt/vet/vet-sums.ts";
import { type CandidateRows, noCandidates } from "../../scheme/candidates/candidate-rows.ts";
import { peerText } from "../../wire/peer-text.ts";
import type { PassiveColumn } from "../../wire/generated/tandem/v1/tandem_pb.ts";
import { AskedNodes } from "./asked-nodes.ts";
import { BusyClock } from "./busy-clock.ts";
import { layoutTerms } from "./federated-round.ts";
import type { ActiveJob } from "./job.ts";
import type { ActiveMembership } from "./membership.ts";
import type { PeerSession } from "./peer-session.ts";

/** A column of another party. */
export interface PeerColumn {
  /** Empty: its owner does not send names. */
  readonly name: string;
  readonly shape: ColumnShape;
  /** Between the common people and the party's others; null: not sent. */
  readonly stability: number | null;
  readonly bins: readonly ColumnBin[];
}

export interface VettedPeer {
  readonly party: string;
  /** In the order in which the party sent them. */
  readonly columns: readonly PeerColumn[];
}

const tree = 0;
const outputs = [0];

/** The scheme is set up. @throws TandemError PROTOCOL_STATE naming a party that deviates */
export async function vetPeers(
  job: ActiveJob,
  membership: ActiveMembership,
  sessions: readonly PeerSession[],
  real: RealGradients,
): Promise<VettedPeer[]> {
  const { observer, now } = job;
  const { gradients, layout } = quantiseRound(...layoutTerms(job, real));
  const sums = new VettedSums(gradients);
  const instances = everyRow(gradients.instanceCount);
  const root = new GrowingNode(rootId, 0, instances, instances, gradients);
  observer.treeBegan?.(tree);
  const round = membership.beginRound({
    firstTree: tree,
    treeCount: 1,
    sessions,
    layout,
    gradients: sentGradients(gradients),
    sample: null,
    outputs,
    columnRate: 0,
    offersSameRoot: false,
    moreFollow: false,
    before: Promise.resolve(),
    encrypting: new BusyClock(now),
  });
  const ofTree = round.beginTree(tree, outputs);
  const check = gradients.noise === undefined ? ofTree.sumsCheck() : null;
  const asked = new AskedNodes({ tree, sessions, membership: ofTree });
  asked.openRoot(root);
  const questions = asked.questions([{ node: root, pair: null }]);
  const decrypting = new BusyClock(now);
  const rows = await Promise.all(
    sessions.map((session, i) =>
      round.ask(i, async () =>
        questions[i].nodes.length === 0
          ? noCandidates
          : ((await session.histograms(tree, layout, questions[i], decrypting)).get(rootId) ?? noCandidates),
      ),
    ),
  );
  await round.opened;
  await round.finishTree(tree);
  return sessions.map((session, i) => {
    const fault = check?.fault(rows[i], root) ?? null;
    if (fault !== null) throw session.deviates(fault);
    return { party: session.name, columns: columnsOf(session, rows[i], sums, job.job.training.max_bin) };
  });
}

function columnsOf(session: PeerSession, sent: CandidateRows, sums: VettedSums, binsMax: number): PeerColumn[] {
  const { columns } = session;
  checkColumns(session, sent, binsMax);
  let first = 0;
  return columns.map((column) => {
    const shape = shapeIn(column);
    const start = first;
    first += shapeCandidates(shape);
    const bins = columnBins(
      shape,
      (candidate) => {
        const row = start + candidate;
        if (sent.suppressed.length === 0 || sent.suppressed[row] === 1) return null;
        return sums.at(sent.rows, row, sent.rows[(row + 1) * sums.stride - 1]);
      },
      sums.total,
    );
    const isPossible = ({ people, events }: ColumnBin): boolean => events >= 0 && events <= people;
    if (sums.noise === null && !bins.every(isPossible)) throw session.deviates("sums of a column that cannot be");
    return { name: peerText(column.name), shape, stability: column.stability ?? null, bins };
  });
}

function shapeIn({ categorical, bins: binCount, hasMissing }: PassiveColumn): ColumnShape {
  return { categorical, binCount, hasMissing };
}

/** Whether what a party says about its columns fits its candidates. */
function checkColumns(session: PeerSession, sent: CandidateRows, binsMax: number): void {
  const { columns, traits } = session;
  const isPossible = ({ categorical, bins, stability = 0 }: PassiveColumn): boolean =>
    bins <= (categorical ? categoryCountMax : binsMax) && stability >= 0 && Number.isFinite(stability);
  const shapes = columns.map(shapeIn);
  const grouped = shapes.filter(isGroup);
  const candidates = shapes.reduce((sum, shape) => sum + shapeCandidates(shape), 0);
  const fits =
    columns.every(isPossible) &&
    candidates === traits.candidateCount &&
    shapes.slice(0, grouped.length).every(isGroup) &&
    (sent.rows.length === 0 ||
      (grouped.length === sent.groups.length &&
        grouped.every((shape, i) => {
          const { size, hasMissing, flipped } = sent.groups[i];
          return size === shapeCandidates(shape) && hasMissing === shape.hasMissing && flipped < 0;
        })));
  if (!fits) throw session.deviates("columns that do not fit its candidates");
}
