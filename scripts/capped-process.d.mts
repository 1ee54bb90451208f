/** What tests use of capped-process.mjs. */
export class CappedProcess {
  constructor(options: {
    readonly name: string;
    readonly capBytes: number;
    readonly phase: string;
    readonly command: readonly string[];
  });
  readonly ended: Promise<{ readonly code: number | null; readonly signal: string | null }>;
  readonly peakBytes: number;
  look(): void;
}
