/**
 * Margins of rows: each passive party is asked for the outcomes of its splits, and the trees are traversed here.
 */
import { assert } from "../../base/assert.ts";
import { nextSlice } from "../../base/scheduling/event-loop-slice.ts";
import { leafOf, type Tree } from "../../gbdt/tree/tree.ts";
import { withWeightsInLeaves } from "../../gbdt/tree/weighted-trees.ts";
import type { Defences } from "../../privacy/defences/defences.ts";
import { MaskedDriver } from "../../scheme/masked/masked-driver.ts";
import { isSet } from "../../wire/bitmap.ts";
import { messageBytesMax } from "../../wire/version.ts";
import { splitKey } from "../split-key.ts";
import { addMargins, type OwnColumn, ownOutcomes, ownOutcomesOf } from "./federated-margins.ts";
import { type ActiveRule, isOwnRule } from "./federated-tree.ts";
import type { ActiveJob, ActiveModel, ActiveStart, OwnColumns, PredictionRows } from "./job.ts";
import type { PeerPredictions } from "./peer-predictions.ts";

/** The rows of a job with a start model, and the active party's columns of them. */
type StartedRows = Pick<ActiveJob, "rows" | "columns">;
const noColumns: OwnColumns = { features: [] };

/** Rows of one request: the outcomes of a split for all of them are one message. */
const rowsPerBatch = 10_000;
const idBytesPerMessage = messageBytesMax / 2;
/** Instances between two yields to the event loop. */
const instancesPerTurn = 10_000;

type ScoringDefences = Pick<Defences, "masked_scoring" | "score_noise">;

/** @param answered the trees that passive parties answer for: the model's, and those dropped by early stopping */
export async function predictRows(
  sessions: readonly PeerPredictions[],
  grown: ActiveModel,
  answered: readonly Tree<ActiveRule>[],
  rows: PredictionRows,
  { masked_scoring: isMasked, score_noise: scoreNoise }: ScoringDefences,
): Promise<Float64Array> {
  const model = withWeightsInLeaves(grown);
  const { outputCount = 1 } = model;
  const named = inPieces(rows.ids);
  if (named.length === 0) return new Float64Array(0);
  if (isMasked)
    return maskedMargins(sessions, { ...model, scoreNoise }, answered, {
      rowCount: rows.ids.length,
      testRows: named,
      baseMargins: rows.baseMargins,
      columnOf: ({ feature }) => ({
        values: rows.features[feature],
        names: rows.categoryNames?.[feature] ?? null,
      }),
    });
  const margins = startingAt(model, rows.ids.length, rows.baseMargins);
  const splits = sessions.map((_, peer) => remoteSplits(answered, peer + 1));
  await Promise.all(sessions.map((session) => session.testRows(named)));
  for (let first = 0, end = 0; first < rows.ids.length; first = end) {
    end = Math.min(rows.ids.length, first + rowsPerBatch);
    const outcomes = await Promise.all(
      sessions.map((session, peer) => session.predict(first, end - first, splits[peer])),
    );
    addMargins(model, margins.subarray(first * outputCount, end * outputCount), {
      ownValue: (rule, i) => rows.features[rule.feature][first + i],
      ownNames: (rule) => rows.categoryNames?.[rule.feature] ?? null,
      remoteGoesLeft: (owner, tree, node, i) => goesLeft(outcomes[owner - 1], tree, node, i),
    });
  }
  return margins;
}

/** The leaf of every instance in each tree of a start model. No ids are sent: instances are in the agreed order. */
export async function leavesAfter(
  sessions: readonly PeerPredictions[],
  { trees }: ActiveStart,
  { rows, columns: { features, categoryNames = [] } = noColumns }: StartedRows,
): Promise<Uint32Array[]> {
  const { count: instanceCount } = rows;
  const outcomes = await Promise.all(
    sessions.map((session, peer) => session.predictStart(instanceCount, remoteSplits(trees, peer + 1))),
  );
  const leaves: Uint32Array[] = [];
  for (const [index, tree] of trees.entries()) {
    const own = ownOutcomes([tree], {
      ownValue: (rule, row) => features[rule.feature][row],
      ownNames: (rule) => categoryNames[rule.feature] ?? null,
    });
    leaves.push(
      Uint32Array.from({ length: instanceCount }, (_, row) =>
        leafOf(tree, (rule, node) =>
          isOwnRule(rule) ? own(0, node, row) : goesLeft(outcomes[rule.owner - 1], index, node, row),
        ),
      ),
    );
    await nextSlice();
  }
  return leaves;
}

