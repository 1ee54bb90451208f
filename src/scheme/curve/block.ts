/**
 * The curve scheme's work on a block: it decodes points, holds them, and adds them up per bin. A sum of points does not
 * depend on the order of its terms, and has one encoding: blocks can be cut anywhere. It needs no secret.
 */
import { TandemError } from "../../base/error.ts";
import { type Curve, type CurveKernel, type HeldPoints, type HeldSums, pointBytes } from "../../crypto/curve/kernel.ts";
import { isSet } from "../../wire/bitmap.ts";
import {
  type BlockColumns,
  CurveBlockTermsSchema,
  SentBlockEntrySchema,
  SentBlockQuestionSchema,
  type SentBlockRound,
} from "../../wire/generated/tandem/v1/blocks_pb.ts";
import { decodeMessage } from "../../wire/scheme-message.ts";
import {
  type Answer,
  type BinColumns,
  type BlockData,
  type BlockWork,
  bytesAnswer,
  type Entry,
  nothing,
} from "../blocks/block.ts";
import { type BlockCells, placesFrom } from "../blocks/sent-blocks.ts";

/** While gradients arrive, the root is summed in pieces of this many instances: enough for joint bins to pay off. */
const rootSegmentInstances = 8192;

/** Sums per bin of bases and of values. */
export interface CurveCells {
  readonly bases: HeldSums;
  readonly values: HeldSums;
}

/** Cells as the kernel of this process holds them. */
class HeldCells implements Answer {
  readonly cells: CurveCells;
  readonly #curve: Curve;

  constructor(curve: Curve, cells: CurveCells) {
    this.#curve = curve;
    this.cells = cells;
  }

