/** Opens the config of one role, and refuses that of another with advice, before its fields are read. */
import { ConfigFile } from "./config-file.ts";

type Role = "active" | "passive" | "worker" | "relay";

/** A field that every config of a role has, and no other config has. */
const fieldOf: Readonly<Record<Role, string>> = {
  active: "passives",
  passive: "active",
  worker: "servers",
  relay: "rooms",
};
const ownerOf: Readonly<Record<Role, string>> = {
  active: "the active party",
  passive: "a passive party",
  worker: "a worker",
  relay: "a relay",
};

/** Of a party's config. @throws TandemError as openConfig does */
export async function roleOfConfig(path: string): Promise<"active" | "passive"> {
  const file = await ConfigFile.read(path);
  if (file.has(fieldOf.active)) return "active";
  await openConfig(path, "passive");
  return "passive";
}

/**
 * @param given the path of a file, or the fields of one
 * @throws TandemError FILE_UNREADABLE, or FILE_FORMAT for another role's config
 */
export async function openConfig(given: string | object, role: Role): Promise<ConfigFile> {
  const file = typeof given === "string" ? await ConfigFile.read(given) : ConfigFile.of(given);
  const other = (Object.keys(fieldOf) as Role[]).find((each) => each !== role && file.has(fieldOf[each]));
  if (other === undefined || file.has(fieldOf[role])) return file;
  const field = fieldOf[other];
  throw file.error(
    [field],
    `this is the config of ${ownerOf[other]}, as field '${field}' shows; use the config of ${ownerOf[role]}`,
  );
}
