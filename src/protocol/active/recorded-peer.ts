/**
 * Records the messages of a passive party: the digests of each call are added to the chain when it has succeeded, and
 * at the end of a tree both parties sign. The role that makes the calls is unaware of the recording.
 */
import { create, type DescMethod } from "@bufbuild/protobuf";
import { TandemError } from "../../base/error.ts";
import type { Note } from "../../messages/call.ts";
import type { EntryKind } from "../../messages/table.ts";
import { type AnyCall, callsTo, everyCall, type Messages, onlyOf, streamOf } from "../../wire/every-call.ts";
import {
  type ActiveHello,
  ActiveHelloSchema,
  type ActiveTreeFinished,
  ActiveTreeFinishedSchema,
  type PassiveHello,
  type PassiveHistograms,
  PassiveParty,
  type PassiveTreeStored,
} from "../../wire/generated/tandem/v1/tandem_pb.ts";
import type { CallOptions, PassivePeer } from "../../wire/peer.ts";
import { protocolVersion } from "../../wire/version.ts";
import { isSame } from "../chain/entries.ts";
import type { ActivePairRecord, OpenChain } from "../chain/record.ts";
import { recordedCall, recorderOf } from "../chain/recording.ts";

export function recordedPeer(peer: PassivePeer, record: ActivePairRecord): PassivePeer {
  const recording = new PeerRecording(peer, record);
  const call: AnyCall<CallOptions> = (...made) => recording.call(...made);
  return { name: peer.name, ...everyCall<Omit<PassivePeer, "name">, CallOptions>(PassiveParty, call) };
}

class PeerRecording {
  readonly #name: string;
  readonly #calls: AnyCall<CallOptions>;
  readonly #record: ActivePairRecord;
  #open: OpenChain | null = null;

  constructor(peer: PassivePeer, record: ActivePairRecord) {
    this.#name = peer.name;
    this.#calls = callsTo(peer);
    this.#record = record;
  }

  call(method: DescMethod, requests: Messages, options: CallOptions): Messages {
    if (method === PassiveParty.method.join) return this.#join(requests as Messages<ActiveHello>, options);
    if (method === PassiveParty.method.finishTree)
      return this.#finishTree(requests as Messages<ActiveTreeFinished>, options);
    const recorder = recorderOf(method, this.#record.keep !== null);
    if (recorder === null) return this.#calls(method, requests, options);
    return recordedCall(this.#calls, [method, requests, options], recorder, {
      noted: (notes) => this.#note(notes),
      closes: async (closed, message) => {
        await this.#record.answersStored();
        return { ...(message as object), ...this.#opened.signGradients(closed) };
      },
      answers: (answer, message) => {
        const { signature } = message as PassiveHistograms;
        this.#opened.verifyAnswer(answer, signature);
        this.#record.answered({ ...answer, signature });
        return message;
      },
    });
  }

  #note(notes: readonly Note<EntryKind>[]): void {
    const { chain } = this.#opened;
    for (const note of notes) {
      chain.note(note);
      if (note.pieces !== undefined) this.#record.keep?.(note, note.pieces);
    }
  }

  get #opened(): OpenChain {
    if (this.#open === null) throw new TandemError("PROTOCOL_STATE", "the party has not joined");
    return this.#open;
  }

  async *#join(requests: Messages<ActiveHello>, options: CallOptions): AsyncGenerator<PassiveHello> {
    const { join } = PassiveParty.method;
    const hello = create(ActiveHelloSchema, { ...(await onlyOf(requests)), ...this.#record.own });
    const recorder = recorderOf(join, false);
    recorder?.request?.(hello);
    for await (const answer of this.#calls(join, streamOf(hello), options) as Messages<PassiveHello>) {
      // The role refuses a party of another protocol version.
      if (answer.protocolVersion === protocolVersion && this.#open === null) {
        this.#open = this.#record.joined(answer);
        this.#note(recorder?.notes() ?? []);
      }
      yield answer;
    }
  }

  async *#finishTree(requests: Messages<ActiveTreeFinished>, options: CallOptions): AsyncGenerator<PassiveTreeStored> {
    const { finishTree } = PassiveParty.method;
    const { chain, sign, verify } = this.#opened;
    const closed = chain.closing();
    const own = sign(closed);
    await this.#record.closing(closed, own);
    const { link: digest, entries } = closed;
    const finished = create(ActiveTreeFinishedSchema, {
      ...(await onlyOf(requests)),
      digest,
      signature: own,
      entries,
    });
    const stored = await onlyOf(this.#calls(finishTree, streamOf(finished), options) as Messages<PassiveTreeStored>);
    if (!isSame(stored.digest, digest))
      throw new TandemError("PROTOCOL_STATE", `party ${this.#name} has another digest of tree ${closed.tree}`);
    verify(closed, stored.signature);
    this.#record.closed({ ...closed, own, theirs: stored.signature });
    chain.advance(closed);
    yield stored;
  }
}
