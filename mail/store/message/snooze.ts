import { command, lookup, type Read, type Stamp, type Write } from '../engine/types.ts';
import { keywordSlot, kwList, SEEN } from '../mailbox/flags.ts';
import { changeEach, type EmailChange } from './email-change-commands.ts';

/** Keyword of a snoozed message, and of one that came back: draft-ietf-mailmaint-messageflag-mailboxattribute. */
export const SNOOZED = '$snoozed';
export const NEW = '$new';

/** Snoozed messages of one account. */
export const MAX_SNOOZED = 1000;
/** Messages of one command. */
const SLICE = 25;
/** A message that came back stays new, and so at the top of the inbox, for a day. */
const NEW_FOR_MS = 24 * 3600_000;

const STEP = { visible: 0, unread: 1, old: 2 } as const;

/** A snoozed message; `back`: it has come back and is at the top. */
export interface SnoozedEmail {
  email: number;
  /** ms UTC. */
  until: number;
  back: boolean;
}

/** Snoozed messages of an account, and those that came back within a day. */
export const snoozedEmails = lookup(
  'snoozed-emails',
  async (rx, { account }: { account: number }): Promise<SnoozedEmail[]> => {
    const rows = await rx.all<SnoozeRow>(
      'SELECT email_id, account_id, until, step FROM snooze WHERE account_id = ? ORDER BY until LIMIT 1000',
      account,
    );
    return rows.map(({ email_id: email, until, step }) => ({ email, until, back: step === STEP.old }));
  },
);

interface SnoozeRow extends Record<string, number> {
  email_id: number;
  account_id: number;
  until: number;
  step: number;
}

interface SnoozeInput {
  account: number;
  /** At most 25. */
  emails: readonly number[];
  /** The message that comes back as unread; the others of its conversation only become visible. */
  lead: number;
  /** ms UTC; null ends the snooze now, and nothing becomes unread. */
  until: number | null;
}

/** Snoozes messages or ends that. A message that is not visible in the account is left out. */
export const snoozeEmails = command(
  'snooze-emails',
  async (tx, input: SnoozeInput, stamp): Promise<{ kind: 'done'; changed: number } | { kind: 'too-many' }> => {
    const { account, emails, until } = input;
    if (until !== null && (await countOf(tx, account)) + emails.length > MAX_SNOOZED) return { kind: 'too-many' };
    const [add, remove] = until === null ? [[], [SNOOZED, NEW]] : [[SNOOZED], [NEW]];
    const bits = until === null ? 0 : SEEN;
    const changes = emails.map((email) => keywordChange(email, { bits, keywords: add }, { bits: 0, keywords: remove }));
    const outcomes = await changeEach(tx, { account, changes }, stamp);
    const changed = emails.filter((_, at) => outcomes[at]?.kind === 'changed');
    for (const email of changed) await keep(tx, input, email);
    return { kind: 'done', changed: changed.length };
  },
);

async function countOf(rx: Read, account: number): Promise<number> {
  const row = await rx.get<{ n: number }>('SELECT count(*) AS n FROM snooze WHERE account_id = ?', account);
  return row?.n ?? 0;
}

async function keep(tx: Write, { account, lead, until }: SnoozeInput, email: number): Promise<void> {
  if (until === null) {
    await tx.run('DELETE FROM snooze WHERE email_id = ?', email);
    return;
  }
  await tx.run(
    `INSERT INTO snooze (email_id, account_id, until, step) VALUES (?, ?, ?, ?)
     ON CONFLICT (email_id) DO UPDATE SET until = excluded.until, step = excluded.step`,
    email,
    account,
    until,
    email === lead ? STEP.unread : STEP.visible,
  );
}

type FlagPatch = Extract<NonNullable<EmailChange['keywords']>, { kind: 'patch' }>['add'];

const keywordChange = (email: number, add: FlagPatch, remove: FlagPatch): EmailChange => ({
  email,
  keywords: { kind: 'patch', add, remove },
  mailboxes: null,
});

/** Time of the next step of any account, ms UTC. */
export const nextSnoozeStep = lookup('next-snooze-step', async (rx): Promise<number | undefined> => {
  const row = await rx.get<{ until: number | null }>('SELECT min(until) AS until FROM snooze');
  return row?.until ?? undefined;
});

/** Brings a slice of due messages back, in one commit with the end of their snooze; returns if there may be more. */
export const returnSnoozed = command('return-snoozed', async (tx, _: undefined, stamp): Promise<boolean> => {
  const due = await tx.all<SnoozeRow>(
    'SELECT email_id, account_id, until, step FROM snooze WHERE until <= ? ORDER BY until LIMIT 25',
    stamp.now,
  );
  for (const row of due) await takeStep(tx, row, stamp);
  return due.length === SLICE;
});

async function takeStep(tx: Write, row: SnoozeRow, stamp: Stamp): Promise<void> {
  const { email_id: email, account_id: account, step } = row;
  const state = await stateOfEmail(tx, account, email);
  const returns = step === STEP.unread && state === 'snoozed';
  const add = { bits: 0, keywords: returns ? [NEW] : [] };
  const remove = { bits: returns ? SEEN : 0, keywords: step === STEP.old ? [NEW] : [SNOOZED] };
  if (state !== 'gone') await changeEach(tx, { account, changes: [keywordChange(email, add, remove)] }, stamp);
  if (returns) await tx.run('UPDATE snooze SET until = ?, step = 2 WHERE email_id = ?', stamp.now + NEW_FOR_MS, email);
  else await tx.run('DELETE FROM snooze WHERE email_id = ?', email);
}

/** `snoozed`: it still has the keyword, which a mail program may have removed, and was not deleted or filed as junk. */
async function stateOfEmail(rx: Read, account: number, email: number): Promise<'snoozed' | 'other' | 'gone'> {
  const entries = await rx.all<{ flags: number; kw: string | null; role: string | null }>(
    `SELECT n.flags, n.kw, m.role FROM entry n INDEXED BY entry_email JOIN mailbox m ON m.id = n.mailbox_id
     WHERE n.email_id = ? AND n.flags & 16 = 0 AND m.account_id = ? AND m.deleted_at IS NULL`,
    email,
    account,
  );
  if (entries.length === 0) return 'gone';
  const slot = await keywordSlot(rx, account, SNOOZED);
  const isSnoozed = entries.some(
    ({ flags, kw, role }) =>
      role !== 'trash' &&
      role !== 'junk' &&
      ((slot !== undefined && (flags & (1 << slot)) !== 0) || kwList(kw).includes(SNOOZED)),
  );
  return isSnoozed ? 'snoozed' : 'other';
}
