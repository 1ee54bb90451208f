/** Numbers of the command line that no parameter table describes. */
import { TandemError } from "../base/error.ts";

/** @throws TandemError USAGE */
export function wholeNumber(option: string, value: string | number, min: number, max: number): number {
  const number = Number(value);
  if (value !== "" && Number.isInteger(number) && number >= min && number <= max) return number;
  throw new TandemError("USAGE", `${option} must be an integer from ${min} to ${max}; got '${value}'`);
}

/** 0 stands for any port that is free. @throws TandemError USAGE */
export function portNumber(option: string, value: string): number {
  return wholeNumber(option, value, 0, 65535);
}
