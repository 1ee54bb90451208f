/**
 * Packages that only some configs need: a database's client, an engine's, a file format's. npm installs most of them
 * with Tandem, but may be asked not to (`--omit=optional`).
 */
import { TandemError } from "./error.ts";

export interface OptionalPackages {
  /** The feature that needs them, as the beginning of a sentence: "data.sql". */
  readonly feature: string;
  readonly packages: readonly string[];
}

/** @throws TandemError USAGE with the command that installs what `load` cannot find; any other error of `load` */
export async function withPackages<T>(wanted: OptionalPackages, load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (cause) {
    throw isMissingPackage(cause) ? missingPackages(wanted, cause) : cause;
  }
}

export function missingPackages({ feature, packages }: OptionalPackages, cause: unknown): TandemError {
  const names = packages.join(" ");
  const verb = packages.length === 1 ? "is" : "are";
  return new TandemError(
    "USAGE",
    `${feature} needs ${packages.join(" and ")}, which ${verb} not installed here; run: npm install ${names}`,
    { cause },
  );
}

/** For a package, not a file: a missing file of our own is a broken installation, where this advice does not help. */
export function isMissingPackage(cause: unknown): boolean {
  if (!(cause instanceof Error) || !("code" in cause)) return false;
  if (cause.code === "ERR_MODULE_NOT_FOUND") return cause.message.startsWith("Cannot find package");
  return cause.code === "MODULE_NOT_FOUND" && !/^Cannot find module '[./\\]/.test(cause.message);
}
