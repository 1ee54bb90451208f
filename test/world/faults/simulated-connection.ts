/**
 * One connection between an active and a passive party in a simulation: a Connect transport that calls the passive
 * party's handlers directly, with real serialisation, and on which requests, answers and pieces of streams are lost,
 * late or delivered twice. As with TCP, what is lost takes the connection with it; either end may notice later than the
 * other. A duplicate is a copy of the whole call, whose answer is discarded.
 */
import type { Membership } from "../../../src/base/membership.ts";
import {
  create,
  type DescMessage,
  fromBinary,
  type MessageInitShape,
  type MessageShape,
  toBinary,
} from "@bufbuild/protobuf";
import {
  Code,
  ConnectError,
  createContextValues,
  createHandlerContext,
  type HandlerContext,
  type Transport,
} from "@connectrpc/connect";
import type { DescMethod } from "@bufbuild/protobuf";
import { Admission } from "../../../src/wire/generated/tandem/v1/admission_pb.ts";
import { Alignment } from "../../../src/wire/generated/tandem/v1/alignment_pb.ts";
import { callerKey } from "../../../src/transport/caller.ts";
import type { PartyCalls } from "../../../src/transport/party-service.ts";
import type { FaultPlan, Place } from "./fault-plan.ts";
import { Recording } from "./recording.ts";
import { ticks } from "./ticks.ts";

/** The world around a connection. */
export interface Surroundings {
  readonly plan: FaultPlan;
  /** Which party, which attempt. */
  readonly place: Place;
  readonly activeName: string;
  /** The passive party's process, or null while there is none. */
  readonly calls: PartyCalls | null;
  /** Where members are hidden, secrets are used for one answer, and hints are sent once. */
  readonly membership: Membership;
  crashPassive(): void;
  crashActive(): void;
  /** Called with every answer to the active party, for checks. */
  seen(method: DescMethod, answer: unknown): void;
}

type Handler = (request: unknown, context: HandlerContext) => unknown;

export class SimulatedConnection {
  readonly #world: Surroundings;
  readonly #lostHere = new AbortController();
  readonly #lostThere = new AbortController();
  readonly #caller;
  readonly #calls = new Map<string, number>();
  #callCount = 0;

  constructor(world: Surroundings) {
    this.#world = world;
    this.#caller = { name: world.activeName, fingerprint: "", gone: this.#lostThere.signal };
  }

  /** The connection breaks; the passive party may notice only later, or not before it hears of the next one. */
  lose(): void {
    if (this.#lostHere.signal.aborted) return;
    const { plan, place } = this.#world;
    this.#lostHere.abort();
    if (!plan.happens("half-open connection", 0.25, ...place)) this.loseThere();
    else if (plan.draw("notices", ...place) < 0.6)
      void ticks(plan.upTo(60, "notices after", ...place)).then(() => this.loseThere());
  }

  /** The passive party's end is gone as well. */
  loseThere(): void {
    this.#lostThere.abort();
  }

  get transport(): Transport {
    return {
      unary: async (method, signal, _timeoutMs, _header, input) => {
        const answers = this.#call(method, signal, one(input));
        const first = await answers.next();
        if (first.done === true) throw new ConnectError("no answer", Code.DataLoss);
        void answers.next().catch(() => {}); // what happens after the answer
        return {
          stream: false,
          service: method.parent,
          method,
          header: new Headers(),
          trailer: new Headers(),
          message: first.value as never,
        };
      },
      stream: async (method, signal, _timeoutMs, _header, input) => ({
        stream: true,
        service: method.parent,
        method,
        header: new Headers(),
        trailer: new Headers(),
        message: this.#call(method, signal, input) as AsyncGenerator<never>,
      }),
    };
  }

  async *#call(
    method: DescMethod,
    signal: AbortSignal | undefined,
    input: AsyncIterable<MessageInitShape<DescMessage>>,
  ): AsyncGenerator<unknown> {
    const { plan } = this.#world;
    const index = this.#calls.get(method.localName) ?? 0;
    this.#calls.set(method.localName, index + 1);
    const place: Place = [...this.#world.place, method.localName, index];
    const order = ++this.#callCount;
    await this.#alive(this.#delay(place));
    if (plan.happens("active crash at a call", 0.004, ...place)) this.#world.crashActive();
    if (plan.happens("request lost", 0.006, ...place)) await this.#breakDown(place);
    if (plan.happens("passive crash at a call", 0.008, ...place)) this.#world.crashPassive();

    const sent = new Recording(this.#requests(method, input, place));
    let answered = (): void => {};
    const isAnswered = new Promise<void>((resolve) => (answered = resolve));
    // Secrets of an alignment are used once: its calls are not made twice, but anew on another connection.
    if (method.parent !== Alignment && plan.happens("duplicate", 0.06, ...place))
      void this.#duplicate(method, sent, place, order, this.#spendsSecrets(method) ? isAnswered : null);
    try {
      yield* this.#deliver(method, sent, signal, place, answered);
    } finally {
      answered();
    }
    if (plan.happens("connection lost", 0.004, ...place)) this.lose();
  }

  /** The first call gets the only answer: a copy must not overtake its original. */
  #spendsSecrets({ localName }: DescMethod): boolean {
    return this.#world.membership === "hidden" && (localName === "hints" || localName === "histograms");
  }

  async *#deliver(
    method: DescMethod,
    sent: Recording,
    signal: AbortSignal | undefined,
    place: Place,
    answered: () => void,
  ): AsyncGenerator<unknown> {
    const { plan } = this.#world;
    let count = 0;
    for await (const answer of this.#answers(method, sent.live(), this.#handlerSignal(signal))) {
      await this.#alive(this.#delay([...place, "answer", count]));
      if (plan.happens("answer lost", 0.006, ...place, count)) await this.#breakDown(place);
      if (count > 0 && plan.happens("stream cut", 0.03, ...place, "out", count)) await this.#breakDown(place);
      this.#world.seen(method, answer);
      answered();
      yield answer;
      count++;
    }
  }

