/**
 * A job of a bank with shop and telecom in one process, with commitments, chains and signatures as companies have them;
 * any of them may cheat. What is left is their openings.
 */
import { createPrivateKey, type KeyObject, X509Certificate } from "node:crypto";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { Defences } from "../../src/privacy/defences/defences.ts";
import type { TrainingParameters } from "../../src/gbdt/parameters/training-parameters.ts";
import { diskStorage } from "../../src/base/files/storage.ts";
import { generateKey, selectKernel } from "../../src/crypto/paillier/index.ts";
import type { BinnedFeature } from "../../src/gbdt/split/binning.ts";
import { noMinimums } from "../../src/gbdt/split/offered-candidates.ts";
import { isRepeatable } from "../../src/party/job-evidence.ts";
import { schemeSeedOf } from "../../src/party/scheme-seed.ts";
import type { NodeJournal } from "../../src/protocol/hidden/passive-answered-nodes.ts";
import type { HiddenActive, HiddenPassive } from "../../src/scheme/hidden-scheme.ts";
import { lattice } from "../../src/scheme/lattice/lattice.ts";
import type { PassiveScheme } from "../../src/scheme/scheme.ts";
import { addAnsweredNodes, readAnsweredNodes } from "../../src/store/answered-nodes.ts";
import { ActiveEvidence } from "../../src/party/active/job-evidence.ts";
import { activeFacts, passiveFacts } from "../../src/party/job-facts.ts";
import { PassiveEvidence } from "../../src/party/passive/job-evidence.ts";
import { recordedPeer } from "../../src/protocol/active/recorded-peer.ts";
import { idsDigest } from "../../src/protocol/ids.ts";
import { agreedParameters, firstTreeOf } from "../../src/protocol/job-parameters.ts";
import { noProgress, type PassiveProgress } from "../../src/protocol/passive/progress.ts";
import type { RoundStore, StoredAnswer } from "../../src/protocol/passive/round-store.ts";
import { addSignedGradients, readSignedGradients } from "../../src/store/round-evidence.ts";
import { toHex } from "../../src/store/stored-numbers.ts";
import type { ActiveProgress } from "../../src/protocol/active/role.ts";
import { expect } from "vitest";
import { TandemError } from "../../src/base/error.ts";
import { recordedAnswers } from "../../src/protocol/passive/recorded-answers.ts";
import { type PassiveAnswers } from "../../src/protocol/passive/role.ts";
import { PaillierPassive } from "../../src/scheme/paillier/passive.ts";
import { paillier, PaillierSecret } from "../../src/scheme/paillier/paillier.ts";
import type { SentActive, SentPassive } from "../../src/scheme/sent-scheme.ts";
import { createSelfSigned } from "../../src/transport/certificates.ts";
import { connectInMemory } from "../../src/transport/in-memory.ts";
import { passiveService } from "../../src/transport/passive-service.ts";
import { certificateFingerprint } from "../../src/transport/pinned-certificate.ts";
import { keptAnswers, keptEvidence, keptGradients, keptTrees } from "../../src/verify/kept-evidence.ts";
import { type Opening, storedFeature, storedJob, storedRows } from "../../src/verify/opening.ts";
import type { PassivePeer } from "../../src/wire/peer.ts";
import { withoutOwnChecks } from "./unchecking-bank.ts";
import type { RowColumns } from "../../src/base/rows/row-columns.ts";
import { TrainingRows } from "../../src/gbdt/rows/training-rows.ts";
import type { Job } from "../../src/protocol/job.ts";
import {
  binTable,
  noiseSecret,
  rowsOf,
  samplingSecret,
  testJob,
  type TestTable,
  simulatedRoles,
} from "../world/simulated.ts";

