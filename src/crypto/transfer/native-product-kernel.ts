/** The native kernels of products by transfers, in the addon. */
import { loadAddonFile } from "../native-addon-file.ts";
import { keyBytes } from "./base-ot.ts";
import { wordsPerBlock } from "./block-cipher.ts";
import type { ProductKernel, RowPiece } from "./product-kernel.ts";

declare const contextBrand: unique symbol;
declare const keysBrand: unique symbol;

/** Opaque handles; their memory belongs to the addon. */
interface Context {
  readonly [contextBrand]: true;
}
interface ColumnKeys {
  readonly [keysBrand]: true;
}

/** AES on two blocks at once, AES on one, and portable C++. */
export type NativeProductName = "vaes" | "aesni" | "scalar";

/** The other side of native/maximum/correlated-calls.cpp. Places are a block or row, and the batch in two words. */
interface NativeProductAddon {
  /** What this processor can run, best first. */
  maximumKernels(): NativeProductName[];
  createMaximum(kernel: NativeProductName): Context;
  maximumColumnHashes(
    context: Context,
    point: Uint8Array,
    columns: Uint32Array,
    blockCount: number,
    result: Uint32Array,
  ): void;
  createColumnKeys(context: Context, keys: Uint8Array): ColumnKeys;
  correlatedMatrix(
    keys: ColumnKeys,
    place: Uint32Array,
    rowWords: number,
    choices: Uint32Array,
    columns: Uint32Array,
    matrix: Uint8Array,
  ): void;
  correlatedColumns(
    keys: ColumnKeys,
    place: Uint32Array,
    rowWords: number,
    secret: Uint32Array,
    matrix: Uint8Array,
    columns: Uint32Array,
  ): void;
  correlatedHashes(
    context: Context,
    columns: Uint32Array,
    place: Uint32Array,
    count: number,
    width: number,
    result: Uint32Array,
  ): void;
  correlatedCorrections(
    context: Context,
    columns: Uint32Array,
    place: Uint32Array,
    count: number,
    secret: Uint32Array,
    width: number,
    limbs: number,
    values: Uint32Array,
    corrections: Uint8Array,
    kept: Uint32Array,
  ): void;
  correlatedAddChosen(
    bits: Uint8Array,
    width: number,
    limbs: number,
    corrections: Uint8Array,
    shares: Uint32Array,
  ): void;
}

interface NativeProductLoad {
  /** Every kernel that this processor can run, best first. */
  readonly kernels: ReadonlyMap<NativeProductName, ProductKernel>;
  /** Why there is none. */
  readonly cause?: unknown;
}

let loaded: NativeProductLoad | undefined;

/** Loads once per process; a missing addon is a result, not an error. */
export function loadNativeProducts(): NativeProductLoad {
  return (loaded ??= tryLoad());
}

function tryLoad(): NativeProductLoad {
  try {
    const addon = loadAddonFile() as NativeProductAddon;
    return { kernels: new Map(addon.maximumKernels().map((name) => [name, nativeProducts(addon, name)])) };
  } catch (cause) {
    return { kernels: new Map(), cause };
  }
}

function nativeProducts(native: NativeProductAddon, name: NativeProductName): ProductKernel {
  const context = native.createMaximum(name);
  const handleOf = (keys: readonly Uint8Array[]): ColumnKeys => {
    const bytes = new Uint8Array(keys.length * keyBytes);
    keys.forEach((key, i) => bytes.set(key, i * keyBytes));
    const handle = native.createColumnKeys(context, bytes);
    bytes.fill(0);
    return handle;
  };
  return {
    name: `native-${name}`,

    receiverKeys(pairs) {
      const handle = handleOf([...pairs.map(([key]) => key), ...pairs.map(([, key]) => key)]);
      return {
        piece: (piece, choices, columns, matrix) =>
          native.correlatedMatrix(handle, streamPlace(piece), rowWords(piece), choices, columns, matrix),
      };
    },

    senderKeys(keys, secret) {
      const handle = handleOf(keys);
      return {
        piece: (piece, matrix, columns) =>
          native.correlatedColumns(handle, streamPlace(piece), rowWords(piece), secret, matrix, columns),
      };
    },

    columnHashes(point, columns, wordCount) {
      const hashes = new Uint32Array((columns.length / wordCount) * wordsPerBlock);
      native.maximumColumnHashes(context, point, columns, wordCount / wordsPerBlock, hashes);
      return hashes;
    },

    hashes: (columns, piece, width, result) =>
      native.correlatedHashes(context, columns, rowPlace(piece), piece.count, width, result),

    correct: (columns, piece, secret, { width, limbs }, { values, corrections, kept }) =>
      native.correlatedCorrections(
        context,
        columns,
        rowPlace(piece),
        piece.count,
        secret,
        width,
        limbs,
        values,
        corrections,
        kept,
      ),

    addChosen: (bits, { width, limbs }, corrections, shares) =>
      native.correlatedAddChosen(bits, width, limbs, corrections, shares),
  };
}

function streamPlace({ batch, block }: RowPiece): Uint32Array {
  return Uint32Array.of(block, batch, batch / 2 ** 32);
}

function rowPlace({ batch, first }: RowPiece): Uint32Array {
  return Uint32Array.of(first, batch, batch / 2 ** 32);
}

function rowWords({ count }: RowPiece): number {
  return Math.ceil(count / 32);
}
