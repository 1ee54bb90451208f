/** The encrypted gradients of a gradient round: the sampled instances, and all chunks in order. */
import type { ActiveGradients } from "../wire/generated/tandem/v1/tandem_pb.ts";
import { call, type Digests, noBytes, observation, ofAllPieces } from "./call.ts";

type GradientChunk = Pick<ActiveGradients, "tree" | "sequence" | "scheme" | "sampled" | "bases">;

const gradients = call<"gradients">()({
  part: "tree",
  isOfVettings: true,
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
      see: ({ tree, sequence, scheme, sampled, bases }: GradientChunk, ciphertexts: number) => ({
        tree,
        ciphertexts,
        isFirst: sequence === 0,
        /** Bitmap of the instances that are sampled; empty: all, or not the first chunk. */
        sampled,
        bytes: scheme.length + sampled.length + bases.length,
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
    const round = new RoundDigest(digests);
    return {
      request: (chunk) => round.add(chunk),
      closed: ({ tree, last }) => (last ? { tree, node: null, digest: round.digest } : null),
      notes() {
        const { first, sample, gradients } = round;
        if (first === null) return [];
        const { tree } = first;
        return [
          { kind: "sample", tree, node: 0, digest: sample },
          { kind: "gradients", tree, node: 0, digest: gradients },
        ];
      },
    };
  },
});

/** The digest of a round's gradients, chunk by chunk. */
export class RoundDigest {
  first: ActiveGradients | null = null;
  readonly #digests: Digests;
  readonly #chunks: Uint8Array[] = [];

  constructor(digests: Digests) {
    this.#digests = digests;
  }

  add(chunk: ActiveGradients): void {
    this.first ??= chunk;
    // Bases are sent in the first round of an attempt, whichever that is; the set-up has their digest.
    if (!chunk.last && chunk.bases.length === 0) this.#chunks.push(this.#digests.shared(chunk.scheme));
  }

  get sample(): Uint8Array {
    return this.first === null ? noBytes : sampleDigest(this.#digests, this.first);
  }

  get gradients(): Uint8Array {
    return ofAllPieces(this.#digests, this.#chunks);
  }

  /** Of the sampled instances and the gradients, which is what the active party signs: equal for equal questions. */
  get digest(): Uint8Array {
    return this.#digests.bytes(this.#digests.bytes(this.first?.sampled ?? noBytes), this.gradients);
  }
}

/** The sampled instances, and the fraction of columns sampled per tree where it differs from the agreed one. */
function sampleDigest(digests: Digests, { sampled, colsampleBytree: rate }: ActiveGradients): Uint8Array {
  return digests.bytes(sampled, rate === 0 ? noBytes : new Uint8Array(Float64Array.of(rate).buffer));
}

export const gradientCalls = { gradients };
