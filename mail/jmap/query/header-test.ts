import { decodeWords } from '../../message/encoded-word.ts';
import { readFields, unfold } from '../../message/header.ts';
import { LIMITS } from '../../message/limits.ts';
import { fold } from '../../message/words.ts';
import { type Octets, ofBytes, ofFile } from '../../store/search/message-octets.ts';
import { blobPath } from '../../store/blob.ts';
import type { Facts } from './facts.ts';
import type { Scene } from './scene.ts';

/** Emails whose headers are read at once: up to 64 KiB each come with the row. */
const PAGE = 50;

interface Stored extends Record<string, number | string | Uint8Array | null> {
  id: number;
  trace: string;
  header_length: number;
  file: string | null;
  data: Uint8Array | null;
}

const HEADERS = `SELECT e.id, e.trace, m.header_length, b.file,
    CASE WHEN b.file IS NULL THEN substr(b.data, 1, m.header_length) END AS data
  FROM email e JOIN email_meta m ON m.email_id = e.id JOIN blob b ON b.id = e.blob_id
  WHERE e.id IN (SELECT value FROM json_each(?))`;

/** Which emails have a header field, with a text in its value. Reads the headers themselves. RFC 8621 4.4.1. */
export async function headerHas(
  scene: Scene,
  field: string,
  text: string | null,
  among: readonly Facts[],
): Promise<(facts: Facts) => boolean> {
  const asked = text === null ? null : fold(text);
  const found = new Set<number>();
  for (let at = 0; at < among.length; at += PAGE) {
    scene.looked(0);
    const ids = among.slice(at, at + PAGE).map(({ id }) => id);
    for (const row of await scene.rx.all<Stored>(HEADERS, JSON.stringify(ids))) {
      if (hasField(headerOf(row, scene.blobs), field, asked)) found.add(row.id);
    }
  }
  return ({ id }) => found.has(id);
}

/** Trace and header, one character an octet. */
function headerOf({ trace, header_length: length, file, data }: Stored, blobs: string): string {
  using octets: Octets = file === null ? ofBytes(data ?? new Uint8Array(0)) : ofFile(blobPath(blobs, file));
  const header = octets.read(0, Math.min(length, LIMITS.header));
  return trace + Buffer.from(header.buffer, header.byteOffset, header.length).toString('latin1');
}

function hasField(header: string, field: string, asked: string | null): boolean {
  return readFields(header, LIMITS.fields).some(
    ({ name, value }) => name === field && (asked === null || fold(decodeWords(unfold(value))).includes(asked)),
  );
}
