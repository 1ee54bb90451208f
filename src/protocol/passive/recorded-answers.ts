/**
 * Records the answers of a passive role: the digests of each call are added to the chain when the role has accepted it,
 * and a tree finishes only if the active party has signed the same messages. The role is unaware of the recording.
 */
import { create, type DescMethod, type MessageInitShape } from "@bufbuild/protobuf";
import { TandemError } from "../../base/error.ts";
import { Exclusive } from "../../base/scheduling/exclusive.ts";
import type { Note } from "../../messages/call.ts";
import type { EntryKind } from "../../messages/table.ts";
import { type AnyCall, type Messages, onlyOf, streamOf } from "../../wire/every-call.ts";
import {
  type ActiveHello,
  type ActiveTreeFinished,
  PassiveHelloSchema,
  PassiveParty,
  PassiveTreeStoredSchema,
  type PassiveTreeStored,
} from "../../wire/generated/tandem/v1/tandem_pb.ts";
import { protocolVersion } from "../../wire/version.ts";
import { inWords } from "../chain/entries.ts";
import type { GradientsSignature, OpenChain, PassivePairRecord } from "../chain/record.ts";
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
  /** Calls with answers that are not in the chain yet, since the calls have not ended. */
  readonly #unnoted = new Set<AnyRecorder>();
  /** Entries of calls that were broken off after answers had been sent. */
  #brokenOff = new Map<string, Note<EntryKind>>();
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

  /** Signatures of gradients are checked in every copy of a call: the role may accept any of them. */
  async *#recorded(call: Parameters<AnyCall<More>>, recorder: AnyRecorder): AsyncGenerator {
    const { chain, signAnswer, verifyGradients } = this.#opened;
    const watched = {
      ...recorder,
      answer: (message: unknown) => {
        this.#unnoted.add(recorder);
        recorder.answer?.(message);
      },
    };
    try {
      yield* recordedCall(this.#answers, call, watched, {
        noted: (notes) => {
          for (const note of notes) chain.note(note);
          this.#unnoted.delete(recorder);
        },
        closes: (closed, message) => {
          const signed = message as GradientsSignature;
          verifyGradients(closed, signed);
          return signed;
        },
        answers: (answer, message) => ({ ...(message as object), signature: signAnswer(answer) }),
      });
    } finally {
      if (this.#unnoted.delete(recorder))
        for (const note of recorder.notes()) this.#brokenOff.set(`${note.tree}/${note.kind}/${note.node}`, note);
    }
  }

  /**
   * An active party could read the answers of a call and not let it end, so that they are in no signed link.
   * @throws TandemError PROTOCOL_STATE naming an answer that no call which ended has
   */
  #checkAllNoted({ chain }: OpenChain): void {
    const sent = [...this.#unnoted].flatMap((recorder) => recorder.notes());
    for (const { kind, tree, node } of [...sent, ...this.#brokenOff.values()])
      if ((tree === null || tree === chain.tree) && !chain.has(kind, node))
        throw new TandemError(
          "PROTOCOL_STATE",
          `tree ${chain.tree} cannot end: ${inWords({ kind, node })} was sent in a call that has not ended`,
        );
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
      this.#checkAllNoted(this.#opened);
      const own = sign(closed);
      await this.#record.closed({ ...closed, own, theirs: finished.signature });
      await stores();
      chain.advance(closed);
      this.#brokenOff = new Map([...this.#brokenOff].filter(([, { tree }]) => tree === null || tree > closed.tree));
      const stored = create(PassiveTreeStoredSchema, { digest: closed.link, signature: own });
      this.#finished.set(closed.tree, stored);
      return stored;
    });
  }
}
