/**
 * Records the answers of a passive role: the digests of each call are added to the chain when the role has accepted it,
 * and a tree finishes only if the active party has signed the same messages. The role is unaware of the recording.
 */
import { create, type DescMethod, type MessageInitShape } from "@bufbuild/protobuf";
import { TandemError } from "../../base/error.ts";
import { Exclusive } from "../../base/scheduling/exclusive.ts";
import type { RequestOf } from "../../messages/call.ts";
import { factsOf } from "../../messages/table.ts";
import { type AnyCall, type Messages, onlyOf, streamOf } from "../../wire/every-call.ts";
import {
  type ActiveGradients,
  type ActiveHello,
  type ActiveTreeFinished,
  PassiveHelloSchema,
  PassiveParty,
  PassiveTreeStoredSchema,
  type PassiveTreeStored,
} from "../../wire/generated/tandem/v1/tandem_pb.ts";
import { protocolVersion } from "../../wire/version.ts";
import type { OpenChain, PassivePairRecord } from "../chain/record.ts";
import { type AnyRecorder, recordedCall, recorderOf } from "../chain/recording.ts";

export function recordedAnswers<More>(record: PassivePairRecord): (answers: AnyCall<More>) => AnyCall<More> {
  return (answers) => {
    const recording = new AnswerRecording(answers, record);
    return (...call) => recording.answer(...call);
  };
}

class AnswerRecording<More> {
  readonly #answers: AnyCall<More>;
  readonly #record: PassivePairRecord;
  readonly #turns = new Exclusive();
  /** The answers at the end of each tree of this attempt, for repeated calls. */
  readonly #finished = new Map<number, PassiveTreeStored>();
  /** For calls of which the role accepts the first copy: the recorder of that copy, by call and tree. */
  readonly #taken = new Map<string, AnyRecorder>();
  #open: OpenChain | null = null;

  constructor(answers: AnyCall<More>, record: PassivePairRecord) {
    this.#answers = answers;
    this.#record = record;
  }

  answer(method: DescMethod, requests: Messages, more: More): Messages {
    if (method === PassiveParty.method.join) return this.#join(requests as Messages<ActiveHello>, more);
    if (method === PassiveParty.method.finishTree)
      return this.#finishTree(requests as Messages<ActiveTreeFinished>, more);
    const recorder = recorderOf(method, false);
    return recorder === null
      ? this.#answers(method, requests, more)
      : this.#recorded([method, requests, more], recorder);
  }

  async *#recorded(call: Parameters<AnyCall<More>>, recorder: AnyRecorder): AsyncGenerator {
    const { chain, verifyGradients } = this.#opened;
    const copy = this.#copyOf(call[0], recorder);
    try {
      yield* recordedCall(
        this.#answers,
        call,
        copy.recorder,
        (notes) => {
          if (copy.isTaken()) for (const note of notes) chain.note(note);
        },
        (closed, message) => {
          if (copy.isTaken()) verifyGradients(closed, (message as Pick<ActiveGradients, "signature">).signature);
          return message;
        },
      );
    } catch (error) {
      copy.refused();
      throw error;
    }
  }

  /** Of several copies of a call, the one that the role accepts is recorded. */
  #copyOf(method: DescMethod, recorder: AnyRecorder) {
    const { copyOf } = factsOf(method);
    let key: string | null = null;
    const isTaken = (): boolean => key === null || this.#taken.get(key) === recorder;
    return {
      isTaken,
      recorder: {
        ...recorder,
        request: (message: unknown) => {
          if (copyOf !== undefined && key === null) {
            key = `${method.localName}/${copyOf(message as RequestOf<"gradients">)}`;
            if (!this.#taken.has(key)) this.#taken.set(key, recorder);
          }
          if (isTaken()) recorder.request?.(message);
        },
      },
      refused: () => {
        if (key !== null && isTaken()) this.#taken.delete(key);
      },
    };
  }

  get #opened(): OpenChain {
    if (this.#open === null) throw new TandemError("PROTOCOL_STATE", "no active party has joined");
    return this.#open;
  }

  async *#join(requests: Messages<ActiveHello>, more: More): AsyncGenerator {
    const { join } = PassiveParty.method;
    const hello = await onlyOf(requests);
    // The role refuses a party of another protocol version.
    if (hello.protocolVersion === protocolVersion && this.#open === null) {
      this.#open = this.#record.joined(hello);
      const recorder = recorderOf(join, false);
      recorder?.request?.(hello);
      for (const note of recorder?.notes() ?? []) this.#open.chain.note(note);
    }
    const answer = (await onlyOf(this.#answers(join, streamOf(hello), more))) as MessageInitShape<
      typeof PassiveHelloSchema
    >;
    yield create(PassiveHelloSchema, { ...answer, ...this.#record.own });
  }

  /** Signed and stored before the role stores its splits, so that every stored tree has its link. */
  async *#finishTree(requests: Messages<ActiveTreeFinished>, more: More): AsyncGenerator<PassiveTreeStored> {
    const finished = await onlyOf(requests);
    yield await this.#turns.run(async () => {
      const { chain, sign, verify } = this.#opened;
      const stores = (): Promise<unknown> =>
        onlyOf(this.#answers(PassiveParty.method.finishTree, streamOf(finished), more));
      const before = this.#finished.get(finished.tree);
      if (before !== undefined) {
        await stores();
        return before;
      }
      const closed = chain.agree({ tree: finished.tree, entries: finished.entries, link: finished.digest });
      verify(closed, finished.signature);
      const own = sign(closed);
      await this.#record.closed({ ...closed, own, theirs: finished.signature });
      await stores();
      chain.advance(closed);
      this.#taken.clear();
      const stored = create(PassiveTreeStoredSchema, { digest: closed.link, signature: own });
      this.#finished.set(closed.tree, stored);
      return stored;
    });
  }
}
