/**
 * Messages captured from earlier releases (test/fixtures/v*): those of the same wire version are decoded, those of
 * another are refused for their version and for no other reason.
 */
import type { DescMessage, DescService } from "@bufbuild/protobuf";
import { fromBinary, toBinary, toJson } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { Alignment } from "../src/wire/generated/tandem/v1/alignment_pb.ts";
import {
  LatticeHintsSchema,
  LatticeNodeSchema,
  LatticeSetUpSchema,
  LatticeSumsSchema,
} from "../src/wire/generated/tandem/v1/lattice_pb.ts";
import {
  PaillierGradientsSchema,
  PaillierSetUpSchema,
  PaillierSumsSchema,
} from "../src/wire/generated/tandem/v1/paillier_pb.ts";
import { Scoring } from "../src/wire/generated/tandem/v1/scoring_pb.ts";
import { PassiveParty } from "../src/wire/generated/tandem/v1/tandem_pb.ts";
import { thisRelease } from "../src/wire/releases.ts";
import { protocolVersion } from "../src/wire/version.ts";
import { scratchDirectory } from "./support/command.ts";
import { type CapturedMessage, OldRelease, releases } from "./support/old-release.ts";

/** What a scheme's own bytes are, by the message that carries them. */
const schemeMessages: Readonly<Record<"paillier" | "lattice", Readonly<Record<string, DescMessage>>>> = {
  paillier: {
    ActiveSetUp: PaillierSetUpSchema,
    ActiveGradients: PaillierGradientsSchema,
    PassiveHistograms: PaillierSumsSchema,
  },
  lattice: {
    ActiveSetUp: LatticeSetUpSchema,
    PassiveHints: LatticeHintsSchema,
    ActiveNode: LatticeNodeSchema,
    PassiveHistograms: LatticeSumsSchema,
  },
};

const services: readonly DescService[] = [Alignment, PassiveParty, Scoring];

function schemaOf({ call, from }: CapturedMessage): DescMessage {
  const [, service, name] = call.split("/");
  const method = services.find(({ typeName }) => typeName === service)?.methods.find((each) => each.name === name);
  if (method === undefined) throw new Error(`there is no call ${call}`);
  return from === "active" ? method.input : method.output;
}

describe.each(releases)("messages of %s", (name) => {
  const release = new OldRelease(name, scratchDirectory());
  const isSameWire = release.protocol === protocolVersion;

  // Certificates of fixtures are valid for a day.
  beforeAll(() => {
    vi.useFakeTimers({ toFake: ["Date"], now: release.captured, shouldAdvanceTime: true });
  });
  afterAll(() => {
    vi.useRealTimers();
  });

  const schemes = ["paillier", "lattice"] as const;

  test.runIf(isSameWire).each(schemes)(
    "of a job with %s are decoded whole, and encoded to the same bytes",
    (scheme) => {
      const seen = new Set<string>();
      for (const captured of release.messages(scheme)) {
        const schema = schemaOf(captured);
        const bytes = Buffer.from(captured.message, "base64");
        const message = fromBinary(schema, bytes, { readUnknownFields: false });
        expect(Buffer.from(toBinary(schema, message)).equals(bytes), captured.call).toBe(true);
        seen.add(schema.name);
        const inner = schemeMessages[scheme][schema.name];
        if (inner === undefined) continue;
        const { scheme: text = "" } = toJson(schema, message) as { scheme?: string };
        const own = Buffer.from(text, "base64");
        const decoded = fromBinary(inner, own, { readUnknownFields: false });
        expect(Buffer.from(toBinary(inner, decoded)).equals(own), inner.name).toBe(true);
      }
      expect([...seen]).toEqual(expect.arrayContaining(Object.keys(schemeMessages[scheme])));
    },
  );

  /** Calls that may be the first to a party: all of them carry the version. */
  const opening = [
    "/tandem.v1.Alignment/Begin",
    "/tandem.v1.PassiveParty/Join",
    "/tandem.v1.Scoring/Score",
    "/tandem.v1.Scoring/Tags",
    "/tandem.v1.Scoring/MaskOpen",
  ];
  test.each(opening)("%s is accepted from a party of the same wire version, and refused from others", async (call) => {
    const captured = schemes
      .flatMap((scheme) => release.messages(scheme))
      .find((message) => message.call === call && message.from === "active");
    if (captured === undefined) throw new Error(`${call} was not captured`);
    const port = await release.startShop("passive.yaml");
    const { code, words } = await release.call(port, captured);
    if (isSameWire) {
      // It is decoded: it can only be refused because no PSI has begun, or the model is unknown.
      expect(["", "ID_MISMATCH", "MODEL_UNKNOWN", "PROTOCOL_STATE"]).toContain(code);
      expect(words).not.toMatch(/version/);
    } else {
      expect(code).toBe("HANDSHAKE_MISMATCH");
      expect(words).toMatch(new RegExp(`version.*\\b${release.protocol}\\b.*\\b${protocolVersion}\\b`));
      expect(words).toContain(`runs Tandem ${name.slice(1)} (`);
      expect(words).toContain(`The active party must install Tandem ${thisRelease()} `);
    }
  });
});
