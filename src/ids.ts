/** Kinds of things that have a public id. */
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
} as const;

export type IdKind = keyof typeof PREFIX;

/** The id that people and agents see, such as `mbx_12`: short, stable, and it says what it is of. */
export function publicId(kind: IdKind, id: number): string {
  return `${PREFIX[kind]}_${id}`;
}

/** The row's number, or undefined when the text is no id of this kind. An id proves nothing: who asks is checked apart. */
export function rowId(kind: IdKind, text: string): number | undefined {
  const match = /^([a-z]{3})_([1-9]\d{0,14})$/.exec(text);
  return match?.[1] === PREFIX[kind] ? Number(match[2]) : undefined;
}

/** A regular expression for ids of a kind, for schemas. */
export function idPattern(kind: IdKind): RegExp {
  return new RegExp(`^${PREFIX[kind]}_[1-9][0-9]{0,14}$`);
}
