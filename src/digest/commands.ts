import { type Outgoing, send } from '../../mail/delivery/submit.ts';
import { command } from '../../mail/store/engine/types.ts';
import { stopAgents } from '../agents/mode-commands.ts';
import { appendAudit } from '../audit/commands.ts';
import { publicId } from '../ids.ts';
import { dayOf, newestDayAt } from './day.ts';

/** Longer than an answer is taken, and than a letter looks back. */
const KEEP_DAYS = 30;
const SLICE = 400;

/** Sends the letters of a day, once, with the row of the audit log that they name. */
export const tellDigest = command(
  'tell-digest',
  async (
    tx,
    input: { organization: number; day: number; audit: number | null; letters: readonly Outgoing[] },
    stamp,
  ): Promise<{ told: boolean }> => {
    const { organization, day, audit, letters } = input;
    const { changes } = await tx.run(
      `INSERT INTO digest (organization_id, day, told_at) SELECT id, ?2, ?3 FROM organization WHERE id = ?1
       ON CONFLICT DO NOTHING`,
      organization,
      day,
      stamp.now,
    );
    if (changes === 0) return { told: false };
    if (audit !== null) {
      await tx.run(
        `INSERT INTO audit_told (organization_id, audit_id, told_at) VALUES (?1, ?2, ?3)
         ON CONFLICT (organization_id) DO UPDATE SET audit_id = max(audit_id, ?2), told_at = ?3`,
        organization,
        audit,
        stamp.now,
      );
    }
    for (const letter of letters) await send(tx, letter, stamp);
    return { told: true };
  },
);

/** A letter that was answered. */
export interface AnsweredLetter {
  organization: number;
  /** To whom it was. */
  user: number;
  day: number;
}

export interface StopByAnswer {
  letter: AnsweredLetter;
  /** To whom the letter was, for the log. */
  email: string;
  /** Of the answer. */
  trace: string;
  /** To all owners. */
  letters: readonly Outgoing[];
  /** To who answered, when all were stopped before. */
  again: readonly Outgoing[];
}

/** Stops all agents of an organization, as an answer to its daily letter asks. `before`: they were stopped already. */
export const stopByAnswer = command(
  'stop-by-answer',
  async (tx, input: StopByAnswer, stamp): Promise<{ kind: 'stopped' | 'before' | 'missing'; told: boolean }> => {
    const { letter, email, trace, letters, again } = input;
    const { organization, user } = letter;
    const sql = 'SELECT agents_stopped_at AS at FROM organization WHERE id = ?';
    const there = await tx.get<{ at: number | null }>(sql, organization);
    if (there === undefined) return { kind: 'missing', told: false };
    if (there.at !== null) return { kind: 'before', told: await answerOnce.run(tx, { letter, letters: again }, stamp) };
    await stopAgents.run(tx, { organization, stopped: true }, stamp);
    const who = {
      actor: 'anonymous',
      actorName: `an answer to the daily letter to ${email}`,
      way: 'mail',
      ip: '',
    } as const;
    const detail = { message: trace, letterTo: publicId('user', user) };
    await appendAudit(tx, { organization, ...who, operation: 'stop_agents', target: 'agents', detail }, 'done', stamp);
    for (const one of letters) await send(tx, one, stamp);
    return { kind: 'stopped', told: letters.length > 0 };
  },
);

/** Writes back to an answer that stopped nothing, once a letter: programs answer each other for ever. Answers whether it did. */
export const answerOnce = command(
  'answer-once',
  async (
    tx,
    { letter, letters }: { letter: AnsweredLetter; letters: readonly Outgoing[] },
    stamp,
  ): Promise<boolean> => {
    const { changes } = await tx.run(
      `INSERT INTO digest_answer (organization_id, user_id, day, answered_at) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING`,
      letter.organization,
      letter.user,
      letter.day,
      stamp.now,
    );
    if (changes === 0) return false;
    for (const one of letters) await send(tx, one, stamp);
    return letters.length > 0;
  },
);

/** An owner wants the daily letter, or wants it no more. */
export const setDailyLetter = command(
  'set-daily-letter',
  async (
    tx,
    { organization, user, on }: { organization: number; user: number; on: boolean },
    stamp,
  ): Promise<{ kind: 'set' | 'missing' }> => {
    const { changes } = await tx.run(
      `UPDATE member SET daily_letter_off_at = iif(?1, NULL, coalesce(daily_letter_off_at, ?2))
       WHERE organization_id = ?3 AND user_id = ?4 AND role = 'owner'`,
      Number(on),
      stamp.now,
      organization,
      user,
    );
    return { kind: changes === 0 ? 'missing' : 'set' };
  },
);

/**
 * Forgets letters of which nobody asks any more, and those of days to come, which a clock that ran ahead sent: when their
 * day is there it has its own.
 */
export const forgetDigests = command('forget-digests', async (tx, _input: undefined, { now }): Promise<boolean> => {
  const before = dayOf(now) - KEEP_DAYS;
  const letters = await tx.run(
    `DELETE FROM digest WHERE (organization_id, day) IN
       (SELECT organization_id, day FROM digest WHERE day < ? OR day > ? LIMIT ?)`,
    before,
    newestDayAt(now),
    SLICE,
  );
  const answers = await tx.run(
    `DELETE FROM digest_answer WHERE (organization_id, user_id, day) IN
       (SELECT organization_id, user_id, day FROM digest_answer WHERE day < ? LIMIT ?)`,
    before,
    SLICE,
  );
  return letters.changes === SLICE || answers.changes === SLICE;
});
