/** The active party against passive parties that fail or vanish: while joining, in a tree, in a handler. */
import { afterAll, describe, expect, test } from "vitest";
import type { PreparedJob } from "../../../test/support/prepared-job.ts";
import { expectError, watchRejections } from "../../../test/support/expect-error.ts";
import { expectFailure, jobWith, mapped } from "../../../test/support/changed-peer.ts";
import { TandemError } from "../../base/error.ts";
import type { PassiveHello } from "../../wire/generated/tandem/v1/tandem_pb.ts";
import type { PassivePeer } from "../../wire/peer.ts";
import { protocolVersion } from "../../wire/version.ts";

const rejections = watchRejections();
afterAll(() => rejections.expectNone());

describe("the join stream", () => {
  async function* helloOf(
    peer: PassivePeer,
    hello: Parameters<PassivePeer["join"]>,
    change: (hello: PassiveHello) => PassiveHello[],
  ): AsyncGenerator<PassiveHello> {
    yield* mapped(peer.join(...hello), change);
  }

  test("another protocol version", async () => {
    const job = jobWith((peer) => ({
      join: (...hello) => helloOf(peer, hello, (answer) => [{ ...answer, protocolVersion: 99 }]),
    }));
    await expectFailure(
      job,
      "HANDSHAKE_MISMATCH",
      new RegExp(
        `passive-2 runs another release of Tandem \\(protocol version 99\\), and .*version ${protocolVersion}\\)`,
      ),
    );
  });

  test("ends before the answer", async () => {
    const ended: AsyncIterable<PassiveHello> = {
      [Symbol.asyncIterator]: () => ({ next: async () => ({ done: true, value: undefined }) }),
    };
    await expectFailure(
      jobWith(() => ({ join: () => ended })),
      "PARTY_LOST",
      /before the job began/,
    );
  });

  test("a mismatch found by the passive party comes back with its code and names it", async () => {
    const job = jobWith((peer) => ({ join: (hello, options) => peer.join({ ...hello, instanceCount: 3 }, options) }));
    await expectFailure(job, "ID_MISMATCH", /passive-2 does not hold the same ids/);
  });
});

describe("a party that dies in mid-tree", () => {
  const hang = (): Promise<never> => new Promise(() => {});
  const hanging = (): AsyncIterable<never> => ({ [Symbol.asyncIterator]: () => ({ next: hang }) });

  /**
   * The peer answers the calls until `dies` is called; then its join stream ends or breaks, and no call is ever
   * answered.
   */
  function dying(
    at: "setUp" | "gradients" | "histograms" | "splits" | "finishTree" | "predict",
    how: "ends" | "breaks",
  ): PreparedJob {
    return jobWith((peer) => {
      let dies = (): void => {};
      const death = new Promise<void>((resolve) => (dies = resolve));
      const now = <T>(answer: T): T => {
        dies();
        return answer;
      };
      const calls: Pick<PassivePeer, typeof at> = {
        setUp: () => now(hang()),
        async gradients(chunks) {
          await chunks[Symbol.asyncIterator]().next();
          return now(hang());
        },
        histograms: () => now(hanging()),
        splits: () => now(hanging()),
        finishTree: () => now(hang()),
        predict: () => now(hanging()),
      };
      return {
        async *join(hello, options) {
          const { value } = await peer.join(hello, options)[Symbol.asyncIterator]().next();
          yield value as PassiveHello;
          await death;
          if (how === "breaks") throw new TandemError("PARTY_LOST", "party passive-2 is gone: ECONNRESET");
        },
        [at]: calls[at],
      };
    });
  }

  for (const at of ["setUp", "gradients", "histograms", "splits", "finishTree", "predict"] as const) {
    for (const how of ["ends", "breaks"] as const) {
      test(`at ${at}: the join stream ${how}; the others receive its name`, async () => {
        await expectFailure(
          dying(at, how),
          "PARTY_LOST",
          how === "ends" ? /closed its connection in the middle/ : /passive-2 is gone: ECONNRESET/,
        );
      });
    }
  }

  test("after its death every further call fails at once", async () => {
    const made = dying("setUp", "ends");
    await made.active.join();
    await expectError(() => made.active.train(), "PARTY_LOST", /passive-2/);
    await expectError(() => made.active.train(), "PARTY_LOST", /passive-2/);
  });
});

describe("a party whose handler throws", () => {
  test("something unexpected: PARTY_LOST without what it was; the party itself reports it", async () => {
    const made = jobWith(() => ({}));
    const [, { role, service }] = made.passives;
    role.answers.splits = () => {
      throw new Error("row 42 is 1234.5");
    };
    const error = await expectFailure(made, "PARTY_LOST", /party passive-2 failed: an internal error/);
    expect(`${error.message}${error.stack}`).not.toContain("row 42");
    expect((await service.ended).failure).toMatchObject({ code: "INTERNAL", message: "Error: row 42 is 1234.5" });
  });

  test("a TandemError: code and message come through", async () => {
    const made = jobWith(() => ({}));
    made.passives[1].role.answers.finishTree = () => {
      throw new TandemError("FILE_UNWRITABLE", "the disk is full");
    };
    await expectFailure(made, "FILE_UNWRITABLE", /^party passive-2: the disk is full$/);
  });
});
