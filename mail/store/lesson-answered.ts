import type { Write } from './engine/types.ts';
import { ANSWERED } from './flags.ts';
import { type Hand, isPersons } from './hand.ts';
import { type FlagChange, noteLessons, type Place, placesOf } from './lesson.ts';

/** Where an answer says nothing: who tells a sender of junk to stop does not want more of it. */
const NOT_WANTED: readonly Place[] = ['junk', 'rejects', 'trash', 'sent', 'drafts'];

/**
 * Whom a person answers is wanted: a weak word, as one answers to complain as well, so that junk said afterwards goes
 * before it. What tokens answer, and programs, says nothing: a stranger may have talked them into it.
 */
export async function noteAnswered(
  tx: Write,
  { account, mailbox, hand }: { account: number; mailbox: number; hand?: Hand | undefined },
  changes: readonly FlagChange[],
): Promise<void> {
  const fresh = changes.filter(({ before, now }) => (now.bits & ~before.bits & ANSWERED) !== 0);
  if (fresh.length === 0 || !(await isPersons(tx, account, hand))) return;
  const places = await placesOf(tx, account, [mailbox]);
  if (NOT_WANTED.includes(places.get(mailbox)?.place ?? null)) return;
  await noteLessons(
    tx,
    account,
    fresh.map(({ email }) => email),
    'kept',
  );
}
