/** What fields of configs are made of, and the messages about what is wrong. */
import * as z from "zod";
import { didYouMean } from "../text/nearest-name.ts";

export const text = z.string("must be text; put it in quotes").min(1, "must not be empty");
export const yesOrNo = z.boolean("must be true or false");
export const wholeNumber = (min: number, max: number) => {
  const what = `must be a whole number from ${min} to ${max}`;
  return z.int(what).min(min, what).max(max, what);
};
export const oneOf = <const T extends readonly string[]>(names: T) =>
  z.enum(names, { error: ({ input }) => mustBeOneOf(names, input) });
/** What is wrong with a name that is not known. The name itself is not in the message. */
export const mustBeOneOf = (names: readonly string[], given: unknown): string =>
  `must be one of ${names.join(", ")}${didYouMean(given, names)}`;
export const object = <S extends z.core.$ZodLooseShape>(shape: S) =>
  z.strictObject(shape, {
    error: (issue) => (issue.code === "invalid_type" ? "must have fields of its own, one per line" : undefined),
  });
export const listOf = <S extends z.ZodType>(item: S) => z.array(item, "must be a list");
