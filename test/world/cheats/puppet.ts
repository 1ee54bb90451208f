/** An active party whose calls a test makes one by one, over real TLS and with the real cipher. */
import { createPrivateKey, X509Certificate } from "node:crypto";
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { quantise } from "../../../src/codec/batch-codec.ts";
import { gradientLayout } from "../../../src/codec/gradient-layout.ts";
import type { GradientLayout } from "../../../src/codec/layout.ts";
import { RoundDigest } from "../../../src/messages/gradients.ts";
import { readIdentity } from "../../../src/party/identity.ts";
import { openChain } from "../../../src/party/job-chain.ts";
import { digests } from "../../../src/protocol/chain/digests.ts";
import { firstLink } from "../../../src/protocol/chain/pair-chain.ts";
import type { OpenChain } from "../../../src/protocol/chain/record.ts";
import { idsDigest } from "../../../src/protocol/ids.ts";
import type { SentDefence } from "../../../src/protocol/agreed-defences.ts";
import { type AgreedParameters, agreedParameters, proposedParameters } from "../../../src/protocol/job-parameters.ts";
import { schemeNamed } from "../../../src/scheme/registry.ts";
import type { SentActive } from "../../../src/scheme/sent-scheme.ts";
import { peerOver } from "../../../src/transport/peer-client.ts";
import type { TlsIdentity } from "../../../src/transport/tls-settings.ts";
import {
  type ActiveGradients,
  ActiveGradientsSchema,
  type ActiveHelloSchema,
  type ActiveSplitDecisionSchema,
  type NodeMembersSchema,
} from "../../../src/wire/generated/tandem/v1/tandem_pb.ts";
import type { PassivePeer } from "../../../src/wire/peer.ts";
import { protocolVersion } from "../../../src/wire/version.ts";
import type { Target } from "../hostile/hostile-active.ts";
import { connectHostile, type HostileConnection } from "../hostile/hostile-connection.ts";
import { bankConfig, makePeople } from "../hostile/hostile-parties.ts";
import type { Scenario } from "../hostile/hostile-scenarios.ts";

export const ids = makePeople().map(({ id }) => id);

/** What one node's answer says. */
export interface NodeSums {
  readonly counts: readonly number[];
  readonly sums: readonly number[];
}

/** What a cheat changes about its hello. */
interface HelloChanges {
  readonly parameters?: AgreedParameters;
  /** As they are sent; left out: the parameters'. */
  readonly defences?: readonly SentDefence[];
  readonly validationRows?: Uint8Array;
}

type Hello = MessageInitShape<typeof ActiveHelloSchema>;

export class Puppet {
  readonly agreed: AgreedParameters;
  readonly scheme: SentActive;
  readonly layout: GradientLayout;
  readonly #connect: () => HostileConnection;
  /** Any commitment, and its own certificate. */
  readonly #introduction: Required<Pick<Hello, "commitment" | "certificate">>;
  readonly #job: string;
  readonly #identity: TlsIdentity;
  /** Signs gradients of the first tree; null before the party has answered the hello. */
  #chain: OpenChain | null = null;
  readonly #jobId = Uint8Array.from({ length: 16 }, (_, i) => i);
  #connection: HostileConnection;
  peer: PassivePeer;

