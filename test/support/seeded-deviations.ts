/**
 * Deviations drawn from a seed: a job, what a party does in it, and what it does to its opening afterwards. A replay
 * with the same seed does the same.
 */
import { SeededRandom } from "../../src/base/random.ts";
import type { QuantisedGradients } from "../../src/base/gradients/quantised-gradients.ts";
import type { BinnedFeature } from "../../src/gbdt/split/binning.ts";
import type { SentActive } from "../../src/scheme/sent-scheme.ts";
import {
  askingOrders,
  confusing,
  forgetting,
  leavingAt,
  marking,
  otherCandidate,
  otherGradients,
  otherMembers,
  otherOrder,
  overridden,
} from "./deviating-parties.ts";
import { leavingBelow, markingAt, omittingAt, otherNoise, type Place } from "./deviating-lattice.ts";
import { evasions } from "./opening-evasions.ts";
import { randomTable } from "./tables.ts";
import type { Cheat, VerifiedJob } from "./verified-job.ts";
import type { TestTable } from "../world/simulated.ts";

export interface SeededDeviation {
  readonly name: string;
  /** Every party that deviates. */
  readonly guilty: ReadonlySet<string>;
  /** What is done in the job changes a message, whatever the job: it must be found. */
  readonly isCertain: boolean;
  readonly job: VerifiedJob;
  readonly evasion: { readonly party: "bank" | "shop"; readonly change: (typeof evasions)[number]["change"] } | null;
}

type SchemeName = NonNullable<VerifiedJob["scheme"]>;

interface InJob {
  readonly name: string;
  /** Left out: of either. */
  readonly scheme?: SchemeName;
  readonly party: "bank" | "shop";
  readonly isCertain: boolean;
  readonly cheat: (random: SeededRandom, table: TestTable) => Cheat;
  /** What the job needs for it. */
  readonly job?: Partial<VerifiedJob>;
  /** It is done in an attempt that is broken off after the root; the next attempt is honest, and refused. */
  readonly isBrokenOff?: true;
  /** Its only evidence is in the party's own opening, which is not changed. */
  readonly isAlone?: true;
}

/** Moves one gradient of one instance, in one round, by any amount within the range. */
function movedGradient(random: SeededRandom, { labels }: TestTable): (scheme: SentActive) => SentActive {
  const [round, instance, shift] = [random.below(2), random.below(labels.length), 1 + random.below(1 << 20)];
  let rounds = 0;
  return (scheme) =>
    overridden(scheme, {
      gradients: (layout, gradients, sample, ...more) => {
        const isThis = rounds++ === round;
        const columns = gradients.columns.map((column, slot) => {
          if (!isThis || slot > 0) return column;
          const largest = column.reduce((a, b) => Math.max(a, b), 1);
          return column.map((value, i) => (i === instance ? (Math.abs(value) + shift) % (largest + 1) : value));
        });
        return scheme.gradients(layout, { ...gradients, columns } as QuantisedGradients, sample, ...more);
      },
    });
}

/** Swaps two instances of different labels and bins in one column, so that the sums of the first root differ. */
function swappedRows(random: SeededRandom, { labels }: TestTable) {
  return (features: readonly BinnedFeature[]): readonly BinnedFeature[] => {
    const column = random.below(features.length);
    const { bins } = features[column];
    const one = random.below(labels.length);
    const other = labels.findIndex((label, i) => label !== labels[one] && bins[i] !== bins[one]);
    const swapped = bins.slice();
    if (other >= 0) [swapped[one], swapped[other]] = [bins[other], bins[one]];
    return features.map((feature, i) => (i === column ? { ...feature, bins: swapped } : feature));
  };
}

