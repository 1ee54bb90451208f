/**
 * What a party may do to its own opening to hide a deviation, or to have another party blamed. It has its own key, so
 * it can sign anything; it cannot sign for others.
 */
import { sign } from "node:crypto";
import { commitmentTo } from "../../src/protocol/chain/commitment.ts";
import { firstLink, gradientsText, nextLink, signedText } from "../../src/protocol/chain/pair-chain.ts";
import { bytesFrom, fromHex, toBase64, toHex } from "../../src/store/stored-numbers.ts";
import type { Opening } from "../../src/verify/opening.ts";
import type { Signer } from "./verified-job.ts";

export interface Cheater {
  readonly opening: Opening;
  /** The party that it deceives, and its opening. */
  readonly other: Opening;
  readonly signer: Signer;
  /** Uniform below n. */
  readonly draw: (n: number) => number;
}

export interface Evasion {
  readonly name: string;
  /** Left out: both. */
  readonly role?: Opening["role"];
  /** Left out: of either. */
  readonly scheme?: "paillier" | "lattice";
  readonly change: (cheater: Cheater) => Opening;
  /** What the auditor says; left out: it depends on the draw. */
  readonly what?: RegExp;
}

type Tree = Opening["trees"][number];
type Pair = Tree["pairs"][string];

/** The tree at this index, in what the party has with the other. */
function withPair({ opening, other }: Cheater, at: number, change: (pair: Pair) => Pair): Opening {
  const trees = opening.trees.map((tree, i) =>
    i === at ? { ...tree, pairs: { ...tree.pairs, [other.name]: change(tree.pairs[other.name]) } } : tree,
  );
  return { ...opening, trees };
}

const anyTree = ({ opening, draw }: Cheater): number => draw(opening.trees.length);

/** All links computed again, and signed with the cheater's key. */
function signedAgain({ other, signer }: Cheater, opening: Opening): Opening {
  const { role, job, run, own, peers } = opening;
  const [ownSide, theirSide] = [fromHex(own.commitment), fromHex(peers[other.name].commitment)];
  const [active, passive] = role === "active" ? [ownSide, theirSide] : [theirSide, ownSide];
  let previous = firstLink({ jobId: fromHex(run.split("/")[0]), active, passive });
  const trees = opening.trees.map((tree) => {
    const pair = tree.pairs[other.name];
    previous = nextLink(previous, tree.tree, bytesFrom(pair.entries));
    const own = toBase64(sign("sha256", signedText(role, job, tree.tree, previous), signer.key));
    return { ...tree, pairs: { ...tree.pairs, [other.name]: { ...pair, link: toHex(previous), own } } };
  });
  return { ...opening, trees };
}

function flipped(base64: string, at: number): string {
  const bytes = Buffer.from(base64, "base64");
  bytes[at % bytes.length] ^= 1;
  return bytes.toString("base64");
}

function committedAgain(opening: Opening, facts: Opening["opened"]["facts"]): Opening {
  const { salt } = opening.opened;
  const commitment = toHex(commitmentTo(fromHex(salt), facts));
  return { ...opening, opened: { salt, facts }, own: { ...opening.own, commitment } };
}

/** Those of lattice nodes are covered by the links of finished trees. */
function gradientsIn({ gradients, firstTree }: Opening): Opening["gradients"][number] {
  const [first] = gradients.length > 0 ? gradients : [{ tree: firstTree, node: 0, digest: "", signature: "AAAA" }];
  return first;
}

const cutTo =
  (count: number) =>
  ({ opening }: Cheater): Opening => ({
    ...opening,
    trees: opening.trees.slice(0, count),
    gradients: opening.gradients.filter(({ tree }) => tree < opening.firstTree + count),
  });
/** A chain that is signed again lacks the signatures of the others. */
const resigned = /signature of \w+ in its evidence is invalid|chain with telecom is broken/;
const lacks = /^it has signed this tree with \w+, and its opening lacks it$/;

