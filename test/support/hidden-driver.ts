/**
 * A passive party's role with the lattice scheme, driven message by message: what is sealed can be changed on its way.
 */
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import type { Defences } from "../../src/privacy/defences/defences.ts";
import type { TrainingParameters } from "../../src/gbdt/parameters/training-parameters.ts";
import { quantise } from "../../src/codec/batch-codec.ts";
import { gradientLayout } from "../../src/codec/gradient-layout.ts";
import { noMinimums } from "../../src/gbdt/split/offered-candidates.ts";
import { nodesOfJob, outputsPerTree, runOf } from "../../src/protocol/hidden/terms.ts";
import { idsDigest } from "../../src/protocol/ids.ts";
import { type AgreedParameters, agreedParameters, proposedParameters } from "../../src/protocol/job-parameters.ts";
import type { AnsweredNode, NodeJournal } from "../../src/protocol/hidden/passive-answered-nodes.ts";
import type { PassiveJob } from "../../src/protocol/passive/job.ts";
import { PassiveRole } from "../../src/protocol/passive/role.ts";
import { lattice } from "../../src/scheme/lattice/lattice.ts";
import type { GradientChunk } from "../../src/scheme/scheme.ts";
import { type LatticeNode, LatticeNodeSchema } from "../../src/wire/generated/tandem/v1/lattice_pb.ts";
import {
  ActiveHelloSchema,
  type ActiveNode,
  ActiveNodeSchema,
  ActiveSetUpSchema,
  ActiveSplitDecisionsSchema,
  ActiveTreeFinishedSchema,
} from "../../src/wire/generated/tandem/v1/tandem_pb.ts";
import { protocolVersion } from "../../src/wire/version.ts";
import { collect } from "./streams.ts";
import { binTable, testJob } from "../world/simulated.ts";

export const rowCount = 10;
const column = Float32Array.of(1, 2, 3, Number.NaN, 1, 2, 3, Number.NaN, 1, 2);
const table = { labels: Float64Array.from(column, (_, i) => i % 2), parties: [[column], [column]] };
const ids = Array.from(column, (_, i) => `id-${i}`);

export interface HiddenOptions {
  readonly training?: Partial<TrainingParameters>;
  readonly defences?: Partial<Defences>;
  /** Agreed on in place of what follows from the parameters. */
  readonly agreed?: Partial<AgreedParameters>;
  readonly passive?: Partial<Pick<PassiveJob, "progress" | "store" | "admitNode" | "nodeJournal">>;
  /** The seeds of the job, which are the same in every attempt; left out: drawn. */
  readonly seeds?: { readonly active: Uint8Array; readonly passive: Uint8Array };
}

/** A journal that outlives attempts. */
export class KeptNodes implements NodeJournal {
  nodes: AnsweredNode[] = [];
  fails = false;

  async read(): Promise<readonly AnsweredNode[]> {
    return [...this.nodes];
  }

  async add(nodes: readonly AnsweredNode[]): Promise<void> {
    if (this.fails) throw new Error("no space left");
    this.nodes.push(...nodes);
  }
}

/** What travels in place of an honest message. */
export type NodeChange = Partial<Pick<LatticeNode, "output" | "firstRecord" | "records">>;

export class HiddenDriver {
  readonly agreed: AgreedParameters;
  readonly role: PassiveRole;
  readonly active;
  readonly #passive;
  readonly #layout;
  readonly #gradients;
  candidateCount = 0;

  private constructor(
    active: ReturnType<typeof lattice.active>,
    { training, defences, agreed, seeds, passive = {} }: HiddenOptions,
  ) {
    this.active = active;
    this.#passive = lattice.passive({ threads: 1, seed: seeds?.passive });
    const given = testJob({ training: { num_round: 2, max_depth: 3, ...training }, defences, scheme: lattice });
    this.agreed = { ...agreedParameters(given), ...agreed };
    const values = [
      Float64Array.from(column, (_, i) => (i % 2 === 0 ? 0.5 : -0.25)),
      Float64Array.from(column, (_, i) => 0.25 - i / 100),
    ];
    const bounds = [
      { min: -1, max: 1 },
      { min: 0, max: 0.25 },
    ];
    this.#layout = gradientLayout(given.codec, active.plaintextBitsMax, { values, bounds }, null, true);
    this.#gradients = quantise(this.#layout, values);
    this.role = new PassiveRole({
      name: "shop",
      agreed: this.agreed,
      idsDigest: idsDigest(ids),
      features: binTable(table, given.training)[1],
      instanceCount: rowCount,
      permutationSecret: new Uint8Array(32).fill(3),
      minimums: noMinimums,
      scheme: this.#passive,
      lookUp: () => null,
      observer: { joined() {}, roundBegan() {}, treeFinished() {} },
      ...passive,
    });
  }

