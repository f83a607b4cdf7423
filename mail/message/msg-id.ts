import { hash } from 'node:crypto';
import { LIMITS } from './limits.ts';

/**
 * Lists the message ids of a Message-ID, In-Reply-To or References value, without angle brackets. Unfolds ids and drops
 * quotes of the left side, so that two spellings of one id are equal. RFC 5256 2.2.
 */
export function messageIds(value: string): string[] {
  const ids = writtenIds(value);
  return value.includes('"') ? ids.map((id) => (id.startsWith('"') ? id.replace(/["\\]/g, '') : id)) : ids;
}

/** Lists the ids as written, with quotes, for use in a reply. */
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

/** Hashes a message id to 64 bits signed, never 0n. A collision merges two threads. */
export function hashId(id: string): bigint {
  const value = hash('sha256', id, 'buffer').readBigInt64LE(0);
  return value === 0n ? 1n : value;
}

/** Reads the Message-ID of a message; accepts a bare word without brackets from broken mailers. */
export function ownId(value: string | undefined): string {
  if (value === undefined) return '';
  const bare = value.trim();
  return messageIds(value)[0] ?? (/^[^\s<>]{1,900}$/.test(bare) ? bare : '');
}

/** Builds MessageIndex.refs. */
export function threadRefs(own: string, inReplyTo: string | undefined, references: string | undefined): bigint[] {
  const line = references === undefined ? [] : messageIds(references);
  const answered = inReplyTo === undefined ? [] : messageIds(inReplyTo);
  const named = new Set(line);
  const all = [...new Set([...answered.filter((id) => !named.has(id)), ...line])].filter((id) => id !== own);
  const room = LIMITS.refs - 1;
  // Keeps the root of a long thread and drops the middle.
  const kept = all.length <= room ? all : [...all.slice(0, 1), ...all.slice(1 - room)];
  return [own === '' ? 0n : hashId(own), ...kept.map(hashId)];
}