export const evasions: readonly Evasion[] = [
  { name: "cuts its trees off after the second", change: cutTo(2), what: lacks },
  { name: "cuts all of its trees off", change: cutTo(0), what: lacks },
  {
    name: "leaves a tree in the middle out",
    change: ({ opening }) => ({ ...opening, trees: opening.trees.filter((_, i) => i !== 1) }),
    what: /is incomplete/,
  },
  {
    name: "leaves the first tree out, and begins with the next",
    change: ({ opening }) => ({ ...opening, firstTree: opening.firstTree + 1, trees: opening.trees.slice(1) }),
    what: /chain with \w+ is broken|not valid for this job/,
  },
  {
    name: "leaves the other out of its last tree",
    change: ({ opening, other }) => {
      const trees = opening.trees.map((tree, i) => {
        const { [other.name]: _, ...pairs } = tree.pairs;
        return i < opening.trees.length - 1 ? tree : { ...tree, pairs };
      });
      return { ...opening, trees };
    },
    what: /its opening lacks it$|do not have a valid signature of bank$/,
  },
  {
    name: "renumbers its trees",
    change: (cheater) => {
      const { opening } = cheater;
      const trees = opening.trees.slice(1).map((tree, i) => ({ ...tree, tree: opening.trees[i].tree }));
      return signedAgain(cheater, { ...opening, trees });
    },
    what: resigned,
  },
  {
    name: "says that it never met the other",
    change: ({ opening, other }) => {
      const { [other.name]: _, ...peers } = opening.peers;
      const trees = opening.trees.map((tree) => {
        const { [other.name]: __, ...pairs } = tree.pairs;
        return { ...tree, pairs };
      });
      return { ...opening, peers, trees };
    },
    what: /^it has signed messages with \w+, and opens none of them$|does not contain/,
  },
  {
    name: "shows another certificate as its own",
    change: ({ opening, other }) => ({ ...opening, own: { ...opening.own, certificate: other.own.certificate } }),
    what: /another certificate than the pinned one/,
  },
  {
    name: "shows another certificate as the other's",
    change: ({ opening, other }) => {
      const shown = { ...opening.peers[other.name], certificate: opening.own.certificate };
      return { ...opening, peers: { ...opening.peers, [other.name]: shown } };
    },
    what: /certificate of \w+ that is not the pinned one/,
  },
  {
    name: "shows another commitment as its own",
    change: ({ opening }) => ({ ...opening, own: { ...opening.own, commitment: "ab".repeat(32) } }),
    what: /not what it has committed to/,
  },
  {
    name: "commits to other inputs afterwards, and signs its chain again",
    change: (cheater) =>
      signedAgain(
        cheater,
        committedAgain(cheater.opening, { ...cheater.opening.opened.facts, sampling: "another secret" }),
      ),
    what: resigned,
  },
  {
    name: "shows another commitment as the other's, and signs its chain again",
    change: (cheater) => {
      const { opening, other } = cheater;
      const shown = { ...opening.peers[other.name], commitment: "cd".repeat(32) };
      return signedAgain(cheater, { ...opening, peers: { ...opening.peers, [other.name]: shown } });
    },
    what: resigned,
  },
  {
    name: "opens another fact than it has committed to",
    change: ({ opening }) => {
      const { salt, facts } = opening.opened;
      return { ...opening, opened: { salt, facts: { ...facts, sampling: "another secret" } } };
    },
    what: /not what it has committed to/,
  },
  {
    name: "opens another salt",
    change: ({ opening }) => ({ ...opening, opened: { ...opening.opened, salt: "00".repeat(32) } }),
    what: /not what it has committed to/,
  },
  {
    name: "changes a digest",
    change: (cheater) =>
      withPair(cheater, anyTree(cheater), (pair) => ({
        ...pair,
        entries: flipped(pair.entries, 10 + cheater.draw(20)),
      })),
    what: /chain with \w+ is broken/,
  },
  {
    name: "changes a digest, and signs its chain again",
    change: (cheater) =>
      signedAgain(
        cheater,
        withPair(cheater, anyTree(cheater), (pair) => ({
          ...pair,
          entries: flipped(pair.entries, 10 + cheater.draw(20)),
        })),
      ),
    what: resigned,
  },
  {
    name: "leaves a message out of a tree, and signs its chain again",
    change: (cheater) =>
      signedAgain(
        cheater,
        withPair(cheater, anyTree(cheater), (pair) => ({
          ...pair,
          entries: bytesFrom(pair.entries).length > 37 ? toBase64(bytesFrom(pair.entries).slice(0, -37)) : pair.entries,
        })),
      ),
    what: resigned,
  },
  {
    name: "shows its own signature as the other's",
    change: (cheater) => withPair(cheater, anyTree(cheater), (pair) => ({ ...pair, theirs: pair.own })),
    what: resigned,
  },
  {
    name: "spoils its own signature",
    change: (cheater) => withPair(cheater, anyTree(cheater), (pair) => ({ ...pair, own: flipped(pair.own, 5) })),
    what: /own signature in its evidence is invalid/,
  },
  {
    name: "spoils the other's signature",
    change: (cheater) =>
      withPair(cheater, anyTree(cheater), (pair) => ({ ...pair, theirs: flipped(pair.theirs ?? "", 5) })),
    what: resigned,
  },
  {
    name: "adds gradients that were never sent",
    role: "passive",
    change: ({ opening }) => ({
      ...opening,
      gradients: [...opening.gradients, { ...gradientsIn(opening), digest: "ab".repeat(32) }],
    }),
    what: /gradients in its evidence do not have a valid signature of bank/,
  },
  {
    name: "signs other gradients itself",
    role: "passive",
    change: ({ opening, signer }) => {
      const { tree, node } = gradientsIn(opening);
      const text = gradientsText(opening.job, new Uint8Array(32), { tree, node, digest: new Uint8Array(32) });
      const signature = toBase64(sign("sha256", text, signer.key));
      return { ...opening, gradients: [{ tree, node, digest: "00".repeat(32), signature }] };
    },
    what: /gradients in its evidence do not have a valid signature of bank/,
  },
  {
    name: "changes what the other has acknowledged with a request",
    role: "passive",
    scheme: "lattice",
    change: ({ opening, draw }) => ({
      ...opening,
      gradients: opening.gradients.map((signed, i) =>
        i > 0 ? signed : { ...signed, entries: flipped(signed.entries ?? "AAAA", 10 + draw(20)) },
      ),
    }),
    what: /gradients in its evidence do not have a valid signature of bank/,
  },
  {
    name: "leaves out a request that it has answered",
    role: "passive",
    scheme: "lattice",
    change: ({ opening, draw }) => ({
      ...opening,
      gradients: opening.gradients.toSpliced(draw(opening.gradients.length), 1),
    }),
    what: /^it has signed an answer about node \d, and its opening lacks the request$/,
  },
  {
    name: "changes what the other has signed with an answer",
    role: "active",
    scheme: "lattice",
    change: ({ opening, other, draw }) => ({
      ...opening,
      answers: opening.answers.map((answer) =>
        answer.peer === other.name ? { ...answer, entries: flipped(answer.entries, 10 + draw(20)) } : answer,
      ),
    }),
    what: /^answers in its evidence do not have a valid signature of shop$/,
  },
  {
    name: "opens other bins",
    change: ({ opening, draw }) => {
      const chosen = draw(opening.features.length);
      const features = opening.features.map((feature, i) =>
        i === chosen ? { ...feature, bins: flipped(feature.bins, 2 * draw(40)) } : feature,
      );
      return { ...opening, features };
    },
    what: /does not match its commitment: features/,
  },
  {
    name: "opens other labels",
    role: "active",
    change: ({ opening }) => {
      const { active } = opening;
      if (active === undefined) throw new Error("an active party");
      const labels = Float64Array.from(new Float64Array(bytesFrom(active.labels).buffer), (label, i) =>
        i === 10 ? 1 - label : label,
      );
      return { ...opening, active: { ...active, labels: toBase64(labels) } };
    },
    what: /does not match its commitment: labels/,
  },
  {
    name: "opens other parameters",
    role: "active",
    change: ({ opening }) => {
      const { active } = opening;
      if (active === undefined) throw new Error("an active party");
      const parameters = { ...active.parameters, training: { ...active.parameters.training, eta: 0.123 } };
      return { ...opening, active: { ...active, parameters } };
    },
    what: /does not match its commitment: training.eta/,
  },
  {
    name: "says that the other did not take part",
    role: "active",
    change: ({ opening, other }) => {
      const { active } = opening;
      if (active === undefined) throw new Error("an active party");
      return { ...opening, active: { ...active, passives: active.passives.filter((name) => name !== other.name) } };
    },
    what: /does not match its commitment: passives/,
  },
  {
    name: "says that the job had another scheme",
    role: "active",
    change: ({ opening }) => {
      const { active } = opening;
      if (active === undefined) throw new Error("an active party");
      return { ...opening, active: { ...active, scheme: active.scheme === "lattice" ? "paillier" : "lattice" } };
    },
    what: /does not match its commitment/,
  },
  {
    name: "removes an answer from its evidence",
    role: "active",
    scheme: "paillier",
    change: (cheater) => withPair(cheater, anyTree(cheater), (pair) => ({ ...pair, answers: {} })),
    what: /^the sums of node \d+ from \w+: not in its evidence/,
  },
  {
    name: "changes an answer in its evidence, and adds others that were never sent",
    role: "active",
    scheme: "paillier",
    change: (cheater) =>
      withPair(cheater, anyTree(cheater), (pair) => {
        const [[node, [first, ...rest]], ...others] = Object.entries(pair.answers ?? {});
        const junk = { 4000: [Buffer.alloc(1 << 16).toString("base64")] };
        return { ...pair, answers: { ...Object.fromEntries(others), [node]: [flipped(first, 9), ...rest], ...junk } };
      }),
    what: /^the sums of node \d+ from \w+: not in its evidence/,
  },
  {
    name: "opens another seed than its nonces were drawn with",
    role: "active",
    change: ({ opening }) => {
      const { salt, facts } = opening.opened;
      return { ...opening, opened: { salt, facts: { ...facts, seed: "00".repeat(32) } } };
    },
    what: /not what it has committed to/,
  },
  {
    name: "shows another set-up",
    role: "active",
    scheme: "paillier",
    change: (cheater) =>
      withPair(cheater, anyTree(cheater), (pair) => ({ ...pair, setUp: flipped(pair.setUp ?? "", 7) })),
    what: /^the set-up: not/,
  },
];
