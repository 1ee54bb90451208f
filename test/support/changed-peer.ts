/** Jobs in memory of which one passive party is replaced by another that deviates, fails or vanishes. */
import { expect } from "vitest";
import type { TandemError } from "../../src/base/error.ts";
import { generateKey, selectKernel } from "../../src/crypto/paillier/index.ts";
import { connectInMemory } from "../../src/transport/in-memory.ts";
import type { PassivePeer } from "../../src/wire/peer.ts";
import { expectError } from "./expect-error.ts";
import { prepareJob, type PreparedJob } from "./prepared-job.ts";
import { randomTable } from "./tables.ts";
import type { TestTable } from "../world/simulated.ts";

export const key = await generateKey({ bits: 128, insecure: true });
export const table = randomTable("deviating", { rows: 32, features: [1, 2, 2], missingFraction: 0.1 });

/** A job whose second passive party (the last to be asked on ties) is replaced by `change` of it. */
export function jobWith(
  change: (peer: PassivePeer) => Partial<PassivePeer>,
  answer_noise = 0,
  of: TestTable = table,
): PreparedJob {
  return prepareJob({
    defences: { answer_noise },
    table: of,
    kernel: selectKernel(),
    key,
    training: { num_round: 1 },
    connect: (name, service, index) => {
      const peer = connectInMemory(name, service);
      return index === 1 ? { ...peer, ...change(peer) } : peer;
    },
  });
}

/** Runs a job that must fail; the other party must receive the reason, and no call may hang. */
export async function expectFailure(
  job: PreparedJob,
  code: TandemError["code"],
  message: RegExp,
): Promise<TandemError> {
  const error = await expectError(() => job.run(), code, message);
  expect(error.message).toContain("passive-2");
  const { failure } = await job.passives[0].service.ended;
  expect(failure).toMatchObject({ code: "PARTY_LOST", message: `the active party gave up: ${error.message}` });
  return error;
}

export async function* mapped<T>(items: AsyncIterable<T>, change: (item: T, index: number) => T[]): AsyncGenerator<T> {
  let index = 0;
  for await (const item of items) yield* change(item, index++);
}