/** Deviations, applied between the role and its chain, so that both parties sign them. */
export interface Cheat {
  /** The bank sends other messages. */
  readonly peer?: (peer: PassivePeer) => PassivePeer;
  /** The same towards telecom. */
  readonly toTelecom?: (peer: PassivePeer) => PassivePeer;
  readonly activeScheme?: (scheme: SentActive) => SentActive;
  readonly hiddenActive?: (scheme: HiddenActive) => HiddenActive;
  /** The bank trains with other parameters than it has committed to. */
  readonly training?: Partial<TrainingParameters>;
  /** The bank trains with other labels or weights than it has committed to. */
  readonly labels?: (labels: Float64Array) => Float64Array;
  readonly columns?: RowColumns;
  /** The bank does not look whether sums and outcomes fit its gradients, since they do not. */
  readonly isUnchecking?: boolean;
  /** Shop answers in another way. */
  readonly answers?: (answers: PassiveAnswers) => PassiveAnswers;
  readonly passiveScheme?: (scheme: SentPassive) => SentPassive;
  readonly hiddenPassive?: (scheme: HiddenPassive) => HiddenPassive;
  /** Shop does not look what it has answered in earlier attempts. */
  readonly isForgetful?: boolean;
  /** Shop takes part with other columns than it has committed to. */
  readonly features?: (features: readonly BinnedFeature[]) => readonly BinnedFeature[];
  /** Shop commits anew. */
  readonly recommits?: true;
}

export interface VerifiedJob {
  /** Default: Paillier. */
  readonly scheme?: "paillier" | "lattice";
  readonly table: TestTable;
  readonly training?: Partial<TrainingParameters>;
  readonly defences?: Partial<Defences>;
  readonly cheat?: Cheat;
  /** Attempts before the last one, each of which fails. */
  readonly earlier?: readonly FailedAttempt[];
  /** How the last attempt fails; left out: it succeeds. */
  readonly fails?: RegExp;
}

export interface FailedAttempt extends Cheat {
  /** Matches code and message of the bank's error. */
  readonly fails: RegExp;
}

const names = ["bank", "shop", "telecom"];
const job = "verified";

/** The same in every job of a process. */
let made: Promise<readonly Signer[]> | null = null;

/** In the order of the parties. */
export function signers(): Promise<readonly Signer[]> {
  return (made ??= Promise.all(names.map(signerOf)));
}

/** What an auditor knows about the parties. */
export async function auditorPins(): Promise<ReadonlyMap<string, string>> {
  return new Map(
    (await signers()).map(({ certificate }, i) => [names[i], certificateFingerprint(certificate.toString())]),
  );
}

