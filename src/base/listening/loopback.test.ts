import { describe, expect, test } from "vitest";
import { isLoopback } from "./loopback.ts";

describe("whether a host is this machine alone", () => {
  test.each(["localhost", "LocalHost", "127.0.0.1", "127.9.9.9", "127.255.255.255"])("%s is", (host) =>
    expect(isLoopback(host)).toBe(true),
  );

  test.each(["::1", "0:0:0:0:0:0:0:1", "0::0001", "::ffff:127.0.0.1", "::FFFF:7f00:1", "0:0:0:0:0:ffff:127.1.2.3"])(
    "%s is, in any spelling",
    (host) => expect(isLoopback(host)).toBe(true),
  );

  test.each(["0.0.0.0", "::", "", "10.0.0.1", "128.0.0.1", "::2", "::ffff:10.0.0.1", "::127.0.0.1", "fe80::1%lo"])(
    "'%s' is not",
    (host) => expect(isLoopback(host)).toBe(false),
  );

  test.each(["127.evil.example", "127.0.0.1.evil.example", "127.999.1.1", "127.1", "localhost.evil.example", "[::1]"])(
    "%s is a name, and may point anywhere",
    (host) => expect(isLoopback(host)).toBe(false),
  );
});