  static async of(options: HiddenOptions = {}): Promise<HiddenDriver> {
    const secret = await lattice.makeSecret({ keyBits: 0, insecureKey: true });
    return new HiddenDriver(lattice.active(secret, { threads: 1, seed: options.seeds?.active }), options);
  }

  /** Joined, set up, and its hints taken. */
  static async ready(options: HiddenOptions = {}): Promise<HiddenDriver> {
    const driver = await HiddenDriver.of(options);
    driver.join();
    await driver.setUp(await driver.setUpMessage());
    await driver.takeHints();
    return driver;
  }

  /** In the first round: its root is answered. */
  static async growing(options: HiddenOptions = {}): Promise<HiddenDriver> {
    const driver = await HiddenDriver.ready(options);
    await driver.sums(0, 0);
    return driver;
  }

  /** @returns what the scheme greets with */
  join(): Uint8Array {
    const hello = {
      protocolVersion,
      activeName: "bank",
      instanceCount: rowCount,
      parameters: proposedParameters(this.agreed),
    };
    return (
      this.role.join(create(ActiveHelloSchema, { ...hello, idsDigest: idsDigest(ids) })).scheme ?? new Uint8Array(0)
    );
  }

  get greetings(): readonly Uint8Array[] {
    return [this.#passive.greeting()];
  }

  setUpMessage(greetings: readonly Uint8Array[] = this.greetings): Promise<Uint8Array> {
    const { agreed } = this;
    return this.active.setUp({
      layout: this.#layout,
      instanceCount: rowCount,
      run: runOf("test", new Uint8Array(0)),
      nodesMax: nodesOfJob(agreed),
      outputsPerTree: outputsPerTree(agreed),
      greetings,
      rows: null,
      candidatesMax: 100,
      masksSums: false,
    });
  }

  async setUp(scheme: Uint8Array): Promise<void> {
    this.candidateCount = (await this.role.setUp(create(ActiveSetUpSchema, { scheme }))).candidateCount ?? 0;
  }

  hints(): Promise<Uint8Array[]> {
    return collect(this.role.answers.hints()).then((all) => all.map(({ scheme }) => scheme ?? new Uint8Array(0)));
  }

  async takeHints(): Promise<void> {
    const pieces = await this.hints();
    await this.active.hints(0, this.candidateCount, all(pieces));
  }

  /**
   * A node's messages, cut into this number, as an honest party sends them.
   * @param members the number of members: the first instances
   */
  async sealed(tree: number, node: number, count = 1, members = rowCount): Promise<ActiveNode[]> {
    const sampled = Uint32Array.from({ length: members }, (_, i) => i);
    const outputs = [0];
    const whole = this.active.seal({ tree, node, outputs, sampled, gradients: this.#gradients });
    const [{ message }] = await collect<GradientChunk>(whole);
    const { records } = fromBinary(LatticeNodeSchema, message);
    const size = 25;
    const perMessage = Math.ceil(records.length / size / count);
    return Array.from({ length: count }, (_, i) =>
      this.message(tree, node, i + 1 < count, {
        output: 0,
        firstRecord: i * perMessage,
        records: records.slice(i * perMessage * size, (i + 1) * perMessage * size),
      }),
    );
  }

  message(tree: number, node: number, more: boolean, content: NodeChange): ActiveNode {
    const scheme = toBinary(LatticeNodeSchema, create(LatticeNodeSchema, content));
    return create(ActiveNodeSchema, { tree, node, more, scheme });
  }

  /** @param isSendable what the last message waits for @returns the answer's pieces */
  ask(messages: readonly ActiveNode[], isSendable: Promise<unknown> = Promise.resolve()) {
    return collect(this.role.answers.histograms(all(messages, isSendable)));
  }

  /** Asks about a node and opens the answer: sums of g and h by candidate. */
  async sums(tree: number, node: number): Promise<Float64Array> {
    return this.opened(await this.ask(await this.sealed(tree, node)));
  }

  opened([{ tree, node, counts, scheme }]: Awaited<ReturnType<HiddenDriver["ask"]>>): Promise<Float64Array> {
    const ones = counts.map(() => 1);
    return this.active.sums(this.#layout, scheme, ones, { peer: 0, tree, node });
  }

  split(tree: number, node: number, candidate: number) {
    const decisions = [{ node, named: { case: "candidate" as const, value: candidate } }];
    return collect(this.role.answers.splits(create(ActiveSplitDecisionsSchema, { tree, decisions })));
  }

  finishTree(tree: number): Promise<void> {
    return this.role.answers.finishTree(create(ActiveTreeFinishedSchema, { tree }));
  }

  close(): void {
    this.active.close?.();
    this.#passive.close?.();
  }
}

async function* all<T>(items: readonly T[], isSendable: Promise<unknown> = Promise.resolve()): AsyncGenerator<T> {
  yield* items.slice(0, -1);
  await isSendable;
  yield* items.slice(-1);
}
