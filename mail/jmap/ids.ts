/**
 * The ids that clients see. A letter that says what it is of, then the row in base 36: short, without characters that
 * need escaping (RFC 8620 1.2), never given twice, and they mean something inside one account only.
 */
const KINDS = {
  email: 'm',
  thread: 't',
  mailbox: 'f',
  upload: 'u',
  identity: 'i',
  submission: 's',
  pushSubscription: 'p',
} as const;

export type JmapIdKind = keyof typeof KINDS;

/** Ids of an account's rows start here: mail/store/message.ts. */
const ACCOUNT_SPAN = 2 ** 32;

export function jmapId(kind: JmapIdKind, row: number): string {
  return `${KINDS[kind]}${(isOfAccount(kind) ? row % ACCOUNT_SPAN : row).toString(36)}`;
}

/** The row of an id in an account, or undefined when the text is no id of this kind. Whether it exists is asked apart. */
export function jmapRow(kind: JmapIdKind, account: number, id: string): number | undefined {
  if (!/^[a-z][1-9a-z][0-9a-z]{0,9}$/.test(id) || id[0] !== KINDS[kind]) return undefined;
  const number = Number.parseInt(id.slice(1), 36);
  if (isOfAccount(kind)) return number < ACCOUNT_SPAN ? account * ACCOUNT_SPAN + number : undefined;
  return Number.isSafeInteger(number) ? number : undefined;
}

/** The rows of a message and of its thread are counted within the account, so that they lie together. */
function isOfAccount(kind: JmapIdKind): boolean {
  return kind === 'email' || kind === 'thread';
}

/** The account of an id in the interface's words: `mbx_12` is what MCP and REST say too. */
export function accountId(account: number): string {
  return `mbx_${account}`;
}

/** What a blob id names: a whole message, a part of one with its transfer encoding taken off, or an upload. */
export type BlobRef =
  | { kind: 'message'; email: number }
  | { kind: 'part'; email: number; path: string }
  | { kind: 'upload'; upload: number };

/** Blob ids: `m1a` is the message m1a as it came, `m1a-2_1` its part 2.1, `u7` an upload. */
export function blobId(blob: BlobRef): string {
  switch (blob.kind) {
    case 'message':
      return jmapId('email', blob.email);
    case 'part':
      // The path of a multipart root inside an attached message ends in a dot: mail/message/parts.ts.
      return `${jmapId('email', blob.email)}-${blob.path.replaceAll('.', '_')}`;
    case 'upload':
      return jmapId('upload', blob.upload);
  }
}

export function blobRef(account: number, id: string): BlobRef | undefined {
  const upload = jmapRow('upload', account, id);
  if (upload !== undefined) return { kind: 'upload', upload };
  const [message = '', part, ...rest] = id.split('-');
  const email = jmapRow('email', account, message);
  if (email === undefined || rest.length > 0) return undefined;
  if (part === undefined) return { kind: 'message', email };
  return /^[1-9][0-9_]{0,99}$/.test(part) ? { kind: 'part', email, path: part.replaceAll('_', '.') } : undefined;
}
