/** docs/config.md against what the program reads, both ways: names, who has them, and defaults. */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import * as z from "zod";
import { activeConfig, passiveConfig } from "./config.ts";
import { workerConfig } from "./crew-config.ts";
import { relayConfig } from "./relay-config.ts";

const page = readFileSync(new URL("../../../docs/config.md", import.meta.url), "utf8");

/** Of a field: what the page must say is its default. Null: something, in words. */
type Fields = ReadonlyMap<string, string | null>;

/** @param fallback of the field: undefined if there is none, and it must be given */
function fieldsOf(schema: unknown, name: string, fallback?: string | null): [string, string | null][] {
  if (schema instanceof z.ZodOptional) return fieldsOf(schema.unwrap(), name, null);
  if (schema instanceof z.ZodPrefault) return fieldsOf(schema.unwrap(), name);
  if (schema instanceof z.ZodDefault) return fieldsOf(schema.unwrap(), name, defaultText(schema.def.defaultValue));
  if (schema instanceof z.ZodObject)
    return Object.entries(schema.shape as Record<string, unknown>).flatMap(([key, field]) =>
      fieldsOf(field, name === "" ? key : `${name}.${key}`, fallback === null ? null : undefined),
    );
  if (schema instanceof z.ZodArray && schema.element instanceof z.ZodObject) return fieldsOf(schema.element, name);
  const self: [string, string | null] = [name, fallback === undefined ? "" : fallback];
  if (!(schema instanceof z.ZodUnion)) return [self];
  const objects = schema.options.filter((option) => option instanceof z.ZodObject);
  return [self, ...objects.flatMap((option) => fieldsOf(option, name))];
}

function defaultText(value: unknown): string {
  const text = Array.isArray(value) ? value.join(", ") : JSON.stringify(value).replaceAll(/^"|"$|^\{\}$/g, "");
  return text === "" ? "none" : text;
}

/** Rows of the tables under a heading, up to the next one of its level. */
function rowsUnder(title: string): Map<string, string> {
  const [, section] = page.split(`\n## ${title}\n`);
  const rows = [...section.split("\n## ")[0].matchAll(/^\| `([\w.]+)` +\| *(.*?) *\| .*\|$/gm)];
  expect(new Set(rows.map(([, name]) => name)).size, "no field stands there twice").toBe(rows.length);
  return new Map(rows.map(([, name, fallback]) => [name, fallback]));
}

const active: Fields = new Map(fieldsOf(activeConfig, ""));
const passive: Fields = new Map(fieldsOf(passiveConfig, ""));
const worker: Fields = new Map(fieldsOf(workerConfig, ""));
const relay: Fields = new Map(fieldsOf(relayConfig, ""));

test.each([
  { title: "Both parties", fields: active, isHere: (name: string) => passive.has(name) },
  { title: "active.yaml alone", fields: active, isHere: (name: string) => !passive.has(name) },
  { title: "passive.yaml alone", fields: passive, isHere: (name: string) => !active.has(name) },
  { title: "worker.yaml", fields: worker, isHere: () => true },
  { title: "relay.yaml", fields: relay, isHere: () => true },
])("$title: every field stands there with its default, and no other", ({ title, fields, isHere }) => {
  const rows = rowsUnder(title);
  expect([...rows.keys()].sort()).toEqual([...fields.keys()].filter(isHere).sort());
  for (const [name, said] of rows) {
    const fallback = fields.get(name);
    if (fallback === null) expect(said, name).not.toBe("");
    else expect(said, name).toBe(fallback);
  }
});
