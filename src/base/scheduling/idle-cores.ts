/**
 * Whether this machine has an idle core, from the operating system's idle time. Work that could also be done later
 * (obfuscators for the next tree) waits for that, so that it never slows urgent work: on one machine that may be
 * another party's.
 */
import { cpus } from "node:os";

const sampleMs = 100;
/** The required idle fraction of one core. */
const idleFraction = 0.5;

/** Settles when about half a core or more has been idle for a moment, or as soon as `isUrgent` says so. */
export async function coresIdle(isUrgent: () => boolean): Promise<void> {
  while (!(await (sample ??= takeSample())) && !isUrgent());
}

/** The current sample, shared by all concurrent callers. */
let sample: Promise<boolean> | null = null;

async function takeSample(): Promise<boolean> {
  const before = idleMs();
  const started = performance.now();
  await new Promise((resolve) => setTimeout(resolve, sampleMs).unref());
  sample = null;
  return (idleMs() - before) / (performance.now() - started) >= idleFraction;
}

/** Idle milliseconds since boot, over all cores; zero if the system does not report it. */
function idleMs(): number {
  return cpus().reduce((sum, cpu) => sum + cpu.times.idle, 0);
}