const inJob: readonly InJob[] = [
  {
    name: "moves a gradient",
    scheme: "paillier",
    party: "bank",
    isCertain: false, // with sampling the instance may be left out
    cheat: (random, table) => ({ activeScheme: movedGradient(random, table), isUnchecking: true }),
  },
  {
    name: "sends marks, reads the root, and comes back with true gradients",
    scheme: "paillier",
    party: "bank",
    isCertain: true,
    cheat: () => ({ activeScheme: marking, isUnchecking: true, peer: leavingAt(0).peer }),
    isBrokenOff: true,
  },
  {
    name: "trains with other labels",
    party: "bank",
    isCertain: true,
    cheat: (random, { labels }) => {
      const flipped = new Set(Array.from({ length: 1 + random.below(9) }, () => 2 + random.below(labels.length - 2)));
      return { labels: (own) => own.map((label, i) => (flipped.has(i) ? 1 - label : label)) };
    },
  },
  {
    name: "trains with other weights",
    party: "bank",
    isCertain: true,
    cheat: (random, { labels }) => ({ columns: { weight: labels.map(() => 1 + random.below(3)) } }),
  },
  {
    name: "searches with another lambda",
    party: "bank",
    isCertain: false,
    cheat: (random) => ({ training: { lambda: 5 + random.below(100) } }),
  },
  {
    name: "searches with another eta",
    party: "bank",
    isCertain: true, // the second round's gradients differ
    cheat: (random) => ({ training: { eta: (1 + random.below(20)) / 100 } }),
  },
  {
    name: "agrees on another seed",
    party: "bank",
    isCertain: true,
    cheat: (random) => ({ training: { seed: 100 + random.below(100) } }),
  },
  {
    name: "sends other members",
    scheme: "paillier",
    party: "bank",
    isCertain: false,
    cheat: () => ({ peer: otherMembers, isUnchecking: true }),
  },
  {
    name: "names another candidate",
    party: "bank",
    isCertain: false,
    cheat: () => ({ peer: otherCandidate, isUnchecking: true }),
  },
  { name: "asks for orders", party: "bank", isCertain: false, cheat: () => ({ peer: askingOrders }) },
  {
    name: "sums other rows than it has committed to",
    party: "shop",
    isCertain: true,
    cheat: (random, table) => ({ features: swappedRows(random, table) }),
  },
  {
    name: "confuses two instances at a node",
    scheme: "paillier",
    party: "shop",
    isCertain: false,
    cheat: (random, { labels }) => {
      const node = random.below(4);
      return { passiveScheme: (scheme) => confusing(scheme, labels, node) };
    },
  },
  {
    name: "leaves instances out of sums with noise",
    scheme: "paillier",
    party: "shop",
    isCertain: false,
    cheat: () => ({ passiveScheme: forgetting }),
    job: { defences: { answer_noise: 3, min_people_share: 0.05 } },
  },
  { name: "gives another order", party: "shop", isCertain: false, cheat: () => ({ answers: otherOrder }) },
  {
    name: "marks an instance at a root",
    scheme: "lattice",
    party: "bank",
    isCertain: true,
    cheat: (random) => ({ hiddenActive: markingAt(atRoot(random), 1 + random.below(99)), isUnchecking: true }),
  },
  {
    name: "marks an instance below a root",
    scheme: "lattice",
    party: "bank",
    isCertain: false, // the root may not be split
    cheat: (random) => ({ hiddenActive: markingAt(belowRoot(random), 1 + random.below(99)), isUnchecking: true }),
  },
  {
    name: "leaves an instance out below a root",
    scheme: "lattice",
    party: "bank",
    isCertain: false,
    cheat: (random) => ({ hiddenActive: omittingAt(belowRoot(random)), isUnchecking: true }),
  },
  {
    name: "marks an instance at a root, reads it, and comes back with true gradients",
    scheme: "lattice",
    party: "bank",
    isCertain: true,
    cheat: () => ({ hiddenActive: markingAt(({ node }) => node === 0), isUnchecking: true, ...leavingAt(0) }),
    isBrokenOff: true,
  },
  {
    name: "marks an instance below a root, reads it, and comes back with true gradients",
    scheme: "lattice",
    party: "bank",
    isCertain: true,
    cheat: () => ({ hiddenActive: markingAt(({ node }) => node > 0), isUnchecking: true, ...leavingBelow(0) }),
    isBrokenOff: true,
  },
  {
    name: "adds other noise",
    scheme: "lattice",
    party: "shop",
    isCertain: true,
    cheat: (random) => ({ hiddenPassive: otherNoise(atRoot(random)) }),
    job: { defences: { answer_noise: 3, min_people_share: 0.05 } },
  },
  {
    name: "adds other noise below a root",
    scheme: "lattice",
    party: "shop",
    isCertain: false,
    cheat: (random) => ({ hiddenPassive: otherNoise(belowRoot(random)) }),
    job: { defences: { answer_noise: 3, min_people_share: 0.05 } },
  },
  {
    // The bank's requests differ from the first attempt's, and from what follows from the openings.
    name: "adds other noise in a second attempt that is broken off",
    scheme: "lattice",
    party: "shop",
    isCertain: true,
    cheat: () => ({
      hiddenPassive: otherNoise(({ node }) => node === 0),
      isForgetful: true,
      ...leavingBelow(0),
    }),
    job: {
      defences: { answer_noise: 3, min_people_share: 0.05 },
      earlier: [leavingBelow(0)],
      // Telecom may be the first to refuse the other requests.
      fails:
        /^(PARTY_LOST: party shop: the bank has left$|PROTOCOL_STATE: .* (with other gradients before|too often$))/,
    },
    isAlone: true,
  },
];

