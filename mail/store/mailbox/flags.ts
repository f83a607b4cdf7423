import type { Read, Write } from '../engine/types.ts';

export const SEEN = 1;
export const ANSWERED = 2;
export const FLAGGED = 4;
export const DRAFT = 8;
export const DELETED = 16;

/** Bits 0 to 30 only, since JavaScript's bit operations are 32-bit and signed. */
export const FIRST_SLOT = 5;
const LAST_SLOT = 30;
const MAX_KEYWORDS_BEYOND_SLOTS = 100;
/** Octets of their names, which are in a key: one of PostgreSQL has 2,700 at most. */
const MAX_KEYWORD_OCTETS = 2_000;

/** System flags as bits 0 to 4, and keywords by name. */
export interface NamedFlags {
  bits: number;
  keywords: readonly string[];
}

/** Flags as in an entry row. */
export interface StoredFlags {
  bits: number;
  /** Keywords without a slot, unique and sorted. */
  kw: readonly string[];
}

/** The flags of a copy that the rights on its mailbox allow to set. RFC 4314 4. */
export function copiedFlags(flags: NamedFlags, rights: string): NamedFlags {
  const seen = rights.includes('s') ? flags.bits & SEEN : 0;
  return rights.includes('w')
    ? { bits: (flags.bits & ~(SEEN | DELETED)) | seen, keywords: flags.keywords }
    : { bits: seen, keywords: [] };
}

export function kwText(flags: StoredFlags): string | null {
  return flags.kw.length === 0 ? null : flags.kw.join(' ');
}

export function kwList(text: string | null): string[] {
  return text === null ? [] : text.split(' ');
}

/** Origin of keywords, and what becomes of those that an account does not have. */
export interface KeywordSource {
  /** The agent that names them; null: a person, the server, or words that are in the account already. */
  by: string | null;
  /** Free slots of the account are assigned to new keywords. */
  making?: boolean;
}

/** Converts keyword names to bits. Undefined if a message would have too many keywords without a slot. */
export async function storeKeywords(
  tx: Write,
  account: number,
  flags: NamedFlags,
  source: KeywordSource,
): Promise<StoredFlags | undefined> {
  let { bits } = flags;
  const kw: string[] = [];
  for (const name of new Set(flags.keywords)) {
    const slot = await slotOf(tx, account, name, source);
    if (slot === undefined) kw.push(name.toLowerCase());
    else bits |= 1 << slot;
  }
  return hasTooManyKeywords(kw) ? undefined : { bits, kw: kw.sort() };
}

export function hasKeywords({ bits, kw }: StoredFlags): boolean {
  return kw.length > 0 || bits >>> FIRST_SLOT !== 0;
}

/** Reports whether a message has too many keywords without a slot. */
export function hasTooManyKeywords(kw: readonly string[]): boolean {
  return kw.length > MAX_KEYWORDS_BEYOND_SLOTS || kw.join(' ').length > MAX_KEYWORD_OCTETS;
}

/** The bit of a keyword in an account; undefined: no slot. */
export async function keywordSlot(rx: Read, account: number, name: string): Promise<number | undefined> {
  const known = await rx.get<{ slot: number }>(
    'SELECT slot FROM keyword WHERE account_id = ? AND lname = ?',
    account,
    name.toLowerCase(),
  );
  return known?.slot;
}

async function slotOf(
  tx: Write,
  account: number,
  name: string,
  { by, making = true }: KeywordSource,
): Promise<number | undefined> {
  const known = await keywordSlot(tx, account, name);
  if (known !== undefined || !making) return known;
  const last = await tx.get<{ slot: number | null }>(
    'SELECT max(slot) AS slot FROM keyword WHERE account_id = ?',
    account,
  );
  const slot = (last?.slot ?? FIRST_SLOT - 1) + 1;
  if (slot > LAST_SLOT) return undefined;
  await tx.run(
    'INSERT INTO keyword (account_id, slot, name, lname) VALUES (?, ?, ?, ?)',
    account,
    slot,
    name,
    name.toLowerCase(),
  );
  // IMAP lists the names of all slots, and a command that fails later keeps them.
  if (by !== null) await tx.hooks.onNewKeyword(tx, { account, by });
  return slot;
}

/** Counter contributions of a message: IMAP's and, without \Deleted, JMAP's. */
export function flagCounts(bits: number): { unseen: number; deleted: number; jTotal: number; jUnread: number } {
  const deleted = Number((bits & DELETED) !== 0);
  const unseen = Number((bits & SEEN) === 0);
  return { unseen, deleted, jTotal: 1 - deleted, jUnread: Number((bits & (SEEN | DRAFT | DELETED)) === 0) };
}

/** The flags after a STORE. RFC 9051 6.4.6. */
export function applyFlags(was: StoredFlags, how: 'add' | 'remove' | 'replace', given: StoredFlags): StoredFlags {
  switch (how) {
    case 'replace':
      return given;
    case 'add':
      return { bits: was.bits | given.bits, kw: [...new Set([...was.kw, ...given.kw])].sort() };
    case 'remove':
      return { bits: was.bits & ~given.bits, kw: was.kw.filter((name) => !given.kw.includes(name)) };
  }
}
