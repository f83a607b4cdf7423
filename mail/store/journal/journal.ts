import { lookup, type Stamp, type Write } from '../engine/types.ts';
import { queueListenerEvents } from '../notification/listener.ts';
import { followSubmission } from './delivery-updates.ts';

/** Journal events in the order in which they can occur. */
export type JournalEvent =
  | 'received'
  /** Rejected at SMTP, and stored for review. */
  | 'refused'
  | 'forwarded'
  | 'kept'
  | 'scheduled'
  | 'submitted'
  /** Skipped: the recipient is suppressed. */
  | 'suppressed'
  | 'held'
  /** The sender was paused because of this message or its reports. */
  | 'paused'
  | 'released'
  | 'cancelled'
  | 'rerouted'
  | 'deferred'
  | 'delivered'
  | 'failed'
  /** A DSN was sent to the sender. */
  | 'bounced'
  /** A report other than a failure was received. */
  | 'reported'
  | 'answered'
  | 'complained'
  /** The recipient was suppressed, or removed from the suppression list on its own request. */
  | 'listed'
  | 'resubscribed';

type Detail = Readonly<Record<string, string | number | readonly string[]>>;

/** Owner of a line other than an account. */
export interface JournalContext {
  /**
   * Tenant of a line without an account. With neither, it belongs to the only tenant of the message so far; if there
   * are several, only the operator sees it.
   */
  tenant?: number;
  /** Message-ID with angle brackets; '' without one. */
  messageId?: string;
}

/** Writes one journal line of a message and notifies webhooks. Part of the transaction that it describes. */
export async function recordJournalEvent(
  tx: Write,
  trace: string,
  event: JournalEvent,
  account: number | null,
  detail: Detail,
  stamp: Stamp,
  { tenant, messageId }: JournalContext = {},
): Promise<void> {
  const whole = messageId === undefined || messageId === '' ? detail : { ...detail, id: messageId };
  await tx.send(
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
  await queueListenerEvents(tx, { event, trace, account, tenant, detail: whole }, stamp);
  await followSubmission(tx, { event, trace, detail: whole }, stamp);
  // Journal readers watch account 0.
  tx.touched(0);
}

/** Viewer of the journal; null: no restriction. */
export interface JournalViewer {
  tenant: number | null;
  accounts: readonly number[] | null;
}

/** The operator, who sees every line. */
export const OPERATOR_VIEW: JournalViewer = { tenant: null, accounts: null };

export interface JournalLine {
  at: number;
  event: JournalEvent;
  account: number | null;
  detail: Record<string, unknown>;
}

/** Journal lines of one message that a viewer may see, oldest first. Omits the middle of a very long list. */
export const journalOf = lookup(
  'journal-of',
  async (rx, { trace, tenant, accounts }: JournalViewer & { trace: string }): Promise<JournalLine[]> => {
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
