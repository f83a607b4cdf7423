/** Prefixes of public ids. */
const PREFIX = {
  organization: 'org',
  project: 'prj',
  user: 'usr',
  token: 'tok',
  recoveryKey: 'rky',
  recovery: 'rec',
  domain: 'dom',
  mailbox: 'mbx',
  credential: 'pwd',
  service: 'svc',
  apiKey: 'key',
  forwarder: 'fwd',
  alias: 'als',
  senderRule: 'rul',
  session: 'ses',
  invitation: 'inv',
  audit: 'aud',
  queue: 'que',
  route: 'rte',
  sent: 'eml',
  webhook: 'whk',
  template: 'tpl',
  outbox: 'out',
  policy: 'pol',
  proposal: 'pro',
  canary: 'can',
  import: 'imp',
} as const;

export type IdKind = keyof typeof PREFIX;

/** Returns the public id, such as `mbx_12`: short, stable, with its kind as prefix. */
export function publicId(kind: IdKind, id: number): string {
  return `${PREFIX[kind]}_${id}`;
}

/**
 * Returns the row id, or undefined if the text is no id of this kind. An id proves nothing: access is checked
 * separately.
 */
export function rowId(kind: IdKind, text: string): number | undefined {
  const match = /^([a-z]{3})_([1-9]\d{0,14})$/.exec(text);
  return match?.[1] === PREFIX[kind] ? Number(match[2]) : undefined;
}

/** Returns the regular expression for ids of a kind. */
export function idPattern(kind: IdKind): RegExp {
  return new RegExp(`^${PREFIX[kind]}_[1-9][0-9]{0,14}$`);
}
