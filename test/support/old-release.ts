/**
 * The artefacts of an earlier release (test/fixtures/v*), unpacked: a bank and a shop with their jobs, as they were on
 * the day of the capture, and parties of the code at hand that take them over.
 */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { connect } from "node:http2";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import { parse, stringify } from "yaml";
import { unbundle } from "../../scripts/fixtures/bundle.mjs";
import {
  type ActiveConfig,
  type ActiveConfigInput,
  type PassiveConfigInput,
  readActiveConfig,
  readPassiveConfig,
} from "../../src/party/config/config.ts";
import { RunningParty } from "../world/running-party.ts";

const fixtures = fileURLToPath(new URL("../fixtures/", import.meta.url));

/** The names of all releases that have fixtures. */
export const releases: readonly string[] = readdirSync(fixtures).filter((name) => /^v\d/.test(name));

export interface CapturedMessage {
  /** The path of its call. */
  readonly call: string;
  readonly from: "active" | "passive";
  /** Base64. */
  readonly message: string;
}

export class OldRelease {
  /** Of the fixtures. */
  readonly folder: string;
  /** Where the artefacts are unpacked. */
  readonly root: string;
  /** The wire version. */
  readonly protocol: number;
  /** Certificates were valid then. */
  readonly captured: Date;

  /** @param root an empty folder; with `isEmpty` false one that has the artefacts */
  constructor(name: string, root: string, isEmpty = true) {
    this.folder = join(fixtures, name);
    this.root = root;
    if (isEmpty) unbundle(readFileSync(join(this.folder, "artefacts.json.gz")), root);
    const about = JSON.parse(readFileSync(join(this.folder, "capture.json"), "utf8")) as Record<string, unknown>;
    this.protocol = Number(about["protocol"]);
    this.captured = new Date(String(about["captured"]));
  }

  /** Of artefacts that were unpacked and copied. */
  static at(name: string, root: string): OldRelease {
    return new OldRelease(name, root, false);
  }

  path(...names: string[]): string {
    return join(this.root, ...names);
  }

  read(...names: string[]): string {
    return readFileSync(this.path(...names), "utf8");
  }

  list(...names: string[]): string[] {
    return readdirSync(this.path(...names)).filter((name) => !name.startsWith("."));
  }

  messages(scheme: string): CapturedMessage[] {
    const lines = readFileSync(join(this.folder, "messages", `${scheme}.jsonl`), "utf8").trim();
    return lines.split("\n").map((line) => JSON.parse(line) as CapturedMessage);
  }

  /**
   * The shop, until the test has finished.
   * @param config its file in the shop's folder
   * @returns the port
   */
  async startShop(config: string, policy: PassiveConfigInput["policy"] = {}): Promise<number> {
    const given = parse(this.read("shop", config)) as PassiveConfigInput;
    const path = this.path("shop", `changed-${config}`);
    writeFileSync(path, stringify({ ...given, policy: { ...given.policy, ...policy } }));
    const shop = await RunningParty.start(await readPassiveConfig(path));
    onTestFinished(() => shop.stop());
    return shop.port;
  }

  /** The bank's config of a job, with the shop at this port. */
  async bankConfig(job: string, port: number, changes: Partial<ActiveConfigInput> = {}): Promise<ActiveConfig> {
    const given = parse(this.read("bank", `active-${job}.yaml`)) as ActiveConfigInput;
    const path = this.path("bank", `changed-${job}.yaml`);
    const passives = given.passives.map((passive) => ({ ...passive, port }));
    writeFileSync(path, stringify({ ...given, passives, ...changes }));
    return readActiveConfig(path, () => job);
  }

  /** Sends the first message of a call as the bank did, byte for byte. @returns how gRPC says that it was answered */
  call(port: number, { call, message }: CapturedMessage): Promise<{ status: string; code: string; words: string }> {
    const session = connect(`https://127.0.0.1:${port}`, {
      cert: this.read("bank", "certificate.pem"),
      key: this.read("bank", "key.pem"),
      rejectUnauthorized: false,
    });
    const bytes = Buffer.from(message, "base64");
    const head = Buffer.alloc(5);
    head.writeUInt32BE(bytes.length, 1);
    const headers = { ":method": "POST", ":path": call, "content-type": "application/grpc", te: "trailers" };
    return new Promise((resolve, reject) => {
      const stream = session.request(headers);
      const answer = (given: object): void => {
        const fields = given as Record<string, string | undefined>;
        const status = fields["grpc-status"];
        if (status === undefined) return;
        const words = decodeURIComponent(fields["grpc-message"] ?? "");
        resolve({ status, code: fields["tandem-code"] ?? "", words });
        session.destroy();
      };
      // A stream that lasts is answered with its first message.
      stream.once("data", () => {
        stream.once("trailers", answer);
        setTimeout(() => {
          resolve({ status: "0", code: "", words: "" });
          session.destroy();
        }, 50);
      });
      stream.on("response", answer).on("trailers", answer).on("error", reject);
      stream.end(Buffer.concat([head, bytes]));
    });
  }
}
