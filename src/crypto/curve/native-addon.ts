/**
 * TypeScript declarations of the curve functions of the native addon (native/curve/calls.h). Every function is
 * deterministic; promises resolve to the index of the first invalid point, or -1.
 */
import { loadAddonFile } from "../native-addon-file.ts";

declare const contextBrand: unique symbol;
declare const scalarsBrand: unique symbol;
declare const pointsBrand: unique symbol;
declare const sumsBrand: unique symbol;
declare const keysBrand: unique symbol;
declare const logarithmsBrand: unique symbol;

/** Opaque handles; their memory belongs to the addon. */
export interface CurveContext {
  readonly [contextBrand]: true;
}
export interface ScalarsHandle {
  readonly [scalarsBrand]: true;
}
export interface PointsHandle {
  readonly [pointsBrand]: true;
}
export interface SumsHandle {
  readonly [sumsBrand]: true;
}
export interface KeysHandle {
  readonly [keysBrand]: true;
}
export interface LogarithmsHandle {
  readonly [logarithmsBrand]: true;
}

/** Portable C++; AVX2, four lanes; AVX-512 IFMA, eight lanes (native/curve/kernel.h). */
export type NativeCurveName = "scalar" | "avx2" | "ifma";

type Invalid = Promise<number>;

export interface NativeCurveAddon {
  /** What this processor can run, best first. */
  curveKernels(): NativeCurveName[];
  createCurve(kernel: NativeCurveName): CurveContext;
  createCurveScalars(count: number): ScalarsHandle;
  createCurvePoints(count: number): PointsHandle;
  createCurveSums(count: number): SumsHandle;
  createCurveKeys(count: number): KeysHandle;
  createCurveLogarithms(reach: number): LogarithmsHandle;

  curveReduce(scalars: ScalarsHandle, wide: Uint8Array, threads: number): Invalid;
  curveWipe(scalars: ScalarsHandle): void;
  curveMultiples(
    context: CurveContext,
    scalars: ScalarsHandle,
    places: Uint32Array,
    result: Uint8Array,
    threads: number,
  ): Invalid;
  curveEncrypt(
    context: CurveContext,
    rows: ScalarsHandle,
    places: Uint32Array,
    secrets: ScalarsHandle,
    plaintexts: Int32Array,
    result: Uint8Array,
    threads: number,
  ): Invalid;
  /** Resolves to the reach of the table. */
  curveFillLogarithms(context: CurveContext, logarithms: LogarithmsHandle, threads: number): Promise<number>;
  curveOpen(
    context: CurveContext,
    secrets: ScalarsHandle,
    points: Uint8Array,
    centres: Float64Array,
    bounds: Float64Array,
    logarithms: LogarithmsHandle,
    result: Float64Array,
    threads: number,
  ): Invalid;

  curveLoad(
    context: CurveContext,
    bytes: Uint8Array,
    points: PointsHandle,
    width: number,
    rows: Uint32Array,
    threads: number,
  ): Invalid;
  curveHistogram(
    context: CurveContext,
    sources: readonly PointsHandle[],
    widths: Uint32Array,
    rows: Uint32Array,
    bins: readonly Uint16Array[],
    binCounts: Uint32Array,
    skippedBins: Int32Array,
    jointBins: 0 | 1,
    results: readonly SumsHandle[],
    threads: number,
  ): Invalid;
  curveAdd(context: CurveContext, a: SumsHandle, b: SumsHandle, result: SumsHandle, threads: number): Invalid;
  curveEncode(context: CurveContext, sums: SumsHandle, result: Uint8Array, threads: number): Invalid;
  curveDecode(context: CurveContext, bytes: Uint8Array, sums: SumsHandle, threads: number): Invalid;
  /** Points of small order are invalid here. */
  curveMakeKeys(context: CurveContext, bytes: Uint8Array, keys: KeysHandle, threads: number): Invalid;
  curveAnswer(
    context: CurveContext,
    bases: SumsHandle,
    values: SumsHandle,
    chainOffsets: Uint32Array,
    sources: Uint32Array,
    targets: Int32Array,
    suppressed: Uint8Array,
    noise: Float64Array | null,
    keys: KeysHandle,
    masks: Uint8Array,
    result: Uint8Array,
    threads: number,
  ): Invalid;
}

/** @throws any error of Node if the file is missing or cannot be loaded on this machine */
export function loadCurveAddon(): NativeCurveAddon {
  return loadAddonFile() as NativeCurveAddon;
}