/** Every instance's margins after the trees of a start model. No ids are sent: instances are in the agreed order. */
export async function marginsAfter(
  sessions: readonly PeerPredictions[],
  start: ActiveStart,
  { rows, columns: { features, categoryNames = [] } = noColumns }: StartedRows,
  { masked_scoring: isMasked }: ScoringDefences,
): Promise<Float64Array> {
  const { count: instanceCount, baseMargins } = rows;
  const { outputCount = 1, trees } = start;
  if (isMasked)
    return maskedMargins(sessions, start, trees, {
      rowCount: instanceCount,
      testRows: null,
      baseMargins,
      columnOf: ({ feature }) => ({ values: features[feature], names: categoryNames[feature] ?? null }),
    });
  const margins = startingAt(start, instanceCount, baseMargins);
  const outcomes = await Promise.all(
    sessions.map((session, peer) => session.predictStart(instanceCount, remoteSplits(trees, peer + 1))),
  );
  for (let first = 0; first < instanceCount; first += instancesPerTurn) {
    addMargins(start, margins.subarray(first * outputCount, (first + instancesPerTurn) * outputCount), {
      ownValue: (rule, i) => features[rule.feature][first + i],
      ownNames: (rule) => categoryNames[rule.feature] ?? null,
      remoteGoesLeft: (owner, tree, node, i) => goesLeft(outcomes[owner - 1], tree, node, first + i),
    });
    await nextSlice();
  }
  return margins;
}

interface MaskedRows {
  readonly rowCount: number;
  /** The ids of the test rows, in chunks; null: the job's instances, by a start model. */
  readonly testRows: readonly (readonly string[])[] | null;
  readonly baseMargins: Float64Array | undefined;
  readonly columnOf: (rule: { readonly feature: number }) => OwnColumn;
}

/** Parties without a split in the model are not asked, and are sent no ids. */
async function maskedMargins(
  sessions: readonly PeerPredictions[],
  model: Pick<ActiveModel, "trees" | "outputCount" | "baseMargin"> & { readonly scoreNoise?: number },
  answered: readonly Tree<ActiveRule>[],
  { rowCount, testRows, baseMargins, columnOf }: MaskedRows,
): Promise<Float64Array> {
  const driver = new MaskedDriver(model, { startModel: testRows === null }, answered);
  const asked = driver.parties.map(({ owner }) => sessions[owner - 1]);
  if (testRows !== null) await Promise.all(asked.map((session) => session.testRows(testRows)));
  const question = {
    rowCount,
    hasIds: false,
    batchEnd: (first: number, rowsMax: number) => Math.min(rowCount, first + rowsMax),
    message: (first: number, end: number) => ({ firstRow: first, rowCount: end - first }),
    ownOutcomes: ownOutcomesOf(model.trees, columnOf),
    baseMargins,
  };
  const { margins } = await driver.score(question, (count, ask) => ask(asked.map((session) => session.masked(count))));
  return margins;
}

function startingAt(
  { baseMargin, takesBaseMargin, outputCount = 1 }: Pick<ActiveModel, "baseMargin" | "takesBaseMargin" | "outputCount">,
  rowCount: number,
  baseMargins: Float64Array | undefined,
): Float64Array {
  assert((takesBaseMargin === true) === (baseMargins !== undefined), "base margins go with a model of such");
  return baseMargins?.slice() ?? new Float64Array(rowCount * outputCount).fill(baseMargin);
}

/** Ids in pieces that fit in one message. */
function inPieces(ids: Iterable<string>): string[][] {
  const pieces: string[][] = [];
  let bytes = Infinity;
  for (const id of ids) {
    bytes += Buffer.byteLength(id) + 8;
    if (bytes > idBytesPerMessage) {
      pieces.push([]);
      bytes = Buffer.byteLength(id) + 8;
    }
    pieces[pieces.length - 1].push(id);
  }
  return pieces;
}

/** The keys of all splits of one passive party. */
function remoteSplits(trees: readonly Tree<ActiveRule>[], owner: number): Set<string> {
  const keys = new Set<string>();
  trees.forEach((tree, treeIndex) =>
    tree.forEach((node, nodeIndex) => {
      if (node.kind === "split" && node.rule.owner === owner) keys.add(splitKey(treeIndex, nodeIndex));
    }),
  );
  return keys;
}

function goesLeft(outcomes: ReadonlyMap<string, Uint8Array>, tree: number, node: number, row: number): boolean {
  const bitmap = outcomes.get(splitKey(tree, node));
  return bitmap !== undefined && isSet(bitmap, row);
}
