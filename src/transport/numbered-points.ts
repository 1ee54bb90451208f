/** Streams of points on the wire: messages are numbered, in both directions of PSI. */
import { TandemError } from "../base/error.ts";

/** A message with points, in either direction. */
export interface PointsMessage {
  readonly sequence: number;
  readonly points: Uint8Array;
}

/** Numbers the chunks of a stream. */
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
