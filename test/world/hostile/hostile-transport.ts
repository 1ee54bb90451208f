/**
 * What stands between an active party and the wire: before, beside and instead of the calls of an honest party it makes
 * hostile ones. They are taken from the honest call itself, from an earlier one of this job, or from another job that
 * went further.
 */
import { create, type DescMessage, type DescMethod, type MessageShape } from "@bufbuild/protobuf";
import { Code, ConnectError, type Transport } from "@connectrpc/connect";
import type { SeededRandom } from "../../../src/base/random.ts";
import { Alignment } from "../../../src/wire/generated/tandem/v1/alignment_pb.ts";
import { hostileCall, makeHostileCall, type Said } from "./hostile-call.ts";
import type { HostileJob } from "./hostile-job.ts";
import { pick } from "./hostile-values.ts";

export interface HostileWays {
  /** The honest party's own connection. */
  readonly transport: Transport;
  /** Another one of the same party. */
  readonly other: () => Transport;
  /** What an honest party has said in another job, from its beginning to its end. */
  readonly elsewhere: readonly Said[];
  /** Hostile calls before each honest one, about; with 0 the party stays honest, and what it says is kept. */
  readonly callsBefore: number;
}

export class HostileTransport {
  readonly #ways: HostileWays;
  readonly #job: HostileJob;
  readonly #over: AbortSignal;
  readonly #counts = new Map<string, number>();
  /** What the honest party has said in this job. */
  readonly said: Said[] = [];
  /** The party has ended the attempt: it refuses in the same words whatever comes. */
  #isOver = false;

  constructor(ways: HostileWays, job: HostileJob, over: AbortSignal) {
    this.#ways = ways;
    this.#job = job;
    this.#over = over;
  }

  /** The way that the honest party takes. */
  get transport(): Transport {
    const { transport: inner } = this.#ways;
    return {
      unary: async (method, signal, timeoutMs, header, input, values) => {
        const [message] = await this.#around(method, [create(method.input, input)]);
        return inner.unary(method, signal, timeoutMs, header, message as typeof input, values);
      },
      stream: async (method, signal, timeoutMs, header, input, values) => {
        const messages: MessageShape<DescMessage>[] = [];
        for await (const message of input) messages.push(create(method.input, message));
        const sent = each(await this.#around(method, messages)) as typeof input;
        return inner.stream(method, signal, timeoutMs, header, sent, values);
      },
    };
  }

  /** What an honest party has ended: further calls all the same. */
  async afterwards(): Promise<void> {
    const random = this.#job.random("afterwards");
    for (let i = 0; i < 4; i++) await this.#strike(this.#source(random), random);
  }

  /** Hostile calls around an honest one. @returns what is sent in the honest one's place */
  async #around(method: DescMethod, messages: MessageShape<DescMessage>[]): Promise<MessageShape<DescMessage>[]> {
    const index = this.#counts.get(method.name) ?? 0;
    this.#counts.set(method.name, index + 1);
    const random = this.#job.random(method.name, index);
    const honest: Said = { method, messages };
    if (this.#ways.callsBefore === 0) {
      this.said.push(honest);
      return messages;
    }
    // The secrets of an alignment are used once: a second call ends it.
    const isOnce = method.parent === Alignment && method !== Alignment.method.begin;
    const { callsBefore } = this.#ways;
    const before = this.#isAimedAt(method) ? (isOnce ? 1 : random.below(2 * callsBefore)) : 0;
    for (let i = 0; i < before && !(this.#isOver && random.below(6) > 0); i++) {
      const said = random.below(10) < 7 ? honest : this.#source(random, honest);
      const strike = this.#strike(said, random);
      if (random.below(6) > 0) await strike;
    }
    this.said.push(honest);
    if (random.below(25) > 0) return messages;
    if (random.below(4) === 0) throw new ConnectError("not sent", Code.Aborted);
    const { messages: changed, mutated, what } = hostileCall(honest, random);
    this.#job.messages += mutated;
    this.#job.done.push(`instead: ${what}`);
    return method.methodKind === "unary" ? [changed[0] ?? messages[0]] : [...changed];
  }

  /** A job leaves calls alone, some more than others and most of all the first ones, so that later ones are reached. */
  #isAimedAt({ name, parent }: DescMethod): boolean {
    const share = parent === Alignment ? 0.15 : ["Join", "SetUp"].includes(name) ? 0.4 : 1;
    return this.#job.random("aim", name).uniform() < share * this.#job.random("fierceness").uniform();
  }

  async #strike(said: Said, random: SeededRandom): Promise<void> {
    const isOther = random.below(14) === 0;
    const transport = isOther ? this.#ways.other() : this.#ways.transport;
    const refusal = await makeHostileCall(transport, hostileCall(said, random), this.#job, this.#over);
    if (!isOther && refusal !== null) this.#isOver = refusal.endsWith(" under way on this connection");
  }

  /** Something that was said before, or that should be said later. */
  #source(random: SeededRandom, otherwise?: Said): Said {
    const pool = random.below(2) === 0 ? this.said : this.#ways.elsewhere;
    const said = pool.length === 0 ? (otherwise ?? pick(random, this.#ways.elsewhere)) : pick(random, pool);
    // What ends a job ends what could be tried after it.
    return said.method.localName === "finishJob" && random.below(4) > 0 ? (otherwise ?? said) : said;
  }
}

async function* each<T>(items: readonly T[]): AsyncGenerator<T> {
  yield* items;
}
