import type { Part } from './parts.ts';

/** A range of octets of the indexed message. */
export interface ByteRange {
  start: number;
  length: number;
}

/** Section text; `BODY[1.2]` without one is 'BODY'. For HEADER.FIELDS take HEADER, then selectHeaderFields. */
export type SectionText = 'BODY' | 'HEADER' | 'TEXT' | 'MIME';

/**
 * Finds the octets of BODY[path.what]; undefined without such a part: the response is then NIL or empty, not an error.
 * RFC 3501 6.4.5.
 *
 * Path '' is the message itself. Offsets exclude the trace lines, which are stored separately: the caller prepends them to
 * BODY[] and BODY[HEADER] and shifts partial fetches of these.
 */
export function section(parts: readonly Part[], path: string, what: SectionText): ByteRange | undefined {
  const root = parts[0];
  if (root === undefined) return undefined;
  if (path === '') return messageSection(root, what);
  const at = parts.findIndex((part) => part.path === path);
  const part = parts[at];
  if (part === undefined) return undefined;
  switch (what) {
    case 'BODY':
      return { start: part.bodyOffset, length: part.bodyLength };
    case 'MIME':
      return { start: part.headerOffset, length: part.bodyOffset - part.headerOffset };
    case 'HEADER':
    case 'TEXT':
    default:
      return isMessage(parts, at) ? messageSection(parts[at + 1] ?? part, what) : undefined;
  }
}

/** True for an attached message, which has its own header and text; its root is the next row. */
function isMessage(parts: readonly Part[], at: number): boolean {
  const path = parts[at]?.path;
  const inner = parts[at + 1]?.path;
  return parts[at]?.type === 'message' && (inner === `${path}.` || inner === `${path}.1`);
}

function messageSection(root: Part, what: SectionText): ByteRange | undefined {
  const end = root.bodyOffset + root.bodyLength;
  switch (what) {
    case 'BODY':
      return { start: root.headerOffset, length: end - root.headerOffset };
    case 'HEADER':
      return { start: root.headerOffset, length: root.bodyOffset - root.headerOffset };
    case 'TEXT':
      return { start: root.bodyOffset, length: root.bodyLength };
    case 'MIME':
    default:
      return undefined; // RFC 3501 6.4.5: MIME must be prefixed by part numbers
  }
}
