/** What a measurement was made on: without it a time means nothing. */
import { execFileSync } from "node:child_process";
import { availableParallelism, cpus } from "node:os";
import { packagePath } from "../../src/base/package-root.ts";
import { selectKernel } from "../../src/crypto/paillier/index.ts";

export interface Machine {
  readonly cpu: string;
  readonly cores: number;
  readonly node: string;
  readonly kernel: string;
}

export function thisMachine(): Machine {
  return {
    cpu: cpus()[0]?.model ?? "unknown",
    cores: availableParallelism(),
    node: process.version,
    kernel: selectKernel().name,
  };
}

/** The commit of a clone; an installed package has none. */
export function thisCommit(): string {
  try {
    return execFileSync("git", ["describe", "--always", "--dirty"], {
      cwd: packagePath(),
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    }).trim();
  } catch {
    return "unknown";
  }
}
