/**
 * A vetting: a job of one tree of which only the root is requested. Its candidates are not shuffled, and the passive
 * party says which of them belong to one column: so the active party can compute what each column is worth for its
 * label (gbdt/vet). No split is asked about, nothing is predicted, and there is no model.
 *
 * @reveals active: in a vetting, which candidates belong to one column, in the order of its bins, and whether it has
 *   categories or missing values; in a vetting, where the party's policy allows it, the names of its columns; in a
 *   vetting, how far the distribution of a column among the common people is from that among the party's other people
 */
import type { MessageInitShape } from "@bufbuild/protobuf";
import { TandemError } from "../base/error.ts";
import { codecBounds } from "../base/parameters/parameters.ts";
import { oneHotBelow, shapeOf } from "../gbdt/vet/column-bins.ts";
import { rootId } from "../gbdt/tree/grow.ts";
import type { BinnedFeature } from "../gbdt/split/binning.ts";
import { factsOf } from "../messages/table.ts";
import { type PassiveColumnSchema, PassiveParty } from "../wire/generated/tandem/v1/tandem_pb.ts";
import type { AgreedParameters } from "./job-parameters.ts";

/** Labels of 0 and 1 need no more: a passive party refuses a finer grid, which would have room for marks. */
export const vettingResolutionBits = codecBounds.resolution_bits.min;

/** What a passive party sends about a column. */
export interface VettedColumn {
  readonly feature: BinnedFeature;
  /** Empty: its owner does not allow names. */
  readonly name: string;
  /** Between the common rows and its other rows; null: not computed. */
  readonly stability: number | null;
}

type ColumnMessage = MessageInitShape<typeof PassiveColumnSchema> & {
  readonly name: string;
  readonly stability?: number;
};

export function columnMessages(columns: readonly VettedColumn[]): ColumnMessage[] {
  return columns.map(({ feature, name, stability }) => {
    const { categorical, binCount: bins, hasMissing } = shapeOf(feature);
    return { name, categorical, bins, hasMissing, ...(stability === null ? {} : { stability }) };
  });
}

/** @throws TandemError PROTOCOL_STATE for a node of a vetting other than the root */
export function checkVetted({ vetting }: AgreedParameters, node: number): void {
  if (vetting && node !== rootId)
    throw new TandemError("PROTOCOL_STATE", `node ${node} was requested in a vetting, which has the root only`);
}

const answeredCalls: ReadonlySet<string> = new Set(
  PassiveParty.methods.filter((method) => factsOf(method).isOfVettings === true).map(({ localName }) => localName),
);

/** The handlers of a vetting: others would reveal sides of people. */
export function vettingCalls<Answers extends object>(answers: Answers, missing: (name: string) => never): Answers {
  const calls = Object.entries(answers).map(([name, handler]) => [
    name,
    answeredCalls.has(name) ? (handler as unknown) : (): never => missing(name),
  ]);
  return Object.fromEntries(calls) as Answers;
}

/** Why a request is no vetting, one phrase each; empty where it is one, and where it is a training job. */
export function impossibleVetting(agreed: AgreedParameters): readonly (string | false)[] {
  if (!agreed.vetting) return [];
  const rates = [agreed.colsampleBytree, agreed.colsampleBylevel, agreed.colsampleBynode];
  const isOneRoot =
    agreed.numRound === 1 &&
    agreed.treesPerRound === 1 &&
    agreed.outputs === 1 &&
    agreed.maxDepth === 1 &&
    agreed.startTrees === 0 &&
    agreed.localRounds === 0;
  return [
    !isOneRoot && "vetting: it has one tree of depth 1, one output and no start model",
    (rates.some((rate) => rate !== 1) || agreed.interactionGroups !== "") &&
      "vetting: it has all columns, and no interaction groups",
    agreed.maxCatToOnehot !== oneHotBelow && `vetting: max_cat_to_onehot must be ${oneHotBelow}`,
    agreed.resolutionBits !== vettingResolutionBits &&
      `vetting: resolution_bits: ${agreed.resolutionBits} requested, it must be ${vettingResolutionBits}`,
    agreed.defences.hidden_sums &&
      "vetting: it needs the sums of every column, which hidden_sums keeps from the active party",
  ];
}
