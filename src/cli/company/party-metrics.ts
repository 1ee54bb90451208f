/** `--metrics-port` of `tandem party`: metrics for Prometheus. */
import type { Command } from "commander";
import { TandemError } from "../../base/error.ts";
import { isLoopback } from "../../base/listening/loopback.ts";
import type { Emit } from "../../record/events.ts";
import { readToken } from "../../base/files/token-file.ts";
import { portNumber } from "../whole-number.ts";

export interface MetricsFlags {
  readonly metricsPort?: string;
  readonly metricsHost: string;
  readonly metricsTokenFile?: string;
}

const loopback = "127.0.0.1";
/** Requests are answered without waiting. */
const stopGraceMs = 1000;

export function addMetricsOptions(command: Command): Command {
  return command
    .option("--metrics-port <port>", "serve GET /metrics for Prometheus on this port; 0: a free port")
    .option("--metrics-host <host>", "address to serve metrics on; beyond loopback a token is required", loopback)
    .option("--metrics-token-file <file>", "a file with the token that requests for metrics must carry");
}

export interface ServedMetrics {
  readonly emit: Emit;
  close(): Promise<void>;
}

/**
 * Prints the address if the port was chosen by the system or standard error is a terminal.
 * @param insecure a token file that others may read is accepted
 * @throws TandemError USAGE for an impossible address, FILE_UNREADABLE and FILE_FORMAT for the token
 */
export async function listenMetrics(
  flags: MetricsFlags,
  insecure: boolean,
  text: () => string,
  say: (text: string) => void,
): Promise<{ close(): Promise<void> }> {
  const { metricsPort, metricsHost: host, metricsTokenFile: file } = flags;
  if (metricsPort === undefined) return { close: () => Promise.resolve() };
  const port = portNumber("--metrics-port", metricsPort);
  if (file === undefined && !isLoopback(host))
    throw new TandemError(
      "USAGE",
      `${host} can be reached from other machines. Require a token with --metrics-token-file`,
    );
  const token = file === undefined ? null : await readToken(file, insecure);
  const { listenHttp } = await import("../../scoring/http/http-server.ts");
  const handle = () => ({ status: 200, body: text() });
  const server = await listenHttp([{ method: "GET", path: "/metrics", handle }], {
    host,
    port,
    token,
    bodyBytesMax: 0,
    stopGraceMs,
    onAnswer: () => {},
    onBug: () => {},
  });
  if (port === 0 || process.stderr.isTTY === true) say(`metrics: http://${host}:${server.port}/metrics`);
  return { close: () => server.close() };
}

/** Of a party, from its events. @throws TandemError as above */
export async function serveMetrics(
  flags: MetricsFlags,
  insecure: boolean,
  emit: Emit,
  say: (text: string) => void,
): Promise<ServedMetrics> {
  if (flags.metricsPort === undefined) return { emit, close: () => Promise.resolve() };
  const { PartyMetrics } = await import("../../record/party-metrics.ts");
  const metrics = new PartyMetrics();
  const { close } = await listenMetrics(flags, insecure, () => metrics.text(), say);
  return {
    emit(event) {
      metrics.see(event);
      emit(event);
    },
    close,
  };
}
