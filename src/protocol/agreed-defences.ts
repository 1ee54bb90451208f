/**
 * The defences of a job on the wire, and in compared and stored parameters.
 *
 * There is one way to send a set of defences: those that are on, by ascending names. So one that is left out is off,
 * which a policy that demands it refuses; one that the receiver does not know is on, and would not be enforced, so it
 * is refused; and a second value of a name is refused instead of one of the two being taken.
 */
import { TandemError } from "../base/error.ts";
import { describeBounds } from "../base/parameters/parameters.ts";
import {
  type DefenceName,
  defenceNames,
  type Defences,
  defences,
  isOn,
  mapDefences,
  namedDefences,
} from "../privacy/defences/defences.ts";
import type { Defence } from "../privacy/defences/defence.ts";
import { peerText } from "../wire/peer-text.ts";

export interface SentDefence {
  readonly name: string;
  readonly value: number;
}

export function sentDefences(agreed: Defences): SentDefence[] {
  return defenceNames
    .filter((name) => isOn(agreed[name]))
    .toSorted()
    .map((name) => ({ name, value: Number(agreed[name]) }));
}

/**
 * @param party the receiver
 * @throws TandemError HANDSHAKE_MISMATCH for a list that is not what `sentDefences` makes
 */
export function receivedDefences(sent: readonly SentDefence[], party: string): Defences {
  const values = new Map<string, number>();
  let last = "";
  for (const { name, value } of sent) {
    if (!Object.hasOwn(defences, name))
      throw mismatch(
        `the active party proposes ${peerText(name)}, which ${party} does not know. Leave it out, or update ${party}`,
      );
    if (name <= last) throw mismatch(`${name} is sent twice, or out of order`);
    const { parameter } = defences[name as DefenceName];
    if (!isValue(parameter, value))
      throw mismatch(`${name} is ${value}, it must be ${describeBounds(parameter)}, and left out where it is off`);
    values.set(name, value);
    last = name;
  }
  return mapDefences<Defences>((name) =>
    defences[name].parameter.kind === "switch" ? values.has(name) : (values.get(name) ?? 0),
  );
}

/** Of a defence that is on. */
function isValue(parameter: Defence["parameter"], value: number): boolean {
  if (parameter.kind === "switch") return value === 1;
  return value > 0 && value <= parameter.max && (parameter.kind === "number" || Number.isInteger(value));
}

function mismatch(what: string): TandemError {
  return new TandemError("HANDSHAKE_MISMATCH", `defences: ${what}`);
}

/** By the names of fields: `answerNoise`. */
export function defenceFields(agreed: Defences): Readonly<Record<string, number | boolean>> {
  return Object.fromEntries(Object.entries(namedDefences(agreed)).map(([name, value]) => [fieldName(name), value]));
}

function fieldName(name: string): string {
  return name.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
}
