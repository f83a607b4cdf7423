import { query, type Stamp, type Write } from './engine/types.ts';
import { noteHappening } from './listener.ts';
import { followSubmission } from './submission-story.ts';

/** What can happen to a message, in the order in which it can. */
export type JournalEvent =
  | 'received'
  /** At the door, and kept for some days to be looked at. */
  | 'refused'
  | 'forwarded'
  | 'kept'
  | 'scheduled'
  | 'submitted'
  /** Left out, being on the suppression list. */
  | 'suppressed'
  | 'held'
  /** Its sender was, for this message or what came back to it. */
  | 'paused'
  | 'released'
  | 'cancelled'
  | 'rerouted'
  | 'deferred'
  | 'delivered'
  | 'failed'
  /** We told its sender. */
  | 'bounced'
  /** A report came back that is no failure. */
  | 'reported'
  | 'answered'
  | 'complained'
  /** The recipient came onto the suppression list, or off it by its own wish. */
  | 'listed'
  | 'resubscribed';

type Detail = Readonly<Record<string, string | number | readonly string[]>>;

/** What a line belongs to beside an account. */
export interface About {
  /**
   * Whose line it is when no account says it. A line of neither is that of the one tenant that the story has so far; where
   * there are several it is shown to nobody but the operator of the box.
   */
  tenant?: number;
  /** Its Message-ID with angle brackets, '' when it has none. */
  messageId?: string;
}

/** Writes one line of a message's story, and has those told who listen. Part of the transaction that it tells of. */
export async function note(
  tx: Write,
  trace: string,
  event: JournalEvent,
  account: number | null,
  detail: Detail,
  stamp: Stamp,
  { tenant, messageId }: About = {},
): Promise<void> {
  const whole = messageId === undefined || messageId === '' ? detail : { ...detail, id: messageId };
  await tx.run(
    `INSERT INTO journal (at, trace, event, account_id, detail, tenant)
     VALUES (?1, ?2, ?3, ?4, ?5, coalesce(?6, (SELECT tenant FROM account WHERE id = ?4),
       (SELECT CASE WHEN min(tenant) = max(tenant) THEN min(tenant) END FROM journal WHERE trace = ?2)))`,
    stamp.now,
    trace,
    event,
    account,
    JSON.stringify(whole),
    tenant ?? null,
  );
  await noteHappening(tx, { event, trace, account, tenant, detail: whole }, stamp);
  await followSubmission(tx, { event, trace, detail: whole }, stamp);
  // Who follows the journal is woken by nobody's account.
  tx.touched(0);
}

/** Who asks: null is no limit. */
export interface Viewer {
  tenant: number | null;
  accounts: readonly number[] | null;
}

/** The operator of the box, who is told everything. */
export const OPERATOR_VIEW: Viewer = { tenant: null, accounts: null };

export interface JournalLine {
  at: number;
  event: JournalEvent;
  account: number | null;
  detail: Record<string, unknown>;
}

/** What a viewer may know of the story of one message, oldest first. Of a very long one the middle is left out. */
export const journalOf = query(
  'journal-of',
  async (rx, { trace, tenant, accounts }: Viewer & { trace: string }): Promise<JournalLine[]> => {
    const only = accounts === null ? null : JSON.stringify(accounts);
    const rows = await rx.all<{ at: number; event: JournalEvent; account_id: number | null; detail: string }>(
      `WITH own AS (SELECT id, at, event, account_id, detail FROM journal WHERE trace = ?1
         AND (?2 IS NULL OR tenant = ?2) AND (?3 IS NULL OR account_id IN (SELECT value FROM json_each(?3))))
       SELECT * FROM (SELECT * FROM own ORDER BY id LIMIT 100)
       UNION SELECT * FROM (SELECT * FROM own ORDER BY id DESC LIMIT 900) ORDER BY id`,
      trace,
      tenant,
      only,
    );
    return rows.map((row) => ({
      at: row.at,
      event: row.event,
      account: row.account_id,
      detail: JSON.parse(row.detail) as Record<string, unknown>,
    }));
  },
);
