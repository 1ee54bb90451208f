/** Known answers: a small job in numbers, computed independently with Python's integers. */
import { expect, test } from "vitest";
import { curveKernels } from "../../../test/support/curve-kernels.ts";
import { wideScalarBytes } from "./kernel.ts";
import { integerBytes } from "../integers.ts";
import { roundScalars, rowScalars } from "./secrets.ts";

const rowSeed = Uint8Array.from({ length: 32 }, (_, i) => i);
const roundSecret = Uint8Array.from({ length: 32 }, (_, i) => 32 + i);
const plaintexts = Int32Array.of(-3, 5, 1000, 250, -1024, 0, 7, 1);
const bases = [
  "faa06fc21492a2d829615e7c6e8c7ddfa452b6c2710512d42a954b0c77397181",
  "6adae083c244df84f34dcac7c568a551992320400b59c6e571ac7298af0796fd",
  "fb418d7577052b74b6f0d55cb90d6f6b12068f408f841711cce18886453110a5",
  "851614dc2db99e94cd6240fb1c4be6fe1153cab87396e2158cf504a0cd0dfa17",
];
const points = [
  "1bc4680d4e1e345903690cda5b22863e8f7d66bdef10a12819bc31206a94c951",
  "80b8a2003239c6e4cd6a30f02e6af35cc09247e4112368594068c888b153212e",
  "773fc4d410b6045d8084ca09e0015f6d1f6c159c233fcb018b0446549fb240a4",
  "38a0f2a0c9652aa9ad037a5b95316284409b3705e2a6d2d6032ffe8164f6fe00",
  "68bee6dc47ede225c4490aca3c1a5ab2636ad871b21702263db909ee3bb20683",
  "df9873e15ee675c3f07727032faa25af293cfa026969eda9aee5088315295a28",
  "dee862b3009eaa0b214aa951ad2d30ac6c3fce019a3900c743a77eee21f38ce1",
  "25adb547aa1569b6951c636099171d762cd1df93ec19fa32c03a705c114432d1",
];
const keys = [
  "00016f43e1029191a462eed892221899f06d67391153bf45e1671da0ea96af79",
  "eca82a0ceea987e0b28c9132068f1898fb22b6368e1311e7326777b4db68b36a",
];
/** Of rows 0, 1 and 3, with rho = 2^200 + 12345. */
const answer = [
  "1014a76ef6a064208ff170904979475cb9d2e7775ed7fb9ded4470030b26e723",
  "7f0683901e986249355afbd1c13a878e4a8f0d15d3477b92766bcc8831171f48",
  "21139c7f4a7559cda307366f1fc9c03f8bd6b88d888b30ee90daba5802c3e3db",
];

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");
const places = Uint32Array.of(0, 1, 2, 3);

test.each(curveKernels)("rows, keys, an answer and its sums: $name", async (kernel) => {
  const curve = kernel.curve(1);
  const rows = await curve.scalars(rowScalars(rowSeed, 4));
  const secrets = await curve.scalars(roundScalars(roundSecret, 2));
  const sentBases = await curve.multiples(rows, places);
  const sentPoints = await curve.encrypt({ rows, places, secrets, plaintexts });
  const sentKeys = await curve.multiples(secrets, Uint32Array.of(0, 1));
  expect(hex(sentBases)).toBe(bases.join(""));
  expect(hex(sentPoints)).toBe(points.join(""));
  expect(hex(sentKeys)).toBe(keys.join(""));

  const held = { bases: curve.points(4, 1), values: curve.points(4, 2) };
  await curve.load(sentBases, held.bases, places);
  await curve.load(sentPoints, held.values, places);
  const [binsOfBases, binsOfValues] = await curve.histogram({
    sources: [held.bases, held.values],
    rows: places,
    bins: [Uint16Array.of(0, 0, 1, 0)],
    binCounts: Uint32Array.of(2),
    skippedBins: Int32Array.of(1),
    jointBins: true,
  });
  const sent = await curve.answer({
    bases: binsOfBases,
    values: binsOfValues,
    chainOffsets: Uint32Array.of(0, 1),
    sources: Uint32Array.of(0),
    targets: Int32Array.of(0),
    suppressed: Uint8Array.of(0),
    noise: null,
    keys: await curve.keys(sentKeys),
    masks: integerBytes(2n ** 200n + 12345n, wideScalarBytes),
  });
  expect(hex(sent)).toBe(answer.join(""));

  const logarithms = await curve.logarithms(4096);
  const open = (centres: number[], bounds: number[]): Promise<Float64Array> =>
    curve.open({
      secrets,
      points: sent,
      centres: Float64Array.from(centres),
      bounds: Float64Array.from(bounds),
      logarithms,
    });
  expect([...(await open([0, 0], [4096, 4096]))]).toEqual([1004, 256]);
  expect([...(await open([1000, 300], [4, 44]))]).toEqual([1004, 256]);
  expect([...(await open([1000, -300], [3, 555]))]).toEqual([NaN, NaN]);
  expect([...(await open([0, 0], [-1, 256]))]).toEqual([0, 256]);
});
