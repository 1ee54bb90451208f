/** The curve scheme's arithmetic in the native addon: sizes, handles and calls. The addon validates its arguments. */
import { assert } from "../../base/assert.ts";
import {
  type AnswerRequest,
  type Curve,
  type EncryptRequest,
  type HeldKeys,
  type HeldPoints,
  type HeldScalars,
  type HeldSums,
  type HistogramRequest,
  invalidPoint,
  type Logarithms,
  type OpenRequest,
  pointBytes,
  reachMax,
  wideScalarBytes,
} from "./kernel.ts";
import type {
  CurveContext,
  KeysHandle,
  LogarithmsHandle,
  NativeCurveAddon,
  NativeCurveName,
  PointsHandle,
  ScalarsHandle,
  SumsHandle,
} from "./native-addon.ts";

/** A handle of the addon and what it holds. */
class Held<Handle> {
  readonly handle: Handle;
  readonly rowCount: number;
  readonly width: number;

  constructor(handle: Handle, rowCount: number, width: number) {
    this.handle = handle;
    this.rowCount = rowCount;
    this.width = width;
  }

  get count(): number {
    return this.rowCount;
  }

  get cellCount(): number {
    return this.rowCount;
  }
}

class NativeLogarithms implements Logarithms {
  readonly handle: LogarithmsHandle;
  readonly reach: number;

  constructor(handle: LogarithmsHandle, reach: number) {
    this.handle = handle;
    this.reach = reach;
  }
}

/** Of this process; a larger one takes its place when a job needs it. */
let logarithmsOfProcess: Promise<NativeLogarithms> | undefined;

export class NativeCurve implements Curve {
  readonly kernelName: string;
  readonly #addon: NativeCurveAddon;
  readonly #context: CurveContext;
  readonly #threads: number;

  constructor(addon: NativeCurveAddon, kernel: NativeCurveName, threads: number) {
    this.kernelName = `native-${kernel}`;
    this.#addon = addon;
    this.#context = addon.createCurve(kernel);
    this.#threads = threads;
  }

  async scalars(wide: Uint8Array): Promise<HeldScalars> {
    assert(wide.length % wideScalarBytes === 0, "whole scalars");
    const count = wide.length / wideScalarBytes;
    const handle = this.#addon.createCurveScalars(count);
    await this.#addon.curveReduce(handle, wide, this.#threads);
    return new Held(handle, count, 1);
  }

  wipe(scalars: HeldScalars): void {
    this.#addon.curveWipe(held<ScalarsHandle>(scalars).handle);
  }

  async multiples(scalars: HeldScalars, places: Uint32Array): Promise<Uint8Array> {
    const result = new Uint8Array(places.length * pointBytes);
    const { handle } = held<ScalarsHandle>(scalars);
    await this.#addon.curveMultiples(this.#context, handle, places, result, this.#threads);
    return result;
  }

  async encrypt({ rows, places, secrets, plaintexts }: EncryptRequest): Promise<Uint8Array> {
    const result = new Uint8Array(plaintexts.length * pointBytes);
    const [h, s] = [held<ScalarsHandle>(rows).handle, held<ScalarsHandle>(secrets).handle];
    await this.#addon.curveEncrypt(this.#context, h, places, s, plaintexts, result, this.#threads);
    return result;
  }

  async logarithms(reach: number): Promise<Logarithms> {
    assert(reach <= reachMax, "a reach within reachMax");
    // Another call may have begun to make a table meanwhile.
    for (;;) {
      const current = await logarithmsOfProcess;
      if (current !== undefined && current.reach >= reach) return current;
      logarithmsOfProcess = this.#makeLogarithms(reach);
    }
  }

