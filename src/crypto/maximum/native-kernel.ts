/** The native kernels of the comparison of candidates (native/maximum/), if the addon loads on this machine. */
import { assert } from "../../base/assert.ts";
import { loadAddonFile } from "../native-addon-file.ts";
import { baseCount, keyBytes } from "../transfer/base-ot.ts";
import { wordsPerBlock } from "../transfer/block-cipher.ts";
import { maskWords } from "../transfer/matrix-proof.ts";
import { correctionBits, type LeafStreams, type MaximumKernel, type ProductJob } from "./kernel.ts";
import { packedBytes } from "./packed-bits.ts";
import { zeros } from "./wide-residues.ts";

declare const contextBrand: unique symbol;
declare const leavesBrand: unique symbol;

/** Opaque handles; their memory belongs to the addon. */
interface Context {
  readonly [contextBrand]: true;
}
interface Leaves {
  readonly [leavesBrand]: true;
}

/** AES on two blocks at once, AES on one, and portable C++. */
export type NativeMaximumName = "vaes" | "aesni" | "scalar";

type ProductArguments = [
  context: Context,
  rows: Uint32Array,
  place: Uint32Array,
  bits: number,
  factors: Uint32Array,
  uses: Uint32Array,
  widths: Uint8Array,
];

/** The other side of native/maximum/calls.cpp. Places are a block or row, and the batch in two words. */
interface NativeMaximumAddon {
  /** What this processor can run, best first. */
  maximumKernels(): NativeMaximumName[];
  createMaximum(kernel: NativeMaximumName): Context;
  createMaximumLeaves(context: Context, keys: Uint8Array, treeCount: number, hasMissing: 0 | 1): Leaves;
  maximumFold(leaves: Leaves, place: Uint32Array, columns: Uint32Array, sums: Uint32Array, threads: number): void;
  maximumColumnHashes(
    context: Context,
    point: Uint8Array,
    columns: Uint32Array,
    blockCount: number,
    result: Uint32Array,
  ): void;
  maximumRows(columns: Uint32Array, result: Uint32Array, threads: number): void;
  maximumHashWords(
    context: Context,
    rows: Uint32Array,
    place: Uint32Array,
    added: Uint32Array,
    result: Uint32Array,
    threads: number,
  ): void;
  maximumCorrections(
    ...job: [
      ...ProductArguments,
      secret: Uint32Array,
      numbers: Uint32Array,
      message: Uint8Array,
      held: Uint32Array,
      threads: number,
    ]
  ): void;
  maximumSenderShares(
    ...job: [
      ...ProductArguments,
      numbers: Uint32Array,
      held: Uint32Array,
      flips: Uint8Array,
      result: Uint32Array,
      threads: number,
    ]
  ): void;
  maximumReceiverShares(
    ...job: [
      ...ProductArguments,
      choices: Uint8Array,
      flips: Uint8Array,
      message: Uint8Array,
      result: Uint32Array,
      threads: number,
    ]
  ): void;
}

interface NativeMaximumLoad {
  /** Every kernel that this processor can run, best first, with this number of threads. */
  readonly kernels: ReadonlyMap<NativeMaximumName, MaximumKernel>;
  /** Why there is none. */
  readonly cause?: unknown;
}

let addon: { readonly loaded?: NativeMaximumAddon; readonly cause?: unknown } | undefined;

/** Loads once per process; a missing addon is a result, not an error. */
export function loadNativeMaximum(threads = 1): NativeMaximumLoad {
  addon ??= tryLoad();
  const { loaded, cause } = addon;
  if (loaded === undefined) return { kernels: new Map(), cause };
  return { kernels: new Map(loaded.maximumKernels().map((name) => [name, nativeKernel(loaded, name, threads)])) };
}

function tryLoad(): { loaded?: NativeMaximumAddon; cause?: unknown } {
  try {
    const loaded = loadAddonFile() as NativeMaximumAddon;
    loaded.maximumKernels();
    return { loaded };
  } catch (cause) {
    return { cause };
  }
}

function placeOf(first: number, batch: number): Uint32Array {
  return Uint32Array.of(first, batch, batch / 2 ** 32);
}

function nativeKernel(native: NativeMaximumAddon, name: NativeMaximumName, threads: number): MaximumKernel {
  const context = native.createMaximum(name);
  const productArguments = ({ rows, first, batch, bits, factors, uses, widths }: ProductJob): ProductArguments => [
    context,
    rows,
    placeOf(first, batch),
    bits,
    factors,
    uses,
    widths,
  ];
  return {
    name: `native-${name}`,

    leaves(trees): LeafStreams {
      const [{ length: leafCount }] = trees;
      const keys = new Uint8Array(trees.length * leafCount * keyBytes);
      const hasMissing = trees[0].includes(null);
      for (const [tree, leaves] of trees.entries()) {
        const missing = leaves.indexOf(null);
        assert(missing >= 0 === hasMissing, "a missing leaf in every tree, or in none");
        for (let i = 0; i < leafCount; i++) {
          const key = leaves[hasMissing ? i ^ missing : i];
          if (key !== null) keys.set(key, (tree * leafCount + i) * keyBytes);
        }
      }
      const handle = native.createMaximumLeaves(context, keys, trees.length, hasMissing ? 1 : 0);
      return {
        fold: ({ batch, block }, _wordCount, columns, sums) =>
          native.maximumFold(handle, placeOf(block, batch), columns, sums, threads),
      };
    },

    columnHashes(point, columns, wordCount) {
      const hashes = new Uint32Array((columns.length / wordCount) * wordsPerBlock);
      native.maximumColumnHashes(context, point, columns, wordCount / wordsPerBlock, hashes);
      return hashes;
    },

    rows(columns, wordCount) {
      const rows = new Uint32Array(baseCount * (wordCount - maskWords));
      native.maximumRows(columns, rows, threads);
      return rows;
    },

    hashWords({ rows, batch, first }, added = new Uint32Array(0)) {
      const hashes = new Uint32Array(rows.length / wordsPerBlock);
      native.maximumHashWords(context, rows, placeOf(first, batch), added, hashes, threads);
      return hashes;
    },

    corrections(job, secret, numbers) {
      const corrections = new Uint8Array(packedBytes(correctionBits(job)));
      const held = zeros(job.bits * job.widths.length);
      native.maximumCorrections(...productArguments(job), secret, numbers, corrections, held, threads);
      return { corrections, held };
    },

    senderShares(job, numbers, held, flips) {
      const shares = zeros(job.widths.length);
      native.maximumSenderShares(...productArguments(job), numbers, held, flips, shares, threads);
      return shares;
    },

    receiverShares(job, choices, flips, corrections) {
      const shares = zeros(job.widths.length);
      native.maximumReceiverShares(...productArguments(job), choices, flips, corrections, shares, threads);
      return shares;
    },
  };
}
