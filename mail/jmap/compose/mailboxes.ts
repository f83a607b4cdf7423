import { MOST_MAILBOXES_PER_EMAIL } from '../../store/email-commands.ts';
import { id, idOrCreation, plainObject, wrong } from '../arguments.ts';
import { realId } from '../created.ts';
import { jmapId, jmapRow } from '../ids.ts';
import type { Hand } from '../../store/hand.ts';
import type { Call } from '../method.ts';
import { SetRefusal } from '../set-refusal.ts';

/** Who asks, and in whose account. */
export interface Asked {
  call: Pick<Call, 'createdIds' | 'desk' | 'session'>;
  account: number;
  /** Whose password asks; left out: a token. */
  hand?: Hand | undefined;
}

/** The row of a mailbox id, which may be the creation id of this request; undefined: none of this account's kind. */
export function mailboxRow(asked: Asked, given: string, path: string): number | undefined {
  const found = realId(asked.call, idOrCreation(given, path));
  return found === undefined ? undefined : jmapRow('mailbox', asked.account, id(found, path));
}

/** `{ "f1": true }` as rows, at least one. RFC 8621 4.1.1. */
export function readMailboxIds(asked: Asked, value: unknown, path: string): number[] {
  if (value === undefined || value === null) throw wrong(path, 'must have at least one mailbox');
  const rows = Object.entries(plainObject(value, path)).map(([given, is]) => {
    if (is !== true) throw wrong(path, 'must have true for each mailbox');
    const row = mailboxRow(asked, given, path);
    if (row === undefined) throw noMailbox(given, path);
    return row;
  });
  if (rows.length === 0) throw wrong(path, 'must have at least one mailbox');
  if (rows.length > MOST_MAILBOXES_PER_EMAIL) throw tooManyMailboxes();
  return [...new Set(rows)];
}

/** A mailbox that is not there: foreign, gone, or never made. */
export function noMailbox(given: number | string, path = 'mailboxIds'): Error {
  return wrong(
    path,
    `names ${typeof given === 'number' ? jmapId('mailbox', given) : given}, and there is no such mailbox`,
  );
}

/** RFC 8621 4.6. */
export function tooManyMailboxes(): SetRefusal {
  return new SetRefusal('tooManyMailboxes', `An email can be in ${MOST_MAILBOXES_PER_EMAIL} mailboxes at most.`);
}
