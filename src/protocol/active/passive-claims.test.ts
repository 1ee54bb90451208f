/**
 * What a passive party claims of itself while it joins and is set up. A claim that cannot be true is refused; one that
 * the active party cannot check changes no other party's splits, and no claim changes what the model is.
 */
import { describe, expect, test } from "vitest";
import { expectFailure, jobWith, mapped } from "../../../test/support/changed-peer.ts";
import type { PreparedJob } from "../../../test/support/prepared-job.ts";
import type { PassiveHello, PassiveReady } from "../../wire/generated/tandem/v1/tandem_pb.ts";

const honest = await jobWith(() => ({})).run();

/** The second passive party sends another hello. */
function claiming(claim: Partial<PassiveHello>): PreparedJob {
  return jobWith((peer) => ({
    join: (hello, options) => mapped(peer.join(hello, options), (answer) => [{ ...answer, ...claim }]),
  }));
}

/** It sends another answer to the set-up. */
function ready(change: (answer: PassiveReady) => Partial<PassiveReady>): PreparedJob {
  return jobWith((peer) => ({
    async setUp(...setUp) {
      const answer = await peer.setUp(...setUp);
      return { ...answer, ...change(answer) };
    },
  }));
}

describe("claims that have no effect on the model", () => {
  const ignored: Readonly<Record<string, Partial<PassiveHello>>> = {
    "another name: that of the config is used": { passiveName: "passive-1" },
    "more features than it has": { featureCount: 4_294_967_295 },
    "that the job has finished": { finished: true },
    "that it works, in the hello itself": { working: true },
    "a greeting that Paillier does not have": { scheme: new Uint8Array(64).fill(1) },
  };
  test.each(Object.entries(ignored))("%s", async (_, hello) => {
    const { model, margins } = await claiming(hello).run();
    expect(model).toEqual(honest.model);
    expect(margins).toEqual(honest.margins);
    expect(model.passiveNames).toEqual(["passive-1", "passive-2"]);
  });

  test("a hello that comes twice", async () => {
    const twice = jobWith((peer) => ({
      join: (hello, options) => mapped(peer.join(hello, options), (answer) => [answer, { ...answer, trees: 7 }]),
    }));
    expect((await twice.run()).model).toEqual(honest.model);
  });
});

describe("claims that are refused", () => {
  test.each([1, 2, 4_294_967_295])("%s stored trees, of a job that has begun with none", async (trees) => {
    // A party may be a round ahead: its answer to the end of a tree may have been lost. That round is then repeated.
    if (trees === 1) expect((await claiming({ trees }).run()).model).toEqual(honest.model);
    else await expectFailure(claiming({ trees }), "CHECKPOINT", /has stored \d+ trees of this job and we 0/);
  });

  test("no features, and candidates all the same", async () => {
    await expectFailure(claiming({ featureCount: 0 }), "PROTOCOL_STATE", /more candidates than its features can have/);
  });

  test("more candidates than its features can have", async () => {
    const many = ready(() => ({ candidateCount: 4_294_967_295 }));
    await expectFailure(many, "PROTOCOL_STATE", /more candidates than its features can have/);
  });

  test.each([-1, 1])("%s candidate more than it answers about", async (change) => {
    const other = ready(({ candidateCount }) => ({ candidateCount: candidateCount + change }));
    await expectFailure(other, "PROTOCOL_STATE", /passive-2/);
  });

  test("interaction groups that the job does not have", async () => {
    await expectFailure(
      ready(() => ({ groups: 1 })),
      "PROTOCOL_STATE",
      /interaction groups that the job does not have/,
    );
  });
});
