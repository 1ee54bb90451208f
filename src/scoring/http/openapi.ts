/** The OpenAPI 3.1 document of a scoring server, made from the schemas that parse its requests. */
import type { CategoryNames } from "../../gbdt/split/split-test.ts";
import * as z from "zod";
import {
  errorResponse,
  healthResponse,
  modelsResponse,
  predictRequest,
  predictResponse,
  readyResponse,
} from "./messages.ts";

export interface DocumentOptions {
  readonly features: readonly string[];
  readonly categoryNames: readonly CategoryNames[];
  readonly rowsMax: number;
  readonly withToken: boolean;
  readonly version: string;
}

export function openApiDocument({
  features,
  categoryNames,
  rowsMax,
  withToken,
  version,
}: DocumentOptions): Record<string, unknown> {
  const { rows, ids } = predictRequest(features, categoryNames, rowsMax);
  return {
    openapi: "3.1.0",
    info: {
      title: "Tandem scoring",
      version,
      description:
        "Scores of people with a model whose splits lie at several companies. Numbers have all their digits: " +
        "they are the model's to the last bit.",
    },
    paths: paths(withToken ? { security: [{ token: [] }] } : {}),
    components: {
      schemas: {
        PredictByIds: jsonSchema(ids),
        PredictByRows: jsonSchema(rows),
        Predictions: jsonSchema(predictResponse),
        Health: jsonSchema(healthResponse),
        Readiness: jsonSchema(readyResponse),
        Models: jsonSchema(modelsResponse),
        Error: jsonSchema(errorResponse),
      },
      ...(withToken ? { securitySchemes: { token: { type: "http", scheme: "bearer" } } } : {}),
    },
  };
}

/** @param guarded the security entry of calls that need a token */
function paths(guarded: Record<string, unknown>): Record<string, unknown> {
  return {
    "/predict": {
      post: {
        summary: "Score people",
        description:
          "By id alone (the server finds its own features in its data), or by id and the server's own features.",
        ...guarded,
        requestBody: {
          required: true,
          content: json({
            oneOf: [{ $ref: "#/components/schemas/PredictByIds" }, { $ref: "#/components/schemas/PredictByRows" }],
          }),
        },
        responses: {
          200: answer("A score or an error for each person", "Predictions"),
          400: failure("The request is not what it should be"),
          401: failure("The token is missing or wrong"),
          413: failure("The request is too large"),
          415: failure("The request is not JSON"),
          500: failure("A bug"),
          502: failure("A passive party refuses"),
          503: failure("Too many requests are waiting, or a passive party cannot be reached"),
          504: failure("There was no answer in time"),
        },
      },
    },
    "/health": { get: { summary: "Is the process alive?", responses: { 200: answer("It is", "Health") } } },
    "/ready": {
      get: {
        summary: "Can all parties score?",
        responses: { 200: answer("They can", "Readiness"), 503: answer("One cannot", "Readiness") },
      },
    },
    "/models": {
      get: {
        summary: "The models that are served, and their paths",
        ...guarded,
        responses: { 200: answer("Names, jobs and paths", "Models"), 401: failure("The token is missing or wrong") },
      },
    },
    "/metrics": {
      get: {
        summary: "Counters and histograms for Prometheus",
        ...guarded,
        responses: {
          200: { description: "Text format 0.0.4", content: { "text/plain": { schema: { type: "string" } } } },
          401: failure("The token is missing or wrong"),
        },
      },
    },
    "/openapi.json": {
      get: {
        summary: "This document",
        ...guarded,
        responses: {
          200: { description: "OpenAPI 3.1", content: json({ type: "object" }) },
          401: failure("The token is missing or wrong"),
        },
      },
    },
  };
}

function failure(description: string) {
  return answer(description, "Error");
}

function answer(description: string, schema: string) {
  return { description, content: json({ $ref: `#/components/schemas/${schema}` }) };
}

function json(schema: Record<string, unknown>) {
  return { "application/json": { schema } };
}

function jsonSchema(schema: z.ZodType): Record<string, unknown> {
  const { $schema: _dialect, ...rest } = z.toJSONSchema(schema, { target: "draft-2020-12" });
  return rest;
}
