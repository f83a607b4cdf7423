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
export type StoredRef =
  | { kind: 'message'; email: number }
  | { kind: 'part'; email: number; path: string }
  | { kind: 'upload'; upload: number };

/** One of these, or a part of a message that it holds: that message was never taken apart before. */
export type BlobRef = StoredRef | { kind: 'inner'; of: BlobRef; path: string };

/** Messages inside each other that are opened for one of their parts: each is read whole for it. */
const DEEPEST = 2;

/**
 * Blob ids: `m1a` is the message m1a as it came, `m1a-2_1` its part 2.1, `u7` an upload, `u7-1` part 1 of the message that
 * it holds, `m1a-2-1` part 1 of the message that part 2 is when it is decoded.
 */
export function blobId(blob: BlobRef): string {
  switch (blob.kind) {
    case 'message':
      return jmapId('email', blob.email);
    case 'part':
      // The path of a multipart root inside an attached message ends in a dot: mail/message/parts.ts.
      return `${jmapId('email', blob.email)}-${blob.path.replaceAll('.', '_')}`;
    case 'upload':
      return jmapId('upload', blob.upload);
    case 'inner':
      return `${blobId(blob.of)}-${blob.path.replaceAll('.', '_')}`;
  }
}

/** Names a part of the message that a blob holds; undefined where that would be too deep. */
export function innerRef(of: BlobRef, path: string): BlobRef | undefined {
  return depth(of) < DEEPEST ? { kind: 'inner', of, path } : undefined;
}

const depth = (ref: BlobRef): number => (ref.kind === 'inner' ? 1 + depth(ref.of) : 0);

export function blobRef(account: number, id: string): BlobRef | undefined {
  const [base = '', ...parts] = id.split('-', 2 + DEEPEST + 1);
  if (!parts.every((part) => /^[1-9][0-9_]{0,99}$/.test(part))) return undefined;
  const paths = parts.map((part) => part.replaceAll('_', '.'));
  const [whole, inside] = baseRef(account, base, paths);
  return inside.reduce<BlobRef | undefined>((of, path) => of && innerRef(of, path), whole);
}

/** What is stored, and the paths that lead on from there. */
function baseRef(account: number, base: string, paths: string[]): [StoredRef | undefined, string[]] {
  const upload = jmapRow('upload', account, base);
  if (upload !== undefined) return [{ kind: 'upload', upload }, paths];
  const email = jmapRow('email', account, base);
  const [path, ...inside] = paths;
  if (email === undefined) return [undefined, []];
  return path === undefined ? [{ kind: 'message', email }, []] : [{ kind: 'part', email, path }, inside];
}
