import { sendNotices, type SystemNotice } from '../../mail/delivery/notice.ts';
import { command } from '../../mail/store/engine/types.ts';
import { stopAgents } from '../tokens/mode-commands.ts';
import { appendAudit } from '../audit/commands.ts';
import { publicId } from '../core/ids.ts';
import { digestDay, newestDayAt } from './day.ts';

/** Retention: longer than replies are accepted, and than a digest looks back. */
const RETENTION_DAYS = 30;
const SLICE = 400;

/** Sends the digests of a day, once, and records the audit row that they name. */
export const notifyDigest = command(
  'notify-digest',
  async (
    tx,
    input: {
      organization: number;
      day: number;
      audit: number | null;
      notices: readonly SystemNotice<'daily-digest'>[];
    },
    stamp,
  ): Promise<{ notified: boolean }> => {
    const { organization, day, audit, notices } = input;
    const { changes } = await tx.run(
      `INSERT INTO digest (organization_id, day, notified_at) SELECT id, ?2, ?3 FROM organization WHERE id = ?1
       ON CONFLICT DO NOTHING`,
      organization,
      day,
      stamp.now,
    );
    if (changes === 0) return { notified: false };
    if (audit !== null) {
      await tx.run(
        `INSERT INTO audit_notification (organization_id, audit_id, notified_at) VALUES (?1, ?2, ?3)
         ON CONFLICT (organization_id) DO UPDATE SET audit_id = max(audit_notification.audit_id, ?2), notified_at = ?3`,
        organization,
        audit,
        stamp.now,
      );
    }
    await sendNotices(tx, notices, stamp);
    return { notified: true };
  },
);

/** A digest that was replied to. */
export interface AnsweredLetter {
  organization: number;
  /** Recipient of the digest. */
  user: number;
  day: number;
}

export interface StopByAnswer {
  letter: AnsweredLetter;
  /** Recipient of the digest, for the audit log. */
  email: string;
  /** Trace id of the reply. */
  trace: string;
  /** Notices to all owners. */
  letters: readonly SystemNotice<'agents-stopped'>[];
  /** Notices to the sender, if all agents were stopped before. */
  again: readonly SystemNotice<'digest-reply'>[];
}

/** Stops all agents of an organization after a reply to its digest. `before`: they were stopped already. */
export const stopByAnswer = command(
  'stop-by-reply',
  async (tx, input: StopByAnswer, stamp): Promise<{ kind: 'stopped' | 'before' | 'missing'; notified: boolean }> => {
    const { letter, email, trace, letters, again } = input;
    const { organization, user } = letter;
    const sql = 'SELECT agents_stopped_at AS at FROM organization WHERE id = ?';
    const there = await tx.get<{ at: number | null }>(sql, organization);
    if (there === undefined) return { kind: 'missing', notified: false };
    if (there.at !== null)
      return { kind: 'before', notified: await answerOnce.run(tx, { letter, letters: again }, stamp) };
    await stopAgents.run(tx, { organization, stopped: true }, stamp);
    const who = {
      actor: 'anonymous',
      actorName: `a reply to the daily digest to ${email}`,
      way: 'mail',
      ip: '',
    } as const;
    const detail = { message: trace, letterTo: publicId('user', user) };
    await appendAudit(tx, { organization, ...who, operation: 'stop_agents', target: 'agents', detail }, 'done', stamp);
    await sendNotices(tx, letters, stamp);
    return { kind: 'stopped', notified: letters.length > 0 };
  },
);

/** Replies once a digest to a message that stopped nothing: auto-responders must not loop. Returns if it did. */
export const answerOnce = command(
  'reply-once',
  async (
    tx,
    { letter, letters }: { letter: AnsweredLetter; letters: readonly SystemNotice<'digest-reply'>[] },
    stamp,
  ): Promise<boolean> => {
    const { changes } = await tx.run(
      `INSERT INTO digest_reply (organization_id, user_id, day, replied_at) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING`,
      letter.organization,
      letter.user,
      letter.day,
      stamp.now,
    );
    if (changes === 0) return false;
    await sendNotices(tx, letters, stamp);
    return letters.length > 0;
  },
);

/** Turns the daily digest of an owner on or off. */
export const setDailyLetter = command(
  'set-daily-letter',
  async (
    tx,
    { organization, user, on }: { organization: number; user: number; on: boolean },
    stamp,
  ): Promise<{ kind: 'set' | 'missing' }> => {
    const { changes } = await tx.run(
      `UPDATE member SET digest_disabled_at = iif(?1 = 1, NULL, coalesce(digest_disabled_at, ?2))
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
 * Purges old digests, and those of future days, which a wrong clock sent: such a day gets its own digest.
 */
export const purgeDigests = command('purge-digests', async (tx, _input: undefined, { now }): Promise<boolean> => {
  const before = digestDay(now) - RETENTION_DAYS;
  const letters = await tx.run(
    `DELETE FROM digest WHERE (organization_id, day) IN
       (SELECT organization_id, day FROM digest WHERE day < ? OR day > ? LIMIT ?)`,
    before,
    newestDayAt(now),
    SLICE,
  );
  const answers = await tx.run(
    `DELETE FROM digest_reply WHERE (organization_id, user_id, day) IN
       (SELECT organization_id, user_id, day FROM digest_reply WHERE day < ? LIMIT ?)`,
    before,
    SLICE,
  );
  return letters.changes === SLICE || answers.changes === SLICE;
});
