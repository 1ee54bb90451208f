import { create } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { SeededRandom } from "../base/random.ts";
import { type CrewEntry, CrewEntrySchema } from "../wire/generated/tandem/v1/crew_pb.ts";
import { BlockLog } from "./block-log.ts";

const window = 16;

/** Entries of two rounds; every third has a continuation. */
function logOf(count: number): CrewEntry[] {
  return [1, 2].flatMap((round) =>
    Array.from({ length: count }, (_, sequence) =>
      create(CrewEntrySchema, {
        round,
        sequence,
        step: sequence % 7 === 6 ? sequence : 0,
        more: sequence % 3 === 1 && sequence + 1 < count,
        head: Uint8Array.of(round),
        payload: Uint8Array.of(sequence),
      }),
    ),
  );
}

function read(messages: readonly CrewEntry[]): string[] {
  const log = new BlockLog();
  return messages.flatMap((message) =>
    [...log.take(message)].map(({ round, step, isFirst, entry }) =>
      JSON.stringify([round, step, isFirst, [...entry.head], [...entry.payload]]),
    ),
  );
}

/** Delivers the next messages in any order, some of them twice; rounds do not mix, but old ones may repeat. */
function disturbed(messages: readonly CrewEntry[], random: SeededRandom): CrewEntry[] {
  const arrived: CrewEntry[] = [];
  for (const round of [1, 2]) {
    const left = messages.filter((message) => message.round === round);
    while (left.length > 0) {
      const [next] = left.splice(random.uint32() % Math.min(window, left.length), 1);
      arrived.push(next);
      if (random.uint32() % 3 === 0) arrived.push(arrived[random.uint32() % arrived.length]);
    }
  }
  return arrived;
}

test("entries are delivered once, whole and in order, despite duplicates and reordering", () => {
  const messages = logOf(60);
  const inOrder = read(messages);
  expect(inOrder.length).toBe(80);
  expect(inOrder.filter((line) => line.includes("true")).length).toBe(2);
  for (let seed = 0; seed < 50; seed++)
    expect(read(disturbed(messages, new SeededRandom(seed))), `seed ${seed}`).toEqual(inOrder);
});

test("a log read again from its beginning is the same", () => {
  const messages = logOf(20);
  expect(read([...messages.slice(0, 30), ...messages])).toEqual(read(messages));
});
