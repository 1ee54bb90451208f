/**
 * Configs: YAML files (and so JSON), or objects of the same form, checked against a schema. An error names file, line
 * and field, and for a name that does not exist the nearest one that does. No value of the file stands in a message but
 * what the schema says about it.
 */
import { dirname, resolve } from "node:path";
import { Document, isMap, isScalar, LineCounter, parseDocument, visit } from "yaml";
import * as z from "zod";
import { readBoundedText } from "../../base/files/bounded-file.ts";
import { TandemError } from "../../base/error.ts";
import { suggestion } from "../../base/text/nearest-name.ts";
import { type ParameterSpec, resolveParameters } from "../../base/parameters/parameters.ts";
import { configLimits, configTrouble } from "./config-limits.ts";

type Path = readonly (string | number)[];

/** A config that has been parsed, and where in its file a field stands. */
export class ConfigFile {
  readonly #path: string | null;
  readonly #document: Document;
  readonly #lines: LineCounter;

  /** @param path null: it is an object */
  private constructor(path: string | null, document: Document, lines: LineCounter) {
    this.#path = path;
    this.#document = document;
    this.#lines = lines;
  }

  /** Of an object, as a file with the same fields would be. */
  static of(fields: object): ConfigFile {
    return new ConfigFile(null, new Document(fields), new LineCounter());
  }

  /** Null: it is an object. */
  get path(): string | null {
    return this.#path;
  }

  /** What paths in the config are relative to: its folder, or of an object the working directory. */
  resolve(path: string): string {
    return this.#path === null ? resolve(path) : resolve(dirname(this.#path), path);
  }

  #place(line: number): string {
    return this.#path === null ? "the config" : `${this.#path}, line ${line}`;
  }

  /** @throws TandemError FILE_UNREADABLE, or FILE_FORMAT naming the line */
  static async read(path: string): Promise<ConfigFile> {
    const text = await readBoundedText(path, { sizeBytesMax: configLimits.sizeBytes, noun: "a config" });
    if (text === null)
      throw new TandemError(
        "FILE_UNREADABLE",
        `${path}: no such file; check the path, or write a config by 'tandem init'`,
      );
    const trouble = configTrouble(text);
    if (trouble !== null) throw new TandemError("FILE_FORMAT", `${path}, line ${trouble.line}: ${trouble.what}`);
    const lines = new LineCounter();
    const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
    const [error] = document.errors;
    if (error !== undefined) {
      throw new TandemError(
        "FILE_FORMAT",
        `${path}, line ${lines.linePos(error.pos[0]).line}: this is not YAML: ${error.message.split("\n")[0]}`,
      );
    }
    return new ConfigFile(path, document, lines);
  }

  has(field: string): boolean {
    return isMap(this.#document.contents) && this.#document.contents.has(field);
  }

  hasIn(path: Path): boolean {
    return this.#document.hasIn(path);
  }

  /** @throws TandemError FILE_FORMAT naming file, line and field of the first mistake */
  parse<S extends z.ZodType>(schema: S): z.output<S> {
    if (!isMap(this.#document.contents))
      throw new TandemError("FILE_FORMAT", `${this.#place(1)}: this is not a config: it has no fields`);
    const result = schema.safeParse(this.#values());
    if (result.success) return result.data;
    // A misspelt field is missing as well: its name says more.
    const { issues } = result.error;
    throw this.#mistake(schema, issues.find(({ code }) => code === "unrecognized_keys") ?? issues[0]);
  }

  /** Aliases that stand for aliases multiply: the parser gives up where they become too many. */
  #values(): unknown {
    try {
      return this.#document.toJS({ maxAliasCount: configLimits.aliases });
    } catch (cause) {
      throw new TandemError("FILE_FORMAT", `${this.#place(this.#aliasLine())}: its aliases cannot be resolved`, {
        cause,
      });
    }
  }

  /** The line of the last alias: those before it could be resolved. */
  #aliasLine(): number {
    let line = 1;
    visit(this.#document, {
      Alias: (_key, { range }) => {
        if (range) line = this.#lines.linePos(range[0]).line;
      },
    });
    return line;
  }

  /** Hyper-parameters under a field, checked against a table of them. @throws as parse does */
  parameters<T extends Record<string, ParameterSpec>>(
    field: string,
    table: T,
    given: Readonly<Record<string, unknown>>,
  ): ReturnType<typeof resolveParameters<T>> {
    for (const [name, value] of Object.entries(given)) {
      try {
        resolveParameters(table, { [name]: value });
      } catch (error) {
        if (error instanceof TandemError) throw this.error([field, name], error.message);
        throw error;
      }
    }
    return resolveParameters(table, given);
  }

  error(field: Path, what: string): TandemError {
    return new TandemError("FILE_FORMAT", `${this.#place(this.#lineOf(field))}: ${what}`);
  }

  #mistake(schema: z.ZodType, issue: z.core.$ZodIssue): TandemError {
    const path = issue.path.filter((part) => typeof part !== "symbol");
    if (issue.code === "unrecognized_keys") {
      const [name] = issue.keys;
      const hint = suggestion(name, fieldNames(schema, path));
      return this.error([...path, name], `unknown field '${dotted([...path, name])}'${hint}`);
    }
    if (path.length > 0 && !this.#document.hasIn(path)) return this.error(path, `field '${dotted(path)}' is missing`);
    return this.error(path, `field '${dotted(path)}': ${issue.message}`);
  }

  /** The line of a field's name, or of the nearest thing around it. */
  #lineOf(field: Path): number {
    for (let length = field.length; length > 0; length--) {
      const parent = length === 1 ? this.#document.contents : this.#document.getIn(field.slice(0, length - 1), true);
      const last = field[length - 1];
      if (isMap(parent)) {
        const pair = parent.items.find(({ key }) => isScalar(key) && key.value === last);
        if (pair !== undefined && isScalar(pair.key) && pair.key.range)
          return this.#lines.linePos(pair.key.range[0]).line;
      }
      const node = this.#document.getIn(field.slice(0, length), true);
      if (isScalar(node) && node.range) return this.#lines.linePos(node.range[0]).line;
      if (isMap(node) && node.range) return this.#lines.linePos(node.range[0]).line;
    }
    return 1;
  }
}

function dotted(path: Path): string {
  return path.map((part, i) => (typeof part === "number" ? `[${part + 1}]` : i === 0 ? part : `.${part}`)).join("");
}

/** The names that an object in a schema knows. */
function fieldNames(schema: z.ZodType, path: Path): string[] {
  let at: unknown = unwrapped(schema);
  for (const part of path) {
    if (at instanceof z.ZodArray) at = unwrapped(at.element);
    else if (at instanceof z.ZodObject) at = unwrapped((at.shape as Record<string, unknown>)[part]);
    else return [];
  }
  return at instanceof z.ZodObject ? Object.keys(at.shape) : [];
}

function unwrapped(schema: unknown): unknown {
  let at = schema;
  while (at instanceof z.ZodOptional || at instanceof z.ZodDefault || at instanceof z.ZodPrefault) at = at.unwrap();
  return at;
}
