/** Every message of proto/, and bodies of scoring requests over HTTP. */
import { create, type DescField, type DescFile, type DescMessage, toBinary } from "@bufbuild/protobuf";
import { request } from "node:http";
import { DistinctIds } from "../../../src/psi/normalise.ts";
import { checkHello } from "../../../src/protocol/passive/hello-check.ts";
import type { PassiveJob } from "../../../src/protocol/passive/job.ts";
import { listenHttp } from "../../../src/scoring/http/http-server.ts";
import { PredictEndpoint } from "../../../src/scoring/http/predict-endpoint.ts";
import { RowIndex } from "../../../src/scoring/row-index.ts";
import { file_tandem_v1_alignment } from "../../../src/wire/generated/tandem/v1/alignment_pb.ts";
import { file_tandem_v1_masked } from "../../../src/wire/generated/tandem/v1/masked_pb.ts";
import { file_tandem_v1_paillier } from "../../../src/wire/generated/tandem/v1/paillier_pb.ts";
import { file_tandem_v1_scoring } from "../../../src/wire/generated/tandem/v1/scoring_pb.ts";
import {
  type ActiveHello,
  ActiveHelloSchema,
  file_tandem_v1_tandem,
} from "../../../src/wire/generated/tandem/v1/tandem_pb.ts";
import { decodeMessage } from "../../../src/wire/scheme-message.ts";
import type { FuzzFormat, Outcome } from "./fuzz-format.ts";
import { mutated, oneOf } from "./mutate.ts";
import { mutatedJson } from "./mutate-json.ts";

const files: readonly DescFile[] = [
  file_tandem_v1_alignment,
  file_tandem_v1_masked,
  file_tandem_v1_paillier,
  file_tandem_v1_scoring,
  file_tandem_v1_tandem,
];

/** A message with something in every field. */
function sample(schema: DescMessage, depth = 0): Record<string, unknown> {
  const init: Record<string, unknown> = {};
  for (const field of schema.fields) {
    if (field.oneof !== undefined && field.oneof.fields[0] !== field) continue;
    const value = fieldSample(field, depth);
    if (value === undefined) continue;
    if (field.oneof === undefined) init[field.localName] = value;
    else init[field.oneof.localName] = { case: field.localName, value };
  }
  return init;
}

function fieldSample(field: DescField, depth: number): unknown {
  if (field.fieldKind === "message") return depth > 3 ? undefined : sample(field.message, depth + 1);
  if (field.fieldKind === "enum") return field.enum.values.at(-1)?.number;
  if (field.fieldKind === "scalar") return scalarSample(field);
  if (field.fieldKind === "list") {
    if (field.listKind === "message") return depth > 3 ? [] : [sample(field.message, depth + 1)];
    return field.listKind === "scalar" ? [scalarSample(field), scalarSample(field)] : [];
  }
  return {};
}

function scalarSample(field: DescField & { readonly scalar: number }): unknown {
  if (field.scalar === 9) return "text";
  if (field.scalar === 12) return Uint8Array.of(1, 2, 3, 0);
  if (field.scalar === 8) return true;
  return [3, 4, 6, 16, 18].includes(field.scalar) ? 7n : 7;
}

const messages: FuzzFormat = {
  name: "protobuf",
  async prepare() {
    const kinds = files
      .flatMap((file) => file.messages)
      .map((schema) => ({ schema, bytes: toBinary(schema, create(schema, sample(schema))) }));
    const agreed = create(ActiveHelloSchema, sample(ActiveHelloSchema)) as ActiveHello;
    const job = {
      name: "telecom",
      agreed: agreed.parameters,
      instanceCount: agreed.instanceCount,
      idsDigest: agreed.idsDigest,
    } as unknown as PassiveJob;
    return {
      mutant(random) {
        const { schema, bytes } = oneOf(kinds, random);
        return {
          schema,
          bytes: mutated([bytes, ...kinds.map((kind) => kind.bytes)].slice(0, 1 + random.below(2)), random),
        };
      },
      async read({ schema, bytes }: { readonly schema: DescMessage; readonly bytes: Uint8Array }) {
        const message = decodeMessage(schema, bytes);
        if (schema === ActiveHelloSchema) checkHello(message as ActiveHello, job, 0, 0);
        return undefined;
      },
    };
  },
};

const bodies = [
  JSON.stringify({ ids: ["a", "b", "unknown"] }),
  JSON.stringify({
    rows: [
      { id: "a", features: { income: 1.5, region: "north" } },
      { id: "b", features: { income: null, region: null } },
    ],
  }),
];

const http: FuzzFormat = {
  name: "http",
  async prepare() {
    const table = {
      ids: ["a", "b"],
      featureNames: ["income", "region"],
      features: [Float32Array.of(1, 2), Float32Array.of(0, 1)],
      categories: { region: { names: ["north", "south"], where: "" } },
      labels: null,
    };
    const ids = DistinctIds.from(table.ids);
    const index = new RowIndex({ table, ids, fileRows: Uint32Array.of(1, 2) }, null);
    const endpoint = new PredictEndpoint({
      model: "5".repeat(64),
      party: "bank",
      features: ["income", "region"],
      categoryNames: [null, ["north", "south"]],
      normalise: ["nfkc", "lowercase"],
      requiredColumn: null,
      requestIdsMax: 100,
      unknownAsMissing: false,
      ownRows: { rows: async () => index },
      contributionNames: () => ["bias"],
      batcher: { score: async ({ ids }) => ({ predictions: new Float64Array(ids.length), unknown: new Map() }) },
      onRow() {},
    });
    let bug: unknown = null;
    const handle = async (body: unknown) => ({ status: 200, body: await endpoint.answer(body) });
    const server = await listenHttp([{ method: "POST", path: "/predict", handle }], {
      host: "127.0.0.1",
      port: 0,
      token: null,
      bodyBytesMax: 1 << 18,
      stopGraceMs: 100,
      onAnswer() {},
      onBug: (error) => (bug = error),
    });
    return {
      mutant: (random) =>
        random.below(2) === 0
          ? mutated(
              bodies.map((body) => Buffer.from(body)),
              random,
            )
          : Buffer.from(mutatedJson(oneOf(bodies, random), random)),
      async read(body: Uint8Array): Promise<Outcome> {
        bug = null;
        const status = await posted(server.port, body);
        if (bug !== null) throw bug;
        if (status === 200) return "read";
        if (status >= 400 && status < 500) return "refused";
        throw new Error(`HTTP status ${status}`);
      },
      close: () => server.close(),
    };
  },
};

function posted(port: number, body: Uint8Array): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = { "content-type": "application/json", "content-length": body.length, connection: "close" };
    const call = request({ host: "127.0.0.1", port, path: "/predict", method: "POST", headers }, (response) => {
      response.resume();
      response.once("end", () => resolve(response.statusCode ?? 0));
    });
    call.once("error", reject);
    call.end(body);
  });
}

export const wire = [messages, http];