const atRoot = (random: SeededRandom): ((place: Place) => boolean) => {
  const tree = random.below(2);
  return (place) => place.tree === tree && place.node === 0;
};

const belowRoot = (random: SeededRandom): ((place: Place) => boolean) => {
  const tree = random.below(2);
  return (place) => place.tree === tree && place.node > 0;
};

/** Jobs differ in what their messages depend on. */
function drawnJob(random: SeededRandom, seed: number, scheme: SchemeName): VerifiedJob {
  const ties = random.uniform() < 0.3;
  const table = randomTable(`deviation-${seed}`, {
    rows: 60 + random.below(60),
    features: [1, 1 + random.below(3), 1 + random.below(2)],
    missingFraction: random.uniform() < 0.5 ? 0.1 : 0,
    ties,
  });
  return {
    scheme,
    table,
    training: {
      num_round: 2 + random.below(2),
      max_depth: 2 + random.below(2),
      subsample: random.uniform() < 0.3 ? 0.8 : 1,
      colsample_bytree: random.uniform() < 0.3 ? 0.7 : 1,
      num_parallel_tree: random.uniform() < 0.2 ? 2 : 1,
    },
  };
}

/** One in ten is honest; of the others a third deviates in the job, a third in its opening, and a third in both. */
export function seededDeviation(seed: number, scheme: SchemeName): SeededDeviation {
  const random = new SeededRandom(`deviation/${seed}`);
  const given = drawnJob(random, seed, scheme);
  const isOf = (each: { readonly scheme?: SchemeName }): boolean => each.scheme === undefined || each.scheme === scheme;
  if (seed % 10 === 0) {
    // Ascending: an attempt must not be over before it is broken off. Trees of one round share a root.
    const trees = Array.from({ length: random.below(3) }, () =>
      random.below(given.training?.num_parallel_tree === 2 ? 1 : 2),
    );
    const earlier = trees.sort((a, b) => a - b).map(leavingAt);
    return { name: "honest", guilty: new Set(), isCertain: true, job: { ...given, earlier }, evasion: null };
  }
  const cheats = inJob.filter(isOf);
  const deviation = seed % 3 === 0 ? null : cheats[random.below(cheats.length)];
  const evader =
    seed % 3 === 1 || deviation?.isAlone === true
      ? null
      : (deviation?.party ?? (random.below(2) === 0 ? "bank" : "shop"));
  const role = evader === "bank" ? "active" : "passive";
  const possible = evasions.filter((each) => isOf(each) && (each.role === undefined || each.role === role));
  const evasion = evader === null ? null : possible[random.below(possible.length)];
  const cheat = deviation?.cheat(random, given.table) ?? {};
  const whole = { ...given.training, subsample: 1 }; // the marked instance is not left out
  const brokenOff = { ...cheat, fails: leavingAt(0).fails };
  const attempts =
    deviation?.isBrokenOff === true ? { training: whole, earlier: [brokenOff], fails: otherGradients } : { cheat };
  return {
    name: [deviation, evasion].flatMap((each) => (each === null ? [] : [each.name])).join(", and "),
    guilty: new Set([deviation?.party ?? evader ?? ""]),
    isCertain: deviation?.isCertain === true,
    job: { ...given, ...deviation?.job, ...attempts },
    evasion: evader === null || evasion === null ? null : { party: evader, change: evasion.change },
  };
}
