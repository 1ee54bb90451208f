/**
 * The simulated world: tables, small jobs, and the roles of a federated job in one process. Everything that tests train
 * between roles is assembled here; what a test changes is an option.
 */
import { osRandom } from "../../src/base/random.ts";
import { type CodecParameters, codecWith } from "../../src/base/parameters/parameters.ts";
import type { RowColumns } from "../../src/base/rows/row-columns.ts";
import type { CustomObjective } from "../../src/gbdt/objective/custom-objective.ts";
import type { TrainingParameters } from "../../src/gbdt/parameters/training-parameters.ts";
import { TrainingRows } from "../../src/gbdt/rows/training-rows.ts";
import { binFeature, type BinnedFeature } from "../../src/gbdt/split/binning.ts";
import { binCategories, oneHotBelow } from "../../src/gbdt/split/category-binning.ts";
import { noMinimums } from "../../src/gbdt/split/offered-candidates.ts";
import type { CategoryNames } from "../../src/gbdt/split/split-test.ts";
import { resolveSections } from "../../src/party/resolve-job.ts";
import type { Defences } from "../../src/privacy/defences/defences.ts";
import { type ActiveJob, ActiveRole } from "../../src/protocol/active/role.ts";
import { idsDigest } from "../../src/protocol/ids.ts";
import { groupBits, groupText } from "../../src/protocol/interaction-groups.ts";
import type { Job } from "../../src/protocol/job.ts";
import { type AgreedParameters, agreedParameters } from "../../src/protocol/job-parameters.ts";
import { type PassiveJob, PassiveRole } from "../../src/protocol/passive/role.ts";
import { paillier } from "../../src/scheme/paillier/paillier.ts";
import type { PassiveScheme, Scheme } from "../../src/scheme/scheme.ts";
import { allShortcuts, type Shortcuts } from "../../src/scheme/shortcuts.ts";
import { connectInMemory } from "../../src/transport/in-memory.ts";
import { passiveService, type PassiveService } from "../../src/transport/passive-service.ts";
import type { PassivePeer } from "../../src/wire/peer.ts";

export interface TestTable {
  readonly labels: Float64Array;
  /** Weights, and what else says how rows are trained on. */
  readonly columns?: RowColumns;
  readonly custom?: CustomObjective;
  /** Rows that are evaluated, but not trained on. */
  readonly validationRows?: Uint32Array;
  /** Monotone constraints per party and column. */
  readonly monotone?: readonly (readonly number[])[];
  /** Interaction groups per party and column, by letters; left out: the job has none. */
  readonly groups?: readonly (readonly string[])[];
  /** Per party and column what its values stand for if they are codes of categories; null of numbers. */
  readonly categories?: readonly (readonly CategoryNames[])[];
  /** Columns per party; index 0 is the active party. */
  readonly parties: readonly (readonly Float32Array[])[];
}

export function rowsOf({ labels, columns, custom, validationRows }: TestTable): TrainingRows {
  return new TrainingRows(labels, { columns, custom, validation: validationRows });
}

export function binTable(table: TestTable, parameters: TrainingParameters): BinnedFeature[][] {
  const { training } = rowsOf(table);
  return table.parties.map((columns, party) =>
    columns.map((column, i) => {
      const names = table.categories?.[party]?.[i] ?? null;
      const name = `p${party}f${i}`;
      const binned =
        names === null
          ? binFeature(name, column, parameters.max_bin, training)
          : binCategories(name, column, names, oneHotBelow(parameters), training);
      const text = groupsOfTable(table);
      const groups = text === "" ? {} : { groups: groupBits(text, table.groups?.[party][i] ?? "") };
      return { ...binned, monotone: table.monotone?.[party][i] ?? 0, ...groups };
    }),
  );
}

/** The names of a table's interaction groups. */
export function groupsOfTable({ groups = [] }: TestTable): string {
  return groupText(groups.flat().join(""));
}

/** What a party's noise is made with in every test job. */
export function noiseSecret(party: number): Uint8Array {
  return new Uint8Array(32).fill(100 + party);
}

export function samplingSecret(party: number): string {
  return `secret of party ${party}`;
}

