/**
 * A short run of hostile jobs against real processes; `npm run swarm -- --hostile` runs any number. Every one is
 * refused with a code or ends with the exact model, and so does the honest job after it.
 */
import { expect, test } from "vitest";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { SeededRandom } from "../src/base/random.ts";
import { seedCount } from "./support/campaign.ts";
import { runCampaign } from "./world/hostile/campaign.ts";
import { HostileJob } from "./world/hostile/hostile-job.ts";
import { makePeople } from "./world/hostile/hostile-parties.ts";
import { forgedLine } from "./world/hostile/hostile-values.ts";
import { mutateMessage } from "./world/hostile/mutate-message.ts";
import { SecretScanner } from "./world/hostile/secret-scanner.ts";
import { PaillierGradientsSchema } from "../src/wire/generated/tandem/v1/paillier_pb.ts";
import {
  ActiveGradientsSchema,
  ActiveHelloSchema,
  JobParametersSchema,
} from "../src/wire/generated/tandem/v1/tandem_pb.ts";

const seed = 20;
/** From here on, few jobs are of every kind: against parties, an active party and a command, with categories. */
const from = 9;
const jobs = seedCount({ test: 14, campaign: 100 });

test("a hostile party is refused, or learns nothing beyond its own job", async () => {
  const report = await runCampaign({ seed, jobs, from });
  expect(report.wrong.map(({ job, what, replay }) => `job ${job}: ${what}\n  ${replay}`).join("\n")).toBe("");
  expect(report.jobCount).toBe(jobs);
  expect(report.jobs.train + report.jobs.align).toBeGreaterThan(0);
  expect(report.messages).toBeGreaterThan(12 * jobs);
  expect(report.honestJobs).toBeGreaterThanOrEqual(2);
  // Messages refused at the connection gate would not reach the code behind it.
  for (const outcome of ["answered", "PROTOCOL_STATE", "HANDSHAKE_MISMATCH", "POLICY"])
    expect(report.outcomes[outcome], outcome).toBeGreaterThan(0);
});

test("a message is changed in the same way by the same seed, and every field of it by some seed", () => {
  const scheme = toBinary(
    PaillierGradientsSchema,
    create(PaillierGradientsSchema, { ciphertexts: new Uint8Array(64) }),
  );
  const gradients = create(ActiveGradientsSchema, { tree: 3, sequence: 1, scheme });
  const paths = new Set<string>();
  for (let i = 0; i < 250; i++) {
    const first = mutateMessage(ActiveGradientsSchema, gradients, new SeededRandom(i));
    const again = mutateMessage(ActiveGradientsSchema, gradients, new SeededRandom(i));
    expect(first.message).toEqual(again.message); // toEqual takes NaN for equal to NaN
    expect(toBinary(ActiveGradientsSchema, first.message)).toEqual(toBinary(ActiveGradientsSchema, again.message));
    paths.add(first.path);
  }
  expect(gradients).toEqual(create(ActiveGradientsSchema, { tree: 3, sequence: 1, scheme }));
  const ofScheme = "scheme:PaillierGradients.ciphertexts";
  for (const field of ["tree", "sequence", "sampled", "colsample_bytree", "scheme", ofScheme, "(raw)"])
    expect(paths, field).toContain(`ActiveGradients.${field}`);
});

test("fields of nested messages and maps are reached", () => {
  const hello = create(ActiveHelloSchema, {
    parameters: { job: "j", numRound: 3, schemeParameters: { keyBits: 256 } },
    trainingRows: Uint8Array.of(255),
  });
  const paths = new Set<string>();
  let unreadable = 0;
  for (let i = 0; i < 3000; i++) {
    const { message, path } = mutateMessage(ActiveHelloSchema, hello, new SeededRandom(`hello ${i}`));
    paths.add(path);
    try {
      fromBinary(ActiveHelloSchema, toBinary(ActiveHelloSchema, message));
    } catch {
      unreadable++;
    }
  }
  expect(unreadable).toBeGreaterThan(0);
  for (const field of ActiveHelloSchema.fields) expect(paths).toContain(`ActiveHello.${field.name}`);
  for (const field of JobParametersSchema.fields)
    expect(
      [...paths].some((path) => path.startsWith(`ActiveHello.parameters.${field.name}`)),
      field.name,
    ).toBe(true);
});

test("secrets in a party's output are detected", () => {
  const people = makePeople();
  const secrets = new SecretScanner(people);
  expect(secrets.in('{"event":"joined","party":"shop"}\nerror: party shop is gone (PARTY_LOST)\n')).toEqual([]);
  expect(secrets.in(`person ${people[3].id}`)).toEqual(["an id"]);
  expect(secrets.in(`is a ${people[3].label}`)).toEqual(["a label"]);
  expect(secrets.in(`at ${people.flatMap(({ shop }) => shop).find((cell) => cell.length > 4)}`)).toEqual(["a value"]);
  expect(secrets.in("TypeError: x is undefined\n    at f (file.js:3:4)")).toEqual(["a stack"]);
  expect(secrets.in('{"code":"INTERNAL"}')).toEqual(["an internal error"]);
  expect(secrets.in(`{"message":"a\n${forgedLine}`)).toEqual(["a forged line"]);
  expect(secrets.in(`{"message":"a ${forgedLine}`)).toEqual([]);
});

test("a job's draws depend on its number and the place only", () => {
  const drawn = (number: number, place: string): number => new HostileJob(5, number).random(place).uint32();
  expect(drawn(3, "join")).toBe(drawn(3, "join"));
  expect(new Set([drawn(3, "join"), drawn(4, "join"), drawn(3, "setUp")]).size).toBe(3);
});
