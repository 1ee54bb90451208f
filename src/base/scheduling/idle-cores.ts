/**
 * Whether this machine has a core to spare, from the operating system's own count of idle time. Work that could also be
 * done later (obfuscators for the next tree) waits for that, so that it never slows what somebody is waiting for: on
 * one machine that may be another party.
 */
import { cpus } from "node:os";

const sampleMs = 100;
/** Fraction of one core that must have stood idle. */
const idleFraction = 0.5;

/** Settles when about half a core or more has been idle for a moment, or as soon as `isUrgent` says so. */
export async function coresIdle(isUrgent: () => boolean): Promise<void> {
  while (!(await (sample ??= takeSample())) && !isUrgent());
}

/** Under way: whoever waits at the same time looks at the same one. */
let sample: Promise<boolean> | null = null;

async function takeSample(): Promise<boolean> {
  const before = idleMs();
  const started = performance.now();
  await new Promise((resolve) => setTimeout(resolve, sampleMs).unref());
  sample = null;
  return (idleMs() - before) / (performance.now() - started) >= idleFraction;
}

/** Idle milliseconds since boot, over all cores; zero where the system does not tell. */
function idleMs(): number {
  return cpus().reduce((sum, cpu) => sum + cpu.times.idle, 0);
}