  /** What the handler of the other side says, or the loss of the connection. */
  async *#answers(method: DescMethod, requests: AsyncIterable<unknown>, signal: AbortSignal): AsyncGenerator<unknown> {
    const context = createHandlerContext({
      service: method.parent,
      method,
      protocolName: "simulated",
      requestMethod: "POST",
      url: "",
      requestSignal: signal,
      contextValues: createContextValues().set(callerKey, this.#caller),
    });
    const output = this.#handler(method)(
      method.methodKind === "unary" || method.methodKind === "server_streaming"
        ? await this.#alive(first(requests))
        : requests,
      context,
    );
    if (method.methodKind === "unary" || method.methodKind === "client_streaming") {
      yield delivered(method.output, (await this.#alive(output as Promise<never>)) as never);
      return;
    }
    const iterator = (output as AsyncIterable<never>)[Symbol.asyncIterator]();
    try {
      for (;;) {
        const next = await this.#alive(iterator.next());
        if (next.done === true) return;
        yield delivered(method.output, next.value);
      }
    } finally {
      void Promise.resolve(iterator.return?.()).catch(() => {});
    }
  }

  #handler(method: DescMethod): Handler {
    const { calls } = this.#world;
    if (calls === null || this.#lostThere.signal.aborted) throw lost();
    const { admission, alignment, jobs } = calls;
    const service: object = method.parent === Alignment ? alignment : method.parent === Admission ? admission : jobs;
    return (service as Record<string, Handler>)[method.localName].bind(service);
  }

  /** Requests as the other side reads them, cut where the connection breaks. */
  async *#requests(
    method: DescMethod,
    input: AsyncIterable<MessageInitShape<DescMessage>>,
    place: Place,
  ): AsyncGenerator<unknown> {
    let count = 0;
    for await (const message of input) {
      if (this.#lostHere.signal.aborted || this.#lostThere.signal.aborted) throw lost();
      if (count > 0 && this.#world.plan.happens("stream cut", 0.02, ...place, "in", count)) {
        this.lose();
        throw lost();
      }
      yield delivered(method.input, message);
      count++;
    }
  }

  /** @param after null: at any time */
  async #duplicate(
    method: DescMethod,
    sent: Recording,
    place: Place,
    order: number,
    after: Promise<void> | null,
  ): Promise<void> {
    const { plan } = this.#world;
    await after;
    await ticks(plan.upTo(plan.draw("how late", ...place) < 0.5 ? 3 : 80, "late", ...place));
    if (this.#callCount > order) plan.counts["late duplicate"]++;
    try {
      const answers = this.#answers(method, sent.again(), this.#handlerSignal(undefined));
      while ((await answers.next()).done !== true);
    } catch {
      // Refused, or the connection is gone: the answer is not awaited.
    }
  }

  /** Something was lost: after a while the connection is given up. */
  async #breakDown(place: Place): Promise<never> {
    await ticks(this.#world.plan.upTo(5, "given up", ...place));
    this.lose();
    throw lost();
  }

  async #delay(place: Place): Promise<void> {
    const { plan } = this.#world;
    if (plan.happens("delay", 0.2, ...place)) await ticks(1 + plan.upTo(6, "turns", ...place));
  }

  #handlerSignal(signal: AbortSignal | undefined): AbortSignal {
    return signal === undefined ? this.#lostThere.signal : AbortSignal.any([this.#lostThere.signal, signal]);
  }

  /** @throws when this end of the connection is lost first */
  async #alive<T>(work: T | Promise<T>): Promise<T> {
    const { signal } = this.#lostHere;
    let listener = (): void => {};
    const gone = new Promise<never>((_, reject) => {
      listener = () => reject(lost());
      if (signal.aborted) listener();
      else signal.addEventListener("abort", listener);
    });
    try {
      return await Promise.race([work, gone]);
    } catch (error) {
      throw ConnectError.from(error, Code.Unknown);
    } finally {
      signal.removeEventListener("abort", listener);
    }
  }
}

/** A message after its way over the wire. */
function delivered<D extends DescMessage>(schema: D, message: MessageInitShape<D>): MessageShape<D> {
  return fromBinary(schema, toBinary(schema, create(schema, message)));
}

function lost(): ConnectError {
  return new ConnectError("the connection was lost", Code.Unavailable);
}

async function first(items: AsyncIterable<unknown>): Promise<unknown> {
  for await (const item of items) return item;
  throw new ConnectError("no request", Code.DataLoss);
}

async function* one<T>(item: T): AsyncGenerator<T> {
  yield item;
}
