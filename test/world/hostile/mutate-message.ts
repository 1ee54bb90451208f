/**
 * One change to one field of one message, whatever the message is: the fields come from its descriptor, so that a field
 * that is added to proto/ is changed as well. Bytes that are a scheme's own message are changed as bytes, or decoded,
 * changed within and encoded again.
 */
import {
  clone,
  create,
  type DescField,
  type DescMessage,
  fromBinary,
  type MessageShape,
  ScalarType,
  toBinary,
} from "@bufbuild/protobuf";
import { reflect, type ReflectList, type ReflectMap, type ReflectMessage } from "@bufbuild/protobuf/reflect";
import type { SeededRandom } from "../../../src/base/random.ts";
import { hostileBytes, hostileScalar, pick } from "./hostile-values.ts";
import { schemasWithin } from "./scheme-schemas.ts";

export interface Mutant<D extends DescMessage> {
  readonly message: MessageShape<D>;
  /** Which field, from the message down: "ActiveHello.parameters.num_round". */
  readonly path: string;
}

/** Items that a list is enlarged to: of large ones a few, now and then as many as a message has room for. */
const listLengthMax = 3000;
const rareListLength = 400_000;

export function mutateMessage<D extends DescMessage>(
  schema: D,
  message: MessageShape<D>,
  random: SeededRandom,
): Mutant<D> {
  const copy = clone(schema, message);
  const within = changeWithin(reflect(schema, copy), random);
  return { message: copy, path: `${schema.name}.${within}` };
}

function changeWithin(message: ReflectMessage, random: SeededRandom): string {
  const { fields } = message;
  if (fields.length === 0 || random.below(25) === 0) return addRaw(message, random);
  const field = pick(random, fields);
  return field.name + changeField(message, field, random);
}

/** Bytes that are no message, or a field with another type than it has. */
function addRaw(message: ReflectMessage, random: SeededRandom): string {
  const known = message.fields.map(({ number }) => number);
  const no = pick(random, [...known, 1, 99, 2 ** 29 - 1]);
  message.setUnknown([{ no, wireType: pick(random, [0, 1, 2, 3, 5]), data: hostileBytes(random, new Uint8Array(0)) }]);
  return "(raw)";
}

/** @returns what comes after the field's name in the path */
function changeField(message: ReflectMessage, field: DescField, random: SeededRandom): string {
  switch (field.fieldKind) {
    case "scalar":
      return changeScalar(message, field, field.scalar, random);
    case "enum":
      message.set(field, pick(random, field.enum.values).number);
      return "";
    case "message":
      if (!message.isSet(field) || random.below(8) === 0) {
        if (message.isSet(field)) message.clear(field);
        else message.set(field, reflect(field.message));
        return "";
      }
      return `.${changeWithin(message.get(field), random)}`;
    case "list":
      return changeList(message.get(field), random);
    case "map":
      return changeMap(message.get(field), random);
  }
}

function changeScalar(
  message: ReflectMessage,
  field: DescField & { fieldKind: "scalar" },
  type: ScalarType,
  random: SeededRandom,
): string {
  const before: unknown = message.get(field);
  const inner = before instanceof Uint8Array ? schemasWithin(message.desc, field.name) : [];
  if (inner.length > 0 && random.below(4) > 0) {
    const changed = changedInside(pick(random, inner), before as Uint8Array, random);
    if (changed !== null) {
      message.set(field, changed.bytes);
      return `:${changed.path}`;
    }
  }
  message.set(field, hostileScalar(random, type, before));
  return "";
}

/** @returns null where the bytes are no such message */
function changedInside(
  schema: DescMessage,
  bytes: Uint8Array,
  random: SeededRandom,
): { readonly bytes: Uint8Array; readonly path: string } | null {
  try {
    const { message, path } = mutateMessage(schema, fromBinary(schema, bytes), random);
    return { bytes: toBinary(schema, message), path };
  } catch {
    return null;
  }
}

function changeList(list: ReflectList, random: SeededRandom): string {
  const items = [...list];
  const field = list.field();
  const made = (): unknown => {
    if (field.listKind === "message") return reflect(field.message, create(field.message));
    return field.listKind === "enum" ? 0 : hostileScalar(random, field.scalar, blank(field.scalar));
  };
  const set = (changed: readonly unknown[]): void => {
    list.clear();
    for (const item of changed) list.add(item);
  };
  const place = items.length === 0 ? 0 : random.below(items.length);
  const change = items.length === 0 ? random.below(2) : random.below(8);
  if (change === 0) set([...items, made()]);
  else if (change === 1) set(enlarged(items.length === 0 ? [made()] : items, random));
  else if (change === 2) set([]);
  else if (change === 3) set(items.toSpliced(place, 1));
  else if (change === 4) set(items.toSpliced(place, 0, items[place]));
  else if (change === 5) set(items.toReversed());
  else if (field.listKind === "message") return `.${changeWithin(items[place] as ReflectMessage, random)}`;
  else if (field.listKind === "scalar") list.set(place, hostileScalar(random, field.scalar, items[place]));
  return "";
}

function enlarged(items: readonly unknown[], random: SeededRandom): unknown[] {
  const length = random.below(100) === 0 ? rareListLength : 1 + random.below(listLengthMax);
  const isLarge = items.some((item) => typeof item === "object" || (typeof item === "string" && item.length > 50));
  return Array.from({ length: isLarge ? Math.min(length, 30) : length }, (_, i) => items[i % items.length]);
}

function changeMap(map: ReflectMap, random: SeededRandom): string {
  const field = map.field();
  const keys = [...map.keys()];
  if (field.mapKind !== "scalar") return "";
  const key = keys.length === 0 || random.below(4) === 0 ? "unheardOf" : pick(random, keys);
  if (random.below(4) === 0) map.clear();
  else map.set(key, hostileScalar(random, field.scalar, map.get(key) ?? blank(field.scalar)));
  return "";
}

/** What a field of this type holds before anything is written. */
function blank(type: ScalarType): unknown {
  if (type === ScalarType.STRING) return "";
  if (type === ScalarType.BYTES) return new Uint8Array(0);
  return type === ScalarType.BOOL ? false : 0;
}
