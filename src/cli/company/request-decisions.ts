/** The requests of a passive party for its page, and the people who may decide there. */
import { TandemError } from "../../base/error.ts";
import { readSecretFile } from "../../base/files/secret-file.ts";
import type { RequestDecisions as ShownDecisions } from "../../dashboard/request-routes.ts";
import { configDigest, RequestDecisions } from "../../party/approvals/request-decisions.ts";
import type { PassiveConfig } from "../../party/config/config.ts";

const tokenCharsMin = 32;
const nameSyntax = /^[A-Za-z0-9._@-]{1,64}$/;

/** @param path of the config: its digest is part of each decision */
export async function openDecisions(
  { name: party, output, policy }: PassiveConfig,
  path: string,
): Promise<RequestDecisions> {
  const { directory } = output;
  return new RequestDecisions({ party, directory, config: await configDigest(path), days: policy.approval_days });
}

export async function decisionsOf(config: PassiveConfig, path: string): Promise<ShownDecisions> {
  const decisions = await openDecisions(config, path);
  return {
    list: () => decisions.list(),
    actions: () => decisions.actions(),
    approve: (request, who) => decisions.approve(request, { who, via: "page" }),
    deny: (request, who, reason) => decisions.deny(request, { who, via: "page" }, reason),
  };
}

/** @returns tokens by name. @throws TandemError; no message contains a token */
export async function approversIn(path: string, insecure: boolean): Promise<ReadonlyMap<string, string>> {
  let text: string;
  try {
    text = await readSecretFile(path, { insecure });
  } catch (cause) {
    if (cause instanceof TandemError) throw cause;
    throw new TandemError("FILE_UNREADABLE", `${path}: the approvers cannot be read`, { cause });
  }
  const approvers = new Map<string, string>();
  text.split("\n").forEach((line, i) => {
    if (line.trim() === "" || line.startsWith("#")) return;
    const [name, token = "", ...more] = line.trim().split(/\s+/);
    const wrong =
      (!nameSyntax.test(name) && "a name has up to 64 letters, digits, dots, dashes, underscores and @") ||
      ((token.length < tokenCharsMin || more.length > 0) &&
        `after the name comes a token of at least ${tokenCharsMin} characters, without spaces`) ||
      (approvers.has(name) && "this name is there twice") ||
      ([...approvers.values()].includes(token) && "this token is that of another name");
    if (wrong !== false) throw new TandemError("FILE_FORMAT", `${path}, line ${i + 1}: ${wrong}`);
    approvers.set(name, token);
  });
  return approvers;
}
