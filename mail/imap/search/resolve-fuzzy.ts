import type { ImapStore } from '../imap-store.ts';
import { runsOf } from '../wire/sequence-set.ts';
import type { SearchKey, TextKey } from './program.ts';

/** Fuzzy keys that are looked up in the index; the others match as without FUZZY. */
const MAX_FUZZY = 20;

/** A program without FUZZY, and the relevancy of messages from 1 to 100 by UID. */
export interface FuzzySearch {
  program: SearchKey;
  scores: ReadonlyMap<number, number>;
}

/**
 * Replaces FUZZY text keys by the messages whose words match in the full-text index, and adds up their relevancy. Keys
 * that the index cannot answer match as without FUZZY, which RFC 6203 3 allows.
 */
export async function resolveFuzzy(program: SearchKey, store: ImapStore, mailbox: number): Promise<FuzzySearch> {
  const scores = new Map<number, number>();
  let count = 0;
  const lookUp = async (key: TextKey): Promise<SearchKey> => {
    const found = count++ < MAX_FUZZY ? await store.relevant?.(mailbox, key) : undefined;
    if (found === undefined) return key;
    for (const [uid, score] of found) scores.set(uid, Math.min(100, (scores.get(uid) ?? 0) + score));
    return { key: 'uid', set: runsOf(Uint32Array.from(found.keys()).sort()) };
  };
  const resolve = async (key: SearchKey, isFuzzy: boolean): Promise<SearchKey> => {
    if (key.key === 'fuzzy') return resolve(key.of, true);
    if (key.key === 'not') return { key: 'not', of: await resolve(key.of, isFuzzy) };
    if (key.key === 'and' || key.key === 'or') {
      const of: SearchKey[] = [];
      for (const each of key.of) of.push(await resolve(each, isFuzzy));
      return { key: key.key, of };
    }
    return isFuzzy && 'text' in key && key.text !== '' ? lookUp(key) : key;
  };
  return { program: await resolve(program, false), scores };
}

/** Reports whether a program has FUZZY keys. */
export function hasFuzzy(key: SearchKey): boolean {
  if (key.key === 'fuzzy') return true;
  if (key.key === 'not') return hasFuzzy(key.of);
  return (key.key === 'and' || key.key === 'or') && key.of.some(hasFuzzy);
}
