/** Extensions that a client enables, as they are named in CAPABILITY. */
export const ENABLE_NAMES = ['IMAP4rev2', 'UTF8=ACCEPT', 'CONDSTORE', 'QRESYNC', 'UIDONLY'] as const;

export type EnabledExtension = (typeof ENABLE_NAMES)[number];

export type EnabledExtensions = ReadonlySet<EnabledExtension>;

/** The state of every session until ENABLE: one set, shared by thousands of sessions. */
export const NOTHING_ENABLED: EnabledExtensions = new Set();

/** Extensions that another one contains. RFC 7162 3.2.3. */
const IMPLIED: Partial<Record<EnabledExtension, readonly EnabledExtension[]>> = { QRESYNC: ['CONDSTORE'] };

/** The set with one more extension, and with those that it implies. */
export function withEnabled(enabled: EnabledExtensions, name: EnabledExtension): EnabledExtensions {
  return enabled.has(name) ? enabled : new Set([...enabled, name, ...(IMPLIED[name] ?? [])]);
}

/** The extension of a name in any case; undefined: it cannot be enabled. */
export function enabledNamed(name: string): EnabledExtension | undefined {
  return ENABLE_NAMES.find((known) => known.toUpperCase() === name.toUpperCase());
}
