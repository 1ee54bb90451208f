/**
 * Processes under a bound of memory, with their peaks. Where this user may make a cgroup, version 1 or 2, each process
 * has one of its own, and the kernel ends it beyond the bound. Everywhere else peaks are read from /proc and compared.
 */
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** @returns the folder of a new group with this bound, and what kind it is; null where none can be made */
function makeGroup(name, bytes) {
  const kinds = [
    { kind: "cgroup v2", root: "/sys/fs/cgroup", controller: "", file: "memory.max" },
    { kind: "cgroup v1", root: "/sys/fs/cgroup/memory", controller: "memory", file: "memory.limit_in_bytes" },
  ];
  for (const { kind, root, controller, file } of kinds) {
    const folder = join(root, ownGroup(controller), name);
    try {
      mkdirSync(folder);
    } catch {
      continue;
    }
    try {
      // Where it is not there by itself, this is a folder like any other.
      if (existsSync(join(folder, file))) {
        writeFileSync(join(folder, file), String(bytes));
        return { kind, folder };
      }
    } catch {
      // this user may not
    }
    rmdirSync(folder);
  }
  return null;
}

function ownGroup(controller) {
  const lines = readFileSync("/proc/self/cgroup", "utf8").trim().split("\n");
  const own = lines
    .map((line) => line.split(":"))
    .find(([, controllers]) => controllers.split(",").includes(controller));
  return own === undefined ? "" : own.slice(2).join(":");
}

export class CappedProcess {
  /** Per phase, in bytes. */
  peaks = {};
  cpuSeconds = 0;
  #group;
  #phase;
  #hasEnded = false;

  /** @param {{ name: string, capBytes: number, phase: string, command: readonly string[], spawn?: object }} options */
  constructor({ name, capBytes, phase, command, options = {} }) {
    this.name = name;
    this.capBytes = capBytes;
    this.#phase = phase;
    this.#group = makeGroup(`tandem-${process.pid}-${name}`, capBytes);
    const enter = this.#group === null ? "" : `echo $$ > ${this.#group.folder}/cgroup.procs && `;
    this.child = spawn("sh", ["-c", `${enter}exec "$@"`, "sh", ...command], options);
    this.ended = new Promise((resolve) =>
      this.child.once("close", (code, signal) => {
        this.#hasEnded = true;
        if (this.#group !== null) rmdirSync(this.#group.folder);
        resolve({ code, signal });
      }),
    );
  }

  /** How the bound is held. */
  get heldBy() {
    return this.#group?.kind ?? "comparing peaks";
  }

  get peakBytes() {
    return Math.max(0, ...Object.values(this.peaks));
  }

  /** Looks at the process; often enough for its last peak to be seen. */
  look() {
    if (this.#hasEnded) return;
    try {
      const status = readFileSync(`/proc/${this.child.pid}/status`, "utf8");
      const peak = 1024 * Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0);
      this.peaks[this.#phase] = Math.max(this.peaks[this.#phase] ?? 0, peak);
      const fields = readFileSync(`/proc/${this.child.pid}/stat`, "utf8").split(") ")[1].split(" ");
      this.cpuSeconds = (Number(fields[11]) + Number(fields[12])) / 100;
    } catch {
      // it has just ended
    }
  }

  /** From now on peaks are those of another phase. */
  enter(phase) {
    if (this.#hasEnded) return;
    this.look();
    this.#phase = phase;
    try {
      writeFileSync(`/proc/${this.child.pid}/clear_refs`, "5"); // the peak begins anew
    } catch {
      // it has just ended; elsewhere a peak is that of all phases so far
    }
  }
}
