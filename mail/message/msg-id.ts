import { hash } from 'node:crypto';
import { LIMITS } from './limits.ts';

/**
 * The message ids of a Message-ID, In-Reply-To or References value, without angle brackets, in order. Folds inside an
 * id are undone and quotes of the left side dropped, so that two spellings of one id compare as equal. RFC 5256 2.2.
 */
export function messageIds(value: string): string[] {
  return writtenIds(value).map((id) => (id.startsWith('"') ? id.replace(/["\\]/g, '') : id));
}

/** The same with their quotes, as a reply has to name them. */
export function writtenIds(value: string): string[] {
  const ids: string[] = [];
  for (let open = value.indexOf('<'); open >= 0;) {
    const close = value.indexOf('>', open);
    if (close < 0) break;
    // "<a@b <c@d>": the inner one is the id.
    const start = value.lastIndexOf('<', close) + 1;
    const id = value.slice(start, close).replace(/\s/g, '');
    if (id !== '') ids.push(id);
    open = value.indexOf('<', close);
  }
  return ids;
}

/** A 64-bit signed hash of a message id, never 0n. Collisions only make two threads one. */
export function hashId(id: string): bigint {
  const value = hash('sha256', id, 'buffer').readBigInt64LE(0);
  return value === 0n ? 1n : value;
}

/** The own id of a message: with brackets as RFC 5322 has it, or the bare word that broken mailers write. */
export function ownId(value: string | undefined): string {
  if (value === undefined) return '';
  const bare = value.trim();
  return messageIds(value)[0] ?? (/^[^\s<>]{1,900}$/.test(bare) ? bare : '');
}

/** The list that MessageIndex.refs promises. */
export function threadRefs(own: string, inReplyTo: string | undefined, references: string | undefined): bigint[] {
  const line = references === undefined ? [] : messageIds(references);
  const answered = inReplyTo === undefined ? [] : messageIds(inReplyTo);
  const named = new Set(line);
  const all = [...new Set([...answered.filter((id) => !named.has(id)), ...line])].filter((id) => id !== own);
  const room = LIMITS.refs - 1;
  // The root of a long thread tells more than its middle.
  const kept = all.length <= room ? all : [...all.slice(0, 1), ...all.slice(1 - room)];
  return [own === '' ? 0n : hashId(own), ...kept.map(hashId)];
}