  /** Bases, then values. */
  async bytes(): Promise<Uint8Array> {
    const { bases, values } = this.cells;
    return Buffer.concat([await this.#curve.encode(bases), await this.#curve.encode(values)]);
  }
}

/** Sums of blocks, combined by the half that asked for them. */
export function curveCells(curve: Curve, width: number): BlockCells<CurveCells> {
  return {
    from: async (answer) => {
      if (answer instanceof HeldCells) return answer.cells;
      const bytes = await answer.bytes();
      const basesBytes = bytes.length / (1 + width);
      if (basesBytes % pointBytes !== 0) throw new TandemError("PROTOCOL_STATE", "an answer of a block is truncated");
      const [bases, values] = await Promise.all([
        curve.decode(bytes.subarray(0, basesBytes), 1),
        curve.decode(bytes.subarray(basesBytes), width),
      ]);
      return { bases, values };
    },
    add: async (a, b) => {
      const [bases, values] = await Promise.all([curve.add(a.bases, b.bases), curve.add(a.values, b.values)]);
      return { bases, values };
    },
  };
}

/** The state since the log began. */
interface Round {
  /** The rows of sampled instances. */
  readonly rows: Uint32Array;
  /** All of the block's rows are sampled. */
  readonly isWhole: boolean;
  loaded: number;
  root: BlockColumns;
  /** How many of the loaded instances are included in the root's bins. */
  summed: number;
  rootCells: CurveCells | null;
}

export class CurveBlock implements BlockWork {
  readonly #curve: Curve;
  readonly #width: number;
  readonly #jointBins: boolean;
  readonly #rowCount: number;
  readonly #columns: BinColumns;
  readonly #cells: BlockCells<CurveCells>;
  /** Memory for one round's points, reused for every round. */
  readonly #values: HeldPoints;
  readonly #bases: HeldPoints;
  /** The encoding of the decoded bases: every log has them, and they are the same in each. */
  #basesBytes: Uint8Array = nothing;
  #hasBases = false;
  /** Sums of all bases per bin of a root's columns: the same in every tree without sampling. */
  #rootBases: { readonly columns: string; readonly sums: HeldSums } | null = null;
  #round: Round | null = null;

  constructor(kernel: CurveKernel, { terms, rowCount, columns }: BlockData, threads: number) {
    const { valuesPerInstance, jointBins } = decodeMessage(CurveBlockTermsSchema, terms);
    this.#curve = kernel.curve(threads);
    this.#width = valuesPerInstance;
    this.#jointBins = jointBins;
    this.#rowCount = rowCount;
    this.#columns = columns;
    this.#cells = curveCells(this.#curve, valuesPerInstance);
    this.#values = this.#curve.points(rowCount, valuesPerInstance);
    this.#bases = this.#curve.points(rowCount, 1);
  }

  begin(): void {
    this.#round = null;
    this.#hasBases = false;
  }

  async take({ head, payload }: Entry): Promise<void> {
    const { kind } = decodeMessage(SentBlockEntrySchema, head);
    if (kind.case === "round") return this.#beginRound(kind.value);
    if (kind.case === "bases") return this.#takeBases(payload);
    if (kind.case === "gradients") return this.#load(payload);
    if (kind.case !== "tree") throw new TandemError("PROTOCOL_STATE", "unknown entry in the log of a block");
    // Column sampling may have drawn other columns for this tree.
    Object.assign(this.#roundState(), { root: kind.value, summed: 0, rootCells: null });
  }

  async answer({ head, payload }: Entry): Promise<Answer> {
    const { kind } = decodeMessage(SentBlockQuestionSchema, head);
    const { loaded, rows } = this.#roundState();
    const isWhole = loaded === rows.length && (kind.case !== "loaded" || kind.value.instances === rows.length);
    if (!isWhole)
      throw new TandemError("PROTOCOL_STATE", `a block has gradients of ${loaded} of ${rows.length} instances`);
    if (kind.case === "loaded") return bytesAnswer(nothing);
    if (kind.case === "root") return new HeldCells(this.#curve, await this.#rootCells());
    if (kind.case !== "node") throw new TandemError("PROTOCOL_STATE", "unknown question to a block");
    const members = placesFrom(payload).map((position) => rows[position]);
    const [bases, values] = await this.#histogram(kind.value, members, [this.#bases, this.#values]);
    return new HeldCells(this.#curve, { bases, values });
  }

  #beginRound({ sampled, root }: SentBlockRound): void {
    if (root === undefined) throw new TandemError("PROTOCOL_STATE", "the round has no root");
    const all = Uint32Array.from({ length: this.#rowCount }, (_, i) => i);
    const isWhole = sampled.length === 0;
    const rows = isWhole ? all : all.filter((row) => isSet(sampled, row));
    this.#round = { rows, isWhole, loaded: 0, root, summed: 0, rootCells: null };
  }

  async #takeBases(bytes: Uint8Array): Promise<void> {
    if (bytes.length !== this.#rowCount * pointBytes)
      throw new TandemError("PROTOCOL_STATE", "a base for every row of a block is needed");
    if (Buffer.compare(bytes, this.#basesBytes) !== 0) {
      this.#basesBytes = nothing;
      this.#rootBases = null;
      await this.#curve.load(
        bytes,
        this.#bases,
        Uint32Array.from({ length: this.#rowCount }, (_, i) => i),
      );
      this.#basesBytes = bytes;
    }
    this.#hasBases = true;
  }

  async #load(points: Uint8Array): Promise<void> {
    const round = this.#roundState();
    const count = points.length / (pointBytes * this.#width);
    if (!Number.isInteger(count) || round.loaded + count > round.rows.length)
      throw new TandemError("PROTOCOL_STATE", "more gradients than a block has instances");
    if (!this.#hasBases) throw new TandemError("PROTOCOL_STATE", "gradients arrived before the bases of their rows");
    await this.#curve.load(points, this.#values, round.rows.subarray(round.loaded, round.loaded + count));
    round.loaded += count;
    if (round.loaded - round.summed >= rootSegmentInstances) await this.#rootCells();
  }

  /** Adds the gradients received since the last call to the root's bins, while the next ones are being encrypted. */
  async #rootCells(): Promise<CurveCells> {
    const round = this.#roundState();
    const { summed, rootCells: before, rows, root } = round;
    if (before !== null && summed === round.loaded) return before;
    const arrived = rows.subarray(summed, round.loaded);
    const cells = await this.#rootSegment(root, arrived, round.isWhole);
    round.rootCells = before === null ? cells : await this.#addRoot(before, cells, round.isWhole);
    round.summed = round.loaded;
    return round.rootCells;
  }

  /** Without sampling the sums of bases are those of all rows, whatever has arrived. */
  async #rootSegment(root: BlockColumns, rows: Uint32Array, isWhole: boolean): Promise<CurveCells> {
    if (!isWhole) {
      const [bases, values] = await this.#histogram(root, rows, [this.#bases, this.#values]);
      return { bases, values };
    }
    const columns = `${root.features.join()}/${root.skippedBins.join()}`;
    if (this.#rootBases?.columns !== columns) {
      const all = Uint32Array.from({ length: this.#rowCount }, (_, i) => i);
      const [sums] = await this.#histogram(root, all, [this.#bases]);
      this.#rootBases = { columns, sums };
    }
    const [values] = await this.#histogram(root, rows, [this.#values]);
    return { bases: this.#rootBases.sums, values };
  }

  async #addRoot(before: CurveCells, segment: CurveCells, isWhole: boolean): Promise<CurveCells> {
    if (!isWhole) return this.#cells.add(before, segment);
    return { bases: segment.bases, values: await this.#curve.add(before.values, segment.values) };
  }

  #histogram(
    { features, skippedBins }: BlockColumns,
    rows: Uint32Array,
    sources: readonly HeldPoints[],
  ): Promise<readonly HeldSums[]> {
    const { bins, binCounts } = this.#columns;
    return this.#curve.histogram({
      sources,
      rows,
      bins: features.map((feature) => bins[feature]),
      binCounts: Uint32Array.from(features, (feature) => binCounts[feature]),
      skippedBins: Int32Array.from(skippedBins),
      jointBins: this.#jointBins,
    });
  }

  #roundState(): Round {
    if (this.#round === null) throw new TandemError("PROTOCOL_STATE", "no round has been started");
    return this.#round;
  }
}
