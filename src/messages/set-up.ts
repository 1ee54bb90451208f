/** The calls that start an attempt: its terms, the scheme's set-up, and hints where the scheme has them. */
import type { ActiveHello } from "../wire/generated/tandem/v1/tandem_pb.ts";
import { call, noBytes, type Note, observation, ofAllPieces } from "./call.ts";

const join = call<"join">()({
  part: "attempt",
  isOfVettings: true,
  entries: {
    terms: { tag: 0, sender: "active", about: "attempt", words: "the terms of the job" },
  },
  recorder({ digests }) {
    const notes: Note<"terms">[] = [];
    return {
      request: (hello) => notes.push({ kind: "terms", tree: null, node: 0, digest: digests.message(termsOf(hello)) }),
      notes: () => notes,
    };
  },
});

/** The fields of a hello that determine the messages of a job: not where an attempt begins, nor the rows. */
function termsOf(hello: ActiveHello): ActiveHello {
  return {
    ...hello,
    protocolVersion: 0,
    activeName: "",
    aligned: false,
    trainingRows: noBytes,
    trees: 0,
    jobId: noBytes,
    validationFile: false,
    commitment: noBytes,
    certificate: noBytes,
  };
}

const setUp = call<"setUp">()({
  part: "attempt",
  isOfVettings: true,
  entries: {
    "set-up": {
      tag: 1,
      sender: "active",
      about: "attempt",
      words: "the set-up",
      ofPieces: (_digests, [digest]) => digest,
      compared: "set-up",
    },
    ready: { tag: 2, sender: "passive", about: "attempt", words: "the answer to the set-up" },
  },
  observes: {
    candidates: observation({
      learner: "active",
      see: (candidateCount: number) => ({ candidateCount, bytes: 0 }),
      counts: { candidates: ({ candidateCount }) => candidateCount },
    }),
    columns: observation({
      learner: "active",
      see: (columns: readonly { readonly name: string; readonly stability?: number | undefined }[]) => ({
        columns: columns.length,
        names: columns.filter(({ name }) => name !== "").length,
        stabilities: columns.filter(({ stability }) => stability !== undefined).length,
        bytes: 0,
      }),
      counts: {
        vettedColumns: ({ columns }) => columns,
        vettedNames: ({ names }) => names,
        vettedStabilities: ({ stabilities }) => stabilities,
      },
    }),
  },
  ledger: {
    vettedColumns: {
      learner: "active",
      what:
        "in a vetting, which candidates belong to one column, in the order of its bins, and whether it has " +
        "categories or missing values",
      unit: "columns",
      isOncePerJob: true,
      scale: "features",
    },
    vettedNames: {
      learner: "active",
      what: "in a vetting, where the party's policy allows it, the names of its columns",
      unit: "names",
      isOncePerJob: true,
      scale: "features",
    },
    vettedStabilities: {
      learner: "active",
      what:
        "in a vetting, how far the distribution of a column among the common people is from that among the party's " +
        "other people",
      unit: "stability indices",
      isOncePerJob: true,
      scale: "features",
    },
    candidates: {
      learner: "active",
      what: "number of features and of split candidates",
      unit: "candidates in all",
      isOncePerJob: true,
      scale: "features",
    },
  },
  recorder({ digests, keepsPieces }) {
    const notes: Note<"set-up" | "ready">[] = [];
    return {
      request(message) {
        const pieces = [digests.encoded(message)];
        const digest = digests.bytes(...pieces);
        notes.push({ kind: "set-up", tree: null, node: 0, digest, ...(keepsPieces ? { pieces } : {}) });
      },
      answer: (ready) => notes.push({ kind: "ready", tree: null, node: 0, digest: digests.message(ready) }),
      notes: () => notes,
    };
  },
});

/** Where members are hidden: hints, which link the answers of each candidate over all trees. */
const hints = call<"hints">()({
  part: "attempt",
  isOfVettings: true,
  entries: {
    hints: { tag: 13, sender: "passive", about: "attempt", words: "the hints", ofPieces: ofAllPieces },
  },
  observes: {
    hints: observation({
      learner: "active",
      /** @param bytes of all messages */
      see: (candidateCount: number, bytes: number) => ({ candidateCount, bytes }),
      counts: { candidateLinks: ({ candidateCount }) => candidateCount },
    }),
  },
  ledger: {
    candidateLinks: {
      learner: "active",
      what: "which candidate is which over all trees",
      unit: "unnamed candidates",
      isOncePerJob: true,
      scale: "candidates",
    },
  },
  recorder({ digests }) {
    const pieces: Uint8Array[] = [];
    return {
      answer: ({ scheme }) => pieces.push(digests.bytes(scheme)),
      notes: () => [{ kind: "hints", tree: null, node: 0, digest: ofAllPieces(digests, pieces) }],
    };
  },
});

export const setUpCalls = { join, setUp, hints };
