/** `--metrics-port` of `tandem party`: what Prometheus may ask for. */
import type { Command } from "commander";
import { TandemError } from "../../base/error.ts";
import { isLoopback } from "../../base/listening/loopback.ts";
import type { Emit } from "../../record/events.ts";
import { readToken } from "../model/token-file.ts";
import { portNumber } from "../whole-number.ts";

export interface MetricsFlags {
  readonly metricsPort?: string;
  readonly metricsHost: string;
  readonly metricsTokenFile?: string;
}

const loopback = "127.0.0.1";
/** Answers are made at once. */
const stopGraceMs = 1000;

export function addMetricsOptions(command: Command): Command {
  return command
    .option("--metrics-port <port>", "serve GET /metrics for Prometheus there; 0 takes a free one")
    .option("--metrics-host <host>", "where to serve them; beyond loopback a token is needed", loopback)
    .option("--metrics-token-file <file>", "a file with the token that every request for them must show");
}

export interface ServedMetrics {
  readonly emit: Emit;
  close(): Promise<void>;
}

/**
 * Says where, unless somebody has chosen the port and only programs read on.
 * @param insecure a token file that others may read is accepted
 * @throws TandemError USAGE for an impossible address, FILE_UNREADABLE and FILE_FORMAT for the token
 */
export async function serveMetrics(
  flags: MetricsFlags,
  insecure: boolean,
  emit: Emit,
  say: (text: string) => void,
): Promise<ServedMetrics> {
  const { metricsPort, metricsHost: host, metricsTokenFile: file } = flags;
  if (metricsPort === undefined) return { emit, close: () => Promise.resolve() };
  const port = portNumber("--metrics-port", metricsPort);
  if (file === undefined && !isLoopback(host))
    throw new TandemError("USAGE", `${host} can be reached from other machines. Ask for a token: --metrics-token-file`);
  const token = file === undefined ? null : await readToken(file, insecure);
  const [{ PartyMetrics }, { listenHttp }] = await Promise.all([
    import("../../record/party-metrics.ts"),
    import("../../scoring/http/http-server.ts"),
  ]);
  const metrics = new PartyMetrics();
  const handle = () => ({ status: 200, body: metrics.text() });
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
  return {
    emit(event) {
      metrics.see(event);
      emit(event);
    },
    close: () => server.close(),
  };
}