export interface GivenTestJob {
  readonly training?: Partial<TrainingParameters> | undefined;
  readonly codec?: Partial<CodecParameters> | undefined;
  readonly shortcuts?: Partial<Shortcuts> | undefined;
  /** Default: none. */
  readonly defences?: Partial<Defences> | undefined;
  /** Default: Paillier. */
  readonly scheme?: Pick<Scheme, "name" | "parameters"> | undefined;
  readonly key?: { readonly publicKey: { readonly bits: number } } | undefined;
  readonly interactionGroups?: string | undefined;
}

export function testJob(given: GivenTestJob, name = "test"): Job<never> {
  const { training, codec, shortcuts, defences, scheme = paillier, key, interactionGroups = "" } = given;
  return {
    name,
    ...resolveSections({
      training: { num_round: 3, max_depth: 3, max_bin: 16, min_child_weight: 0, ...training },
      privacy: defences,
    }),
    codec: codecWith(codec),
    shortcuts: { ...allShortcuts, ...shortcuts },
    scheme: scheme.name,
    schemeParameters: scheme.parameters({ keyBits: key?.publicKey.bits ?? 2048, insecureKey: true }),
    interactionGroups,
    start: null,
  };
}

export interface RolesOptions<P extends PassiveScheme> {
  readonly table: TestTable;
  readonly job: ActiveJob["job"];
  readonly scheme: ActiveJob["scheme"];
  /** Of every passive party, from 1 on. */
  readonly passiveScheme: (party: number) => P;
  /** Default: what the job says. */
  readonly agreed?: AgreedParameters;
  /** Default: the table's columns. */
  readonly binned?: readonly (readonly BinnedFeature[])[];
  /** What differs from an honest party that begins anew. */
  readonly active?: Partial<ActiveJob>;
  readonly passive?: (party: number) => Partial<PassiveJob>;
  /** What stands between a passive party's role and the transport. */
  readonly service?: (role: PassiveRole, party: number) => PassiveService;
  /** In memory unless a test brings its own transport. */
  readonly connect?: (name: string, service: PassiveService, index: number) => PassivePeer;
}

export interface SimulatedPassive<P extends PassiveScheme> {
  readonly name: string;
  readonly role: PassiveRole;
  readonly scheme: P;
  readonly service: PassiveService;
  readonly features: readonly BinnedFeature[];
}

export interface SimulatedRoles<P extends PassiveScheme> {
  readonly active: ActiveRole;
  readonly passives: readonly SimulatedPassive<P>[];
  readonly ids: readonly string[];
  readonly agreed: AgreedParameters;
}

/** The roles of a job, connected and not yet started. */
export function simulatedRoles<P extends PassiveScheme>(options: RolesOptions<P>): SimulatedRoles<P> {
  const { table, job, agreed = agreedParameters(job), binned = binTable(table, job.training) } = options;
  const { service = ({ answers }) => passiveService(answers), connect = connectInMemory } = options;
  const ids = Array.from(table.labels, (_, i) => `id-${i}`);
  const rowOf = new Map(ids.map((id, row) => [id, row]));
  const digest = idsDigest(ids);
  const passives = binned.slice(1).map((features, i): SimulatedPassive<P> => {
    const party = i + 1;
    const scheme = options.passiveScheme(party);
    const passiveJob: PassiveJob = {
      name: `passive-${party}`,
      agreed,
      idsDigest: digest,
      features,
      instanceCount: ids.length,
      samplingSecret: samplingSecret(party),
      noiseSecret: noiseSecret(party),
      permutationSecret: osRandom.fill(new Uint8Array(32)),
      minimums: noMinimums,
      scheme,
      lookUp: (id) => {
        const row = rowOf.get(id);
        return row === undefined ? null : (feature) => table.parties[party][feature][row];
      },
      categoryNames: table.categories?.[party] ?? [],
      observer: {},
      ...options.passive?.(party),
    };
    const role = new PassiveRole(passiveJob);
    return { name: passiveJob.name, role, scheme, service: service(role, party), features };
  });
  const active = new ActiveRole({
    name: "active",
    job,
    features: binned[0],
    rows: rowsOf(table),
    samplingSecret: samplingSecret(0),
    sealKey: noiseSecret(0),
    idsDigest: digest,
    scheme: options.scheme,
    columns: {
      features: table.parties[0],
      ...(table.categories === undefined ? {} : { categoryNames: table.categories[0] }),
    },
    peers: passives.map(({ name, service: own }, i) => connect(name, own, i)),
    observer: {},
    now: () => performance.now(),
    ...options.active,
  });
  return { active, passives, ids, agreed };
}
