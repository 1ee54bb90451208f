/** An AlignmentPeer over any Connect transport: points and positions as numbered messages. */
import { createClient, type Transport } from "@connectrpc/connect";
import type { AlignmentPeer } from "../align/alignment-peer.ts";
import { TandemError } from "../base/error.ts";
import { Alignment } from "../wire/generated/tandem/v1/alignment_pb.ts";
import { protocolVersion } from "../wire/version.ts";
import { reached, translated, translatedStream } from "./wire-error.ts";

/** A message with points, as both directions have them. */
export interface PointsMessage {
  readonly sequence: number;
  readonly points: Uint8Array;
}

export function alignmentPeerOver(
  name: string,
  transport: Transport,
  job: string,
  validationFile = false,
): AlignmentPeer {
  const client = createClient(Alignment, transport);
  const naming = async <T>(work: Promise<T>): Promise<T> => {
    try {
      return await work;
    } catch (error) {
      throw named(name, error);
    }
  };
  async function* namingStream<T>(items: AsyncIterable<T>): AsyncGenerator<T, void, undefined> {
    try {
      yield* items;
    } catch (error) {
      throw named(name, error);
    }
  }
  return {
    name,
    begin: ({ scheme, normalisations, activeIdCount }, options) =>
      naming(
        reached(name, () =>
          client.begin(
            { protocolVersion, job, scheme, normalisations: [...normalisations], activeIdCount, validationFile },
            options,
          ),
        ),
      ),
    remask: (points, options) =>
      namingStream(translatedStream(name, () => pointsOf(client.remask(numbered(points), options), `party ${name}`))),
    maskedIds: (options) =>
      namingStream(translatedStream(name, () => pointsOf(client.maskedIds({}, options), `party ${name}`))),
    accept: async (commonCount, positions, options) => {
      await naming(translated(name, () => client.accept(positionMessages(commonCount, positions), options)));
    },
  };
}

/** An error that says which party it is about. */
function named(name: string, error: unknown): unknown {
  if (!(error instanceof TandemError) || error.message.includes(name)) return error;
  return new TandemError(error.code, `party ${name}: ${error.message}`, { cause: error });
}

/** Chunks of points with their place in the stream. */
export async function* numbered(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<PointsMessage, void, undefined> {
  let sequence = 0;
  for await (const points of chunks) yield { sequence: sequence++, points };
}

/** @throws TandemError PROTOCOL_STATE if a message is out of order */
export async function* pointsOf(
  messages: AsyncIterable<PointsMessage>,
  sender: string,
): AsyncGenerator<Uint8Array, void, undefined> {
  let expected = 0;
  for await (const { sequence, points } of messages) {
    if (sequence !== expected++) throw new TandemError("PROTOCOL_STATE", `${sender} sent points out of order`);
    yield points;
  }
}

/** The count travels with every message, and in one without positions if there are none. */
async function* positionMessages(
  commonCount: number,
  chunks: AsyncIterable<Uint32Array>,
): AsyncGenerator<{ commonCount: number; positions: number[] }> {
  let sent = false;
  for await (const chunk of chunks) {
    sent = true;
    yield { commonCount, positions: Array.from(chunk) };
  }
  if (!sent) yield { commonCount, positions: [] };
}