  private constructor(
    job: string,
    agreed: AgreedParameters,
    scheme: SentActive,
    layout: GradientLayout,
    identity: TlsIdentity,
    connect: () => HostileConnection,
  ) {
    this.#job = job;
    this.agreed = agreed;
    this.scheme = scheme;
    this.layout = layout;
    const certificate = Uint8Array.from(new X509Certificate(identity.certificate).raw);
    this.#introduction = { commitment: new Uint8Array(32).fill(7), certificate };
    this.#identity = identity;
    this.#connect = connect;
    this.#connection = connect();
    this.peer = peerOver("shop", this.#connection.transport);
  }

  static async of({ world, shop, port }: Target, job: string, scenario: Partial<Scenario> = {}): Promise<Puppet> {
    const config = await bankConfig(world, port, job, { name: job, ...scenario });
    const identity = await readIdentity(config.tls);
    const { codec, schemeParameters } = config.job;
    const scheme = schemeNamed(config.job.scheme);
    if (scheme.membership !== "sent") throw new Error("the puppet sends members");
    const keyBits = schemeParameters["keyBits"] ?? 0;
    const half = scheme.active(await scheme.makeSecret({ keyBits, insecureKey: true }), {});
    const agreed = agreedParameters({ ...config.job, name: job });
    const layout = gradientLayout(codec, half.plaintextBitsMax, {
      values: gradientsOf(ids.length),
      bounds: [
        { min: -1, max: 1 },
        { min: 0, max: 0.25 },
      ],
    });
    return new Puppet(job, agreed, half, layout, identity, () => connectHostile(identity, shop, port));
  }

  /** Drops its connection, and opens another. */
  reconnect(): void {
    this.close();
    this.#connection = this.#connect();
    this.peer = peerOver("shop", this.#connection.transport);
  }

  close(): void {
    this.#connection.close();
  }

  async join({ parameters = this.agreed, defences, ...changes }: HelloChanges = {}): Promise<void> {
    const proposed = proposedParameters(parameters);
    const hello: Hello = {
      protocolVersion,
      activeName: "bank",
      instanceCount: ids.length,
      idsDigest: idsDigest(ids),
      parameters: { ...proposed, ...(defences === undefined ? {} : { defences: [...defences] }) },
      jobId: this.#jobId,
      ...this.#introduction,
      ...changes,
    };
    const answer = await this.peer.join(hello, {})[Symbol.asyncIterator]().next();
    if (answer.done === true) return;
    const certificate = new X509Certificate(this.#identity.certificate);
    const { commitment: active } = this.#introduction;
    this.#chain = openChain({
      role: "active",
      job: this.#job,
      peer: "shop",
      certificate,
      key: createPrivateKey(this.#identity.key),
      tree: 0,
      previous: firstLink({ jobId: this.#jobId, active, passive: answer.value.commitment }),
    });
  }

  /** Joins, and sets the scheme up as it should be. */
  async begin(changes: HelloChanges = {}): Promise<void> {
    await this.join(changes);
    await this.setUp(await this.setUpMessage());
  }

  /** As it should be. */
  setUpMessage(): Promise<Uint8Array> {
    return this.scheme.setUp({ layout: this.layout });
  }

  async setUp(scheme: Uint8Array): Promise<void> {
    await this.peer.setUp({ scheme, skipBin: true }, {});
  }

  async gradients(tree: number, change: (chunk: ActiveGradients) => void = () => {}): Promise<void> {
    const { layout, scheme } = this;
    const round = new RoundDigest(digests);
    const signature = (): Uint8Array =>
      this.#chain?.signGradients({ tree, node: null, digest: round.digest }).signature ?? new Uint8Array(0);
    async function* chunks(): AsyncGenerator<ActiveGradients> {
      let sequence = 0;
      for await (const { message } of scheme.gradients(layout, quantise(layout, gradientsOf(ids.length)), null, tree)) {
        const chunk = create(ActiveGradientsSchema, { tree, sequence: sequence++, scheme: message });
        change(chunk);
        round.add(chunk);
        yield chunk;
      }
      yield create(ActiveGradientsSchema, { tree, sequence, last: true, signature: signature() });
    }
    await this.peer.gradients(chunks(), {});
  }

  async node(tree: number, node: number, members: MessageInitShape<typeof NodeMembersSchema>): Promise<NodeSums> {
    async function* request() {
      yield { tree, node, members, scheme: new Uint8Array(0) };
    }
    const counts: number[] = [];
    const sums: number[] = [];
    for await (const answer of this.peer.histograms(request(), {})) {
      counts.push(...answer.counts);
      const asked = { peer: 0, tree, node };
      sums.push(...(await this.scheme.sums(this.layout, answer.scheme, answer.counts, asked)));
    }
    return { counts, sums };
  }

  root(tree: number): Promise<NodeSums> {
    return this.node(tree, 0, { isRoot: true });
  }

  /** @returns who goes left */
  async split(tree: number, node: number, candidate: number): Promise<Uint8Array> {
    const request = { tree, decisions: [decision(node, candidate)] };
    for await (const { leftMembers } of this.peer.splits(request, {})) return leftMembers;
    return new Uint8Array(0);
  }
}

/** How a decision names its candidate. */
function decision(node: number, candidate: number): MessageInitShape<typeof ActiveSplitDecisionSchema> {
  return { node, named: { case: "candidate", value: candidate } };
}

function gradientsOf(count: number): [Float64Array, Float64Array] {
  return [
    Float64Array.from({ length: count }, (_, i) => (i % 3 === 0 ? 0.5 : -0.5)),
    new Float64Array(count).fill(0.25),
  ];
}