  async #makeLogarithms(reach: number): Promise<NativeLogarithms> {
    const handle = this.#addon.createCurveLogarithms(reach);
    const filled = await this.#addon.curveFillLogarithms(this.#context, handle, this.#threads);
    return new NativeLogarithms(handle, filled);
  }

  async open({ secrets, points, centres, bounds, logarithms }: OpenRequest): Promise<Float64Array> {
    assert(logarithms instanceof NativeLogarithms, "a handle of this kernel");
    const result = new Float64Array(bounds.length);
    const { handle } = held<ScalarsHandle>(secrets);
    const table = logarithms.handle;
    const [context, threads] = [this.#context, this.#threads];
    refuse(await this.#addon.curveOpen(context, handle, points, centres, bounds, table, result, threads));
    return result;
  }

  points(rowCount: number, width: number): HeldPoints {
    return new Held(this.#addon.createCurvePoints(rowCount * width), rowCount, width);
  }

  async load(bytes: Uint8Array, target: HeldPoints, rows: Uint32Array): Promise<void> {
    const { handle, width } = held<PointsHandle>(target);
    refuse(await this.#addon.curveLoad(this.#context, bytes, handle, width, rows, this.#threads));
  }

  async histogram(request: HistogramRequest): Promise<readonly HeldSums[]> {
    const { rows, bins, binCounts, skippedBins, jointBins } = request;
    const sources = request.sources.map((source) => held<PointsHandle>(source));
    const cells = binCounts.reduce((sum, count) => sum + count, 0);
    const results = sources.map(({ width }) => this.#sums(cells, width));
    await this.#addon.curveHistogram(
      this.#context,
      sources.map(({ handle }) => handle),
      Uint32Array.from(sources, ({ width }) => width),
      rows,
      bins,
      binCounts,
      skippedBins,
      jointBins ? 1 : 0,
      results.map(({ handle }) => handle),
      this.#threads,
    );
    return results;
  }

  async add(a: HeldSums, b: HeldSums): Promise<HeldSums> {
    assert(a.width === b.width && a.cellCount === b.cellCount, "sums of equal sizes");
    const result = this.#sums(a.cellCount, a.width);
    const [one, other] = [held<SumsHandle>(a).handle, held<SumsHandle>(b).handle];
    await this.#addon.curveAdd(this.#context, one, other, result.handle, this.#threads);
    return result;
  }

  async encode(sums: HeldSums): Promise<Uint8Array> {
    const result = new Uint8Array(sums.cellCount * sums.width * pointBytes);
    await this.#addon.curveEncode(this.#context, held<SumsHandle>(sums).handle, result, this.#threads);
    return result;
  }

  async decode(bytes: Uint8Array, width: number): Promise<HeldSums> {
    assert(bytes.length % (width * pointBytes) === 0, "whole points");
    const result = this.#sums(bytes.length / (width * pointBytes), width);
    refuse(await this.#addon.curveDecode(this.#context, bytes, result.handle, this.#threads));
    return result;
  }

  async keys(bytes: Uint8Array): Promise<HeldKeys> {
    assert(bytes.length % pointBytes === 0, "whole points");
    const count = bytes.length / pointBytes;
    const handle = this.#addon.createCurveKeys(count);
    refuse(await this.#addon.curveMakeKeys(this.#context, bytes, handle, this.#threads));
    return new Held(handle, count, 1);
  }

  async answer(request: AnswerRequest): Promise<Uint8Array> {
    const { chainOffsets, sources, targets, suppressed, noise, masks } = request;
    const [bases, values] = [held<SumsHandle>(request.bases), held<SumsHandle>(request.values)];
    const keys = held<KeysHandle>(request.keys);
    assert(bases.width === 1 && values.width === keys.count, "a key for every value");
    const result = new Uint8Array(suppressed.length * (1 + keys.count) * pointBytes);
    await this.#addon.curveAnswer(
      this.#context,
      bases.handle,
      values.handle,
      chainOffsets,
      sources,
      targets,
      suppressed,
      noise,
      keys.handle,
      masks,
      result,
      this.#threads,
    );
    return result;
  }

  #sums(cellCount: number, width: number): Held<SumsHandle> {
    return new Held(this.#addon.createCurveSums(cellCount * width), cellCount, width);
  }
}

/** The addon checks the kind of the handle itself. */
function held<Handle>(value: unknown): Held<Handle> {
  assert(value instanceof Held, "a handle of this kernel");
  return value as Held<Handle>;
}

function refuse(invalid: number): void {
  if (invalid >= 0) throw invalidPoint(invalid);
}
