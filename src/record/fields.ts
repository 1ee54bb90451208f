/**
 * Schemas of fields that lines of a record have in common. Numbers are finite: 1e999 is a number in JSON, and infinite
 * in a double. Runs in browsers too, hence zod's small build.
 */
import * as z from "zod/mini";

export const text = z.string();
export const flag = z.boolean();
export const number = z.number();
export const count = z.int().check(z.nonnegative());
export const countUpTo = (max: number) => z.int().check(z.nonnegative(), z.maximum(max));
/** An integer that may exceed 2^53. */
export const whole = z.number().check(z.nonnegative(), z.refine(Number.isInteger));
/** Milliseconds since the epoch, within the range of Date. */
export const instant = z.number().check(z.minimum(-8.64e15), z.maximum(8.64e15));
export const role = z.enum(["active", "passive"]);

type Schemas = Readonly<Record<string, z.ZodMiniType>>;

/** Whether a line matches the schema of its kind. Unknown kinds are accepted: a later version may have written them. */
export function isLineOf(schemas: Schemas, field: "type" | "kind", line: unknown): boolean {
  const kind: unknown =
    typeof line === "object" && line !== null ? (line as Record<string, unknown>)[field] : undefined;
  if (typeof kind !== "string") return false;
  return !Object.hasOwn(schemas, kind) || schemas[kind].safeParse(line).success;
}

export function toSchemas(table: Readonly<Record<string, { readonly schema: z.ZodMiniType }>>): Schemas {
  return Object.fromEntries(Object.entries(table).map(([kind, { schema }]) => [kind, schema]));
}
