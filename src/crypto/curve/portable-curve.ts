/**
 * The curve scheme's arithmetic in TypeScript, over bigint. The oracle of the native kernels, and a fallback for
 * machines without them. Unlike those it does not run in constant time.
 */
import { assert } from "../../base/assert.ts";
import { TandemError } from "../../base/error.ts";
import {
  add,
  basePoint,
  decodedAnyOrder,
  encodedAll,
  groupOrder,
  isSmallOrder,
  Multiples,
  negative,
  neutral,
  type Point,
} from "../edwards25519.ts";
import { modulo, readInteger } from "../integers.ts";
import {
  type AnswerRequest,
  type Curve,
  type CurveKernel,
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
import { PortableLogarithms } from "./portable-logarithms.ts";

export const portableCurveKernel: CurveKernel = { name: "portable", curve: () => new PortableCurve() };

class Scalars implements HeldScalars {
  values: bigint[];

  constructor(values: bigint[]) {
    this.values = values;
  }

  get count(): number {
    return this.values.length;
  }
}

class Points implements HeldPoints, HeldSums {
  readonly elements: Point[];
  readonly width: number;

  constructor(elements: Point[], width: number) {
    this.elements = elements;
    this.width = width;
  }

  get rowCount(): number {
    return this.elements.length / this.width;
  }

  get cellCount(): number {
    return this.rowCount;
  }
}

class Keys implements HeldKeys {
  readonly tables: readonly Multiples[];

  constructor(tables: readonly Multiples[]) {
    this.tables = tables;
  }

  get count(): number {
    return this.tables.length;
  }
}

let multiplesOfBase: Multiples | undefined;
let logarithmsOfProcess: PortableLogarithms | undefined;

class PortableCurve implements Curve {
  readonly kernelName = portableCurveKernel.name;

  async scalars(wide: Uint8Array): Promise<HeldScalars> {
    return new Scalars(scalarsFrom(wide));
  }

  wipe(scalars: HeldScalars): void {
    held(scalars, Scalars).values = [];
  }

  async multiples(scalars: HeldScalars, places: Uint32Array): Promise<Uint8Array> {
    const { values } = held(scalars, Scalars);
    return encodedAll(Array.from(places, (place) => ofBase(at(values, place))));
  }

  async encrypt({ rows, places, secrets, plaintexts }: EncryptRequest): Promise<Uint8Array> {
    const h = held(rows, Scalars).values;
    const s = held(secrets, Scalars).values;
    assert(plaintexts.length === places.length * s.length, "a plaintext for every row and value");
    const points: Point[] = [];
    places.forEach((place, i) =>
      s.forEach((secret, j) => {
        const exponent = BigInt(plaintexts[i * s.length + j]) + secret * at(h, place);
        points.push(ofBase(modulo(exponent, groupOrder)));
      }),
    );
    return encodedAll(points);
  }

  async logarithms(reach: number): Promise<Logarithms> {
    assert(reach <= reachMax, "a reach within reachMax");
    if (logarithmsOfProcess === undefined || logarithmsOfProcess.reach < reach)
      logarithmsOfProcess = new PortableLogarithms(reach);
    return logarithmsOfProcess;
  }

  async open({ secrets, points, centres, bounds, logarithms }: OpenRequest): Promise<Float64Array> {
    const s = held(secrets, Scalars).values;
    const table = held(logarithms, PortableLogarithms);
    const elements = decodedAll(points);
    assert(elements.length * s.length === bounds.length * (1 + s.length), "a bound for every candidate and value");
    assert(centres.length === bounds.length, "a centre for every bound");
    return bounds.map((bound, i) => {
      assert(bound <= table.reach, "a bound within the table's reach");
      if (bound < 0) return 0;
      const [candidate, value] = [Math.floor(i / s.length), i % s.length];
      const base = elements[candidate * (1 + s.length)];
      const masked = elements[candidate * (1 + s.length) + 1 + value];
      const sum = eightfold(add(masked, negative(multiple(base, s[value]))));
      const centre = ofBase(modulo(-64n * BigInt(centres[i]), groupOrder));
      return centres[i] + table.find(add(sum, centre), bound);
    });
  }

  points(rowCount: number, width: number): HeldPoints {
    return new Points(new Array<Point>(rowCount * width).fill(neutral), width);
  }

  async load(bytes: Uint8Array, target: HeldPoints, rows: Uint32Array): Promise<void> {
    const { elements, width } = held(target, Points);
    const points = decodedAll(bytes);
    assert(points.length === rows.length * width, "the points of all rows");
    rows.forEach((row, i) => {
      assert(row < target.rowCount, "a row of the table");
      for (let j = 0; j < width; j++) elements[row * width + j] = points[i * width + j];
    });
  }

  async histogram(request: HistogramRequest): Promise<readonly HeldSums[]> {
    const { sources, rows, bins, binCounts, skippedBins } = request;
    return sources.map((source) => {
      const { elements, width } = held(source, Points);
      const total = binCounts.reduce((sum, count) => sum + count, 0);
      const sums = new Array<Point>(total * width).fill(neutral);
      let first = 0;
      for (const [feature, column] of bins.entries()) {
        for (const row of rows) {
          const bin = at(column, row);
          assert(bin < binCounts[feature], "a bin of the feature");
          if (bin === skippedBins[feature]) continue;
          for (let j = 0; j < width; j++) {
            const cell = (first + bin) * width + j;
            sums[cell] = add(sums[cell], at(elements, row * width + j));
          }
        }
        first += binCounts[feature];
      }
      return new Points(sums, width);
    });
  }

  async add(a: HeldSums, b: HeldSums): Promise<HeldSums> {
    const [{ elements: one, width }, { elements: other }] = [held(a, Points), held(b, Points)];
    assert(a.width === b.width && one.length === other.length, "sums of equal sizes");
    return new Points(
      one.map((point, i) => add(point, other[i])),
      width,
    );
  }

  async encode(sums: HeldSums): Promise<Uint8Array> {
    return encodedAll(held(sums, Points).elements);
  }

  async decode(bytes: Uint8Array, width: number): Promise<HeldSums> {
    return new Points(decodedAll(bytes), width);
  }

  async keys(bytes: Uint8Array): Promise<HeldKeys> {
    const points = decodedAll(bytes);
    const small = points.findIndex(isSmallOrder);
    if (small >= 0) throw invalidPoint(small);
    return new Keys(points.map((point) => new Multiples(point)));
  }

  async answer(request: AnswerRequest): Promise<Uint8Array> {
    const { suppressed, noise, masks } = request;
    const { tables } = held(request.keys, Keys);
    const width = tables.length;
    assert(request.bases.width === 1 && request.values.width === width, "a key for every value");
    const rho = scalarsFrom(masks);
    assert(rho.length === suppressed.length, "a mask for every candidate");
    const bases = candidateSums(held(request.bases, Points), request);
    const values = candidateSums(held(request.values, Points), request);
    const points: Point[] = [];
    rho.forEach((mask, candidate) => {
      points.push(eightfold(add(bases[candidate], ofBase(mask))));
      tables.forEach((table, j) => {
        const place = candidate * width + j;
        const added = noise === null ? neutral : ofBase(modulo(BigInt(noise[place]), groupOrder));
        points.push(eightfold(add(add(values[place], added), table.by(mask))));
      });
    });
    return encodedAll(points);
  }
}

/** Running sums along the chains; suppressed candidates have the neutral point. */
function candidateSums(
  { elements, width }: Points,
  { chainOffsets, sources, targets, suppressed }: AnswerRequest,
): Point[] {
  const sums = new Array<Point>(suppressed.length * width).fill(neutral);
  for (let chain = 0; chain + 1 < chainOffsets.length; chain++)
    for (let j = 0; j < width; j++) {
      let sum = neutral;
      for (let step = chainOffsets[chain]; step < chainOffsets[chain + 1]; step++) {
        sum = add(sum, at(elements, sources[step] * width + j));
        if (targets[step] >= 0 && suppressed[targets[step]] === 0) sums[targets[step] * width + j] = sum;
      }
    }
  return sums;
}

/** @throws TandemError CIPHERTEXT_RANGE naming the first invalid point */
function decodedAll(bytes: Uint8Array): Point[] {
  assert(bytes.length % pointBytes === 0, "whole points");
  return Array.from({ length: bytes.length / pointBytes }, (_, i) => {
    try {
      return decodedAnyOrder(bytes.subarray(i * pointBytes, (i + 1) * pointBytes));
    } catch (cause) {
      throw cause instanceof TandemError ? invalidPoint(i) : cause;
    }
  });
}

function scalarsFrom(wide: Uint8Array): bigint[] {
  assert(wide.length % wideScalarBytes === 0, "whole scalars");
  return Array.from(
    { length: wide.length / wideScalarBytes },
    (_, i) => readInteger(wide, wideScalarBytes, i) % groupOrder,
  );
}

function ofBase(scalar: bigint): Point {
  multiplesOfBase ??= new Multiples(basePoint);
  return multiplesOfBase.by(scalar);
}

/** A multiple of a point that is used for few scalars, by windows of four bits. */
function multiple(point: Point, scalar: bigint): Point {
  const small = [neutral];
  for (let i = 1; i < 16; i++) small.push(add(small[i - 1], point));
  let result = neutral;
  for (const digit of scalar.toString(16)) {
    for (let i = 0; i < 4; i++) result = add(result, result);
    result = add(result, small[Number.parseInt(digit, 16)]);
  }
  return result;
}

function eightfold(point: Point): Point {
  let result = point;
  for (let i = 0; i < 3; i++) result = add(result, result);
  return result;
}

function held<T>(handle: unknown, kind: new (...parts: never[]) => T): T {
  assert(handle instanceof kind, "a handle of this kernel");
  return handle;
}

function at<T>(values: ArrayLike<T>, place: number): T {
  assert(place < values.length, "a place within the values");
  return values[place];
}
