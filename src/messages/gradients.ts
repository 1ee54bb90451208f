/** The encrypted gradients of a gradient round: the sampled instances, and all chunks in order. */
import type { ActiveGradients } from "../wire/generated/tandem/v1/tandem_pb.ts";
import { call, type Digests, noBytes, observation, ofAllPieces } from "./call.ts";

type GradientChunk = Pick<ActiveGradients, "tree" | "sequence" | "scheme" | "sampled">;

const gradients = call<"gradients">()({
  part: "tree",
  entries: {
    sample: { tag: 3, sender: "active", about: "tree", words: "the sample" },
    gradients: {
      tag: 4,
      sender: "active",
      about: "tree",
      words: "the gradients",
      ofPieces: ofAllPieces,
      compared: "gradients",
    },
  },
  observes: {
    gradients: observation({
      learner: "passive",
      see: ({ tree, sequence, scheme, sampled }: GradientChunk, ciphertexts: number) => ({
        tree,
        ciphertexts,
        isFirst: sequence === 0,
        /** Bitmap of the instances that are sampled; empty: all, or not the first chunk. */
        sampled,
        bytes: scheme.length + sampled.length,
      }),
      counts: { encryptedGradients: ({ ciphertexts }) => ciphertexts },
    }),
  },
  ledger: {
    encryptedGradients: {
      learner: "passive",
      what: "encrypted gradients only",
      unit: "ciphertexts",
      scale: "ciphertexts",
    },
  },
  recorder({ digests }) {
    let first: ActiveGradients | null = null;
    const chunks: Uint8Array[] = [];
    return {
      request(chunk) {
        first ??= chunk;
        if (!chunk.last) chunks.push(digests.shared(chunk.scheme));
      },
      notes() {
        if (first === null) return [];
        const { tree } = first;
        return [
          { kind: "sample", tree, node: 0, digest: sampleDigest(digests, first) },
          { kind: "gradients", tree, node: 0, digest: ofAllPieces(digests, chunks) },
        ];
      },
    };
  },
  copyOf: ({ tree }) => tree,
});

/** The sampled instances, and the fraction of columns sampled per tree where it differs from the agreed one. */
function sampleDigest(digests: Digests, { sampled, colsampleBytree: rate }: ActiveGradients): Uint8Array {
  return digests.bytes(sampled, rate === 0 ? noBytes : new Uint8Array(Float64Array.of(rate).buffer));
}

export const gradientCalls = { gradients };
