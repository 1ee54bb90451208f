/**
 * What stands between a passive party and the wire: it answers one call of a job otherwise than the party would. The
 * calls come from the services' descriptors.
 */
import {
  create,
  type DescMessage,
  type DescMethod,
  type MessageInitShape,
  type MessageShape,
} from "@bufbuild/protobuf";
import { Code, ConnectError, type ConnectRouter, type HandlerContext } from "@connectrpc/connect";
import { errorCodes, TandemError } from "../../../src/base/error.ts";
import type { SeededRandom } from "../../../src/base/random.ts";
import { toWireError } from "../../../src/transport/wire-error.ts";
import { callsTo, everyCall, type Messages } from "../../../src/wire/every-call.ts";
import type { HostileJob } from "./hostile-job.ts";
import { forgedLine, pick } from "./hostile-values.ts";
import { mutateMessage } from "./mutate-message.ts";

/** Which answer of a job is another one: that to the n-th call of this name. */
export interface Aim {
  readonly call: string;
  readonly index: number;
}

type Answer = MessageShape<DescMessage>;

/** How long a party says nothing before it hangs up. */
const silentMs = 300;

export class HostileAnswers {
  readonly #job: HostileJob;
  readonly #aims: readonly Aim[];
  readonly #counts = new Map<string, number>();
  /** The calls that came, in their order. */
  readonly calls: Aim[] = [];

  /** @param aims none: everything is answered as it should be */
  constructor(job: HostileJob, aims: readonly Aim[]) {
    this.#job = job;
    this.#aims = aims;
  }

  /** @returns the draws of a call that is aimed at; null: it is not */
  begun({ localName: call }: DescMethod): SeededRandom | null {
    const index = this.#counts.get(call) ?? 0;
    this.#counts.set(call, index + 1);
    this.calls.push({ call, index });
    const isAimedAt = this.#aims.some((aim) => aim.call === call && aim.index === index);
    return isAimedAt ? this.#job.random("answer", call, index) : null;
  }

  /** Instead of those that the party gives. */
  answers(method: DescMethod, honest: () => Messages<Answer>, random: SeededRandom): AsyncGenerator<Answer> {
    const isOne = method.methodKind === "unary" || method.methodKind === "client_streaming";
    return isOne ? this.#one(method, honest, random) : this.#many(method, honest, random);
  }

  async *#one(method: DescMethod, honest: () => Messages<Answer>, random: SeededRandom): AsyncGenerator<Answer> {
    await this.#trouble(method, random);
    for await (const answer of honest()) yield this.#changed(method, answer, random);
  }

  async *#many(method: DescMethod, honest: () => Messages<Answer>, random: SeededRandom): AsyncGenerator<Answer> {
    const change =
      random.below(10) < 6 ? "contents" : pick(random, ["first", "double", "drop", "end", "late"] as const);
    if (change === "first") await this.#trouble(method, random, true);
    const place = random.below(3);
    let count = 0;
    for await (const answer of honest()) {
      const isPlace = count++ === place || (count === 1 && method.localName === "join");
      if (change === "contents")
        yield isPlace || random.below(4) === 0 ? this.#changed(method, answer, random) : answer;
      else if (isPlace && change === "drop") {
        this.#note(`${method.localName}: answer dropped`);
        if (method.localName === "join") return; // it would last as long as the job
      } else yield answer;
      if (!isPlace) continue;
      if (change === "late") await this.#trouble(method, random, true);
      if (change === "double") {
        this.#note(`${method.localName}: answer doubled`);
        yield answer;
      }
      if (change === "end") return this.#note(`${method.localName}: answers broken off`);
    }
  }

  #changed(method: DescMethod, honest: Answer, random: SeededRandom): Answer {
    let answer = honest;
    for (let i = random.below(6) === 0 ? 3 : 1; i > 0; i--) {
      const { message, path } = mutateMessage(method.output, answer, random);
      answer = message;
      this.#job.messages++;
      this.#note(path);
    }
    return answer;
  }

  /** Now and then an error, or silence and then the end of the call. */
  async #trouble(method: DescMethod, random: SeededRandom, always = false): Promise<void> {
    if (!always && random.below(6) > 0) return;
    const text = pick(random, ["", `gone\n${forgedLine}\n`, "x".repeat(9000), "\u001b[2J \u202e \u0000"]);
    const kind = random.below(3);
    this.#note(`${method.localName}: ${["an error", "another error", "silence"][kind]} instead`);
    if (kind === 0) throw toWireError(new TandemError(pick(random, codes), text));
    if (kind === 1)
      throw new ConnectError(text, 1 + random.below(16), { "tandem-code": pick(random, ["", "NONE", "A"]) });
    await new Promise((resolve) => setTimeout(resolve, silentMs));
    throw new ConnectError("", Code.Unavailable);
  }

  #note(what: string): void {
    this.#job.calls++;
    this.#job.done.push(what);
  }
}

const codes = Object.keys(errorCodes) as (keyof typeof errorCodes)[];

/** A router whose services answer as the job under way wants. @param current asked at every call */
export function hostileRouter(router: ConnectRouter, current: () => HostileAnswers | null): ConnectRouter {
  const hostile: ConnectRouter = {
    ...router,
    service(service, implementation, options) {
      const honest = callsTo<HandlerContext>(implementation);
      const calls = everyCall<typeof implementation, HandlerContext>(
        service,
        async function* (method, requests, context) {
          const job = current();
          const random = job?.begun(method) ?? null;
          const answers = (): Messages => honest(method, requests, context);
          if (job === null || random === null) yield* answers();
          else yield* job.answers(method, () => eachWhole(method, answers()), random);
        },
      );
      router.service(service, calls, options);
      return hostile;
    },
  };
  return hostile;
}

async function* eachWhole(method: DescMethod, answers: Messages): AsyncGenerator<Answer> {
  for await (const answer of answers) yield create(method.output, answer as MessageInitShape<DescMessage>);
}