export async function verifiedJob(root: string, options: VerifiedJob): Promise<Opening[]> {
  const { table, cheat: last = {}, earlier = [], fails } = options;
  const isLattice = options.scheme === "lattice";
  const scheme = isLattice ? lattice : paillier;
  const codec = isLattice ? { resolution_bits: 20 } : {};
  const committed = testJob({ ...options, codec, scheme, key: { publicKey: { bits: 256 } } }, job);
  const { training } = committed;
  const keys = await signers();
  const fingerprints = [...(await auditorPins()).values()];
  const secret = isLattice
    ? await lattice.readSecret("lattice")
    : new PaillierSecret(await generateKey({ bits: 256, insecure: true }));
  const seed = new Uint8Array(32).fill(5);
  const binned = binTable(table, training);
  const digest = idsDigest(Array.from(table.labels, (_, i) => `id-${i}`));
  const agreed = agreedParameters({ ...committed, training: { ...training, ...last.training } });
  const jobId = new Uint8Array(16).fill(7);
  const firstTree = firstTreeOf(agreed);
  const passives = names.slice(1).map((name, i) => ({ name, fingerprint: [fingerprints[i + 1]] }));
  const folders = names.map((name) => join(root, name));
  const rows = rowsOf(table);
  const evidence = await ActiveEvidence.open({
    name: "bank",
    job,
    jobId,
    facts: activeFacts({
      name: "bank",
      passives,
      job: committed,
      idsDigest: digest,
      rows,
      features: binned[0],
      samplingSecret: samplingSecret(0),
      secret,
      seed,
      start: null,
      folds: 0,
    }),
    signer: keys[0],
    passives,
    firstTree,
    aligned: null,
    isVerifiable: true,
    isReplayable: isRepeatable(committed.scheme, committed.privacy),
    keepsAnswers: !isLattice,
    folder: folders[0],
    storage: diskStorage,
  });
  const own = passives.map(({ name }, i) => ({
    name,
    idsDigest: digest,
    instanceCount: rows.count,
    features: binned[i + 1],
    permutationSecret: new Uint8Array(32).fill(i + 1),
    samplingSecret: samplingSecret(i + 1),
    noiseSecret: noiseSecret(i + 1),
    minimums: noMinimums,
    allowsUnpacked: true,
  }));
  const stored: PassiveProgress[] = passives.map(() => noProgress);
  const rounds = passives.map((_, i) => roundStore(folders[i + 1], `${toHex(jobId)}/once`));
  let progress: ActiveProgress | undefined;
  const attempt = async (cheat: Cheat): Promise<void> => {
    const active = isLattice
      ? changed(lattice.active(secret, { threads: 1, seed }), cheat.hiddenActive)
      : changed(paillier.active(secret, { threads: 1, seed }), cheat.activeScheme);
    const tree = Math.max(progress?.trees.length ?? 0, firstTree);
    const recordOf = await evidence.attempt(tree);
    if (cheat.recommits === true) await rm(join(folders[1], "evidence.json"), { force: true });
    const records = await Promise.all(
      own.map((facts, i) => {
        const folder = folders[i + 1];
        return PassiveEvidence.open(
          {
            name: facts.name,
            job,
            jobId,
            beginning: "once",
            isFinished: false,
            facts: passiveFacts(facts),
            signer: keys[i + 1],
            peer: "bank",
            fingerprints: [fingerprints[0]],
            tree,
            firstTree,
            isVerifiable: true,
            isRepeatable: isRepeatable(committed.scheme, committed.privacy),
          },
          { party: facts.name, job, folder, storage: diskStorage, ownFiles: (work) => work() },
          (work) => work(folder, diskStorage),
        );
      }),
    );
    /** Party 1, shop, is the one that may cheat. */
    const ofCheat = <T>(party: number, honest: T, change: ((honest: T) => T) | undefined): T =>
      party === 1 && change !== undefined ? change(honest) : honest;
    const { active: role } = simulatedRoles<PassiveScheme>({
      table,
      job: { ...committed, training: { ...training, ...cheat.training } },
      agreed,
      binned,
      scheme: active,
      passiveScheme: (party) =>
        isLattice
          ? ofCheat(
              party,
              lattice.passive({ threads: 1, seed: schemeSeedOf(own[party - 1].permutationSecret) }),
              cheat.hiddenPassive,
            )
          : ofCheat<SentPassive>(party, new PaillierPassive(selectKernel(), 1), cheat.passiveScheme),
      passive: (party) => ({
        ...own[party - 1],
        features: ofCheat<readonly BinnedFeature[]>(party, binned[party], cheat.features),
        progress: ofCheat(
          party,
          stored[party - 1],
          cheat.isForgetful === true ? (known) => withoutSplits(known, tree) : undefined,
        ),
        store: async (now) => void (stored[party - 1] = now),
        roundStore: rounds[party - 1],
        nodeJournal: nodeJournal(folders[party], party === 1 && cheat.isForgetful === true),
      }),
      service: ({ answers }, party) =>
        passiveService(
          ofCheat(party, answers, cheat.answers),
          { begin: () => records[party - 1].begin(), finish: () => Promise.resolve() },
          recordedAnswers(records[party - 1]),
        ),
      connect: (name, service, i) => {
        const change = i === 0 ? cheat.peer : cheat.toTelecom;
        const peer = recordedPeer(connectInMemory(name, service), recordOf(name));
        return change?.(peer) ?? peer;
      },
      active: {
        name: "bank",
        jobId,
        rows: new TrainingRows(cheat.labels?.(rows.labels) ?? rows.labels, {
          ...rows,
          columns: { ...rows.columns, ...cheat.columns },
        }),
        ...(progress === undefined ? {} : { progress }),
        store: async (now) => {
          await evidence.store();
          progress = now;
        },
      },
    });
    const train = async (): Promise<void> => {
      await role.join();
      await evidence.begin();
      await role.train();
      await role.finish();
    };
    await (cheat.isUnchecking === true ? withoutOwnChecks(train) : train());
  };
  for (const failed of [...earlier, ...(fails === undefined ? [] : [{ ...last, fails }])]) {
    const error: unknown = await attempt(failed).catch((thrown: unknown) => thrown);
    if (!(error instanceof TandemError)) throw error ?? new Error(`an attempt succeeded; expected: ${failed.fails}`);
    expect(`${error.code}: ${error.message}`).toMatch(failed.fails);
  }
  if (fails === undefined) await attempt(last);
  return Promise.all(
    folders.map(async (folder, i): Promise<Opening> => {
      const kept = await keptEvidence(folder, i === 0 ? "active" : "passive");
      const { role, name, run, own, opened, peers: others } = kept;
      const { salt, facts } = opened;
      const trees = await keptTrees(folder, kept);
      const opening = {
        role,
        name,
        job,
        run,
        own,
        opened: { salt, facts: { ...facts } },
        firstTree,
        peers: others,
        features: binned[i].map(storedFeature),
        trees,
        gradients: i === 0 ? [] : await keptGradients(folder, kept, trees.length),
        answers: i === 0 ? await keptAnswers(folder, kept, trees) : [],
      };
      return i > 0 ? opening : { ...opening, active: activePart(table, committed) };
    }),
  );
}

