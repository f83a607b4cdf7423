import { jmapId, jmapRow } from '../../store/object-id.ts';

export { jmapId, jmapRow, type JmapIdKind } from '../../store/object-id.ts';

/** The public account id: `mbx_12`, the same as in MCP and REST. */
export function accountId(account: number): string {
  return `mbx_${account}`;
}

/** Target of a blob id: a whole message, a decoded part of a message, or an upload. */
export type StoredRef =
  | { kind: 'message'; email: number }
  | { kind: 'part'; email: number; path: string }
  | { kind: 'upload'; upload: number };

/** A stored blob, or a part of an attached message inside one; that message is parsed on demand. */
export type BlobRef = StoredRef | { kind: 'inner'; of: BlobRef; path: string };

/** Maximum nesting of attached messages in a blob id; each level is read whole. */
const MAX_INNER_DEPTH = 2;

/**
 * Formats a blob id: `m1a` is the raw message m1a, `m1a-2_1` its part 2.1, `u7` an upload, `u7-1` part 1 of the message
 * in upload u7, `m1a-2-1` part 1 of the attached message that part 2 contains.
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

/** References a part of the message in a blob; undefined beyond the nesting limit. */
export function innerRef(of: BlobRef, path: string): BlobRef | undefined {
  return depth(of) < MAX_INNER_DEPTH ? { kind: 'inner', of, path } : undefined;
}

const depth = (ref: BlobRef): number => (ref.kind === 'inner' ? 1 + depth(ref.of) : 0);

export function blobRef(account: number, id: string): BlobRef | undefined {
  const [base = '', ...parts] = id.split('-', 2 + MAX_INNER_DEPTH + 1);
  if (!parts.every((part) => /^[1-9][0-9_]{0,99}$/.test(part))) return undefined;
  const paths = parts.map((part) => part.replaceAll('_', '.'));
  const [whole, inside] = baseRef(account, base, paths);
  return inside.reduce<BlobRef | undefined>((of, path) => of && innerRef(of, path), whole);
}

/** Splits a blob id into the stored blob and the remaining part paths. */
function baseRef(account: number, base: string, paths: string[]): [StoredRef | undefined, string[]] {
  const upload = jmapRow('upload', account, base);
  if (upload !== undefined) return [{ kind: 'upload', upload }, paths];
  const email = jmapRow('email', account, base);
  const [path, ...inside] = paths;
  if (email === undefined) return [undefined, []];
  return path === undefined ? [{ kind: 'message', email }, []] : [{ kind: 'part', email, path }, inside];
}