/** Answers stay in memory, signed gradients are evidence. */
function roundStore(folder: string, run: string): RoundStore {
  const answers = new Map<string, StoredAnswer[]>();
  return {
    readAnswers: async (round, part) => answers.get(`${round}/${part}`) ?? null,
    addAnswers: async (round, part, more) =>
      void answers.set(`${round}/${part}`, [...(answers.get(`${round}/${part}`) ?? []), ...more]),
    readGradients: async () => (await readSignedGradients(folder, run, diskStorage)).filter(({ refused }) => !refused),
    addGradients: (gradients) => addSignedGradients(folder, run, gradients, false, diskStorage),
    refuseGradients: (gradients) => addSignedGradients(folder, run, [gradients], true, diskStorage),
    forget: async () => {},
  };
}

function changed<T>(honest: T, change: ((honest: T) => T) | undefined): T {
  return change?.(honest) ?? honest;
}

/** Of a tree that is redone. */
function withoutSplits(progress: PassiveProgress, tree: number): PassiveProgress {
  return { ...progress, splits: progress.splits.filter((split) => split.tree < tree) };
}

function nodeJournal(folder: string, isForgetful: boolean): NodeJournal {
  return {
    read: async () => (isForgetful ? [] : readAnsweredNodes(folder, "once", diskStorage)),
    add: (nodes) => addAnsweredNodes(folder, "once", nodes, diskStorage),
  };
}

export interface Signer {
  readonly certificate: X509Certificate;
  readonly key: KeyObject;
}

export async function signerOf(name: string): Promise<Signer> {
  const { certificate, key } = await createSelfSigned(name, 1);
  return { certificate: new X509Certificate(certificate), key: createPrivateKey(key) };
}

function activePart(table: TestTable, job: Job): NonNullable<Opening["active"]> {
  return { ...storedRows(rowsOf(table)), folds: [], passives: names.slice(1), ...storedJob(job) };
}
