import { query, type Read } from '../../mail/store/engine/types.ts';
import type { Source } from './outbound.ts';

/** What a program or an agent sent, as it was answered then. */
export interface SentEmail {
  id: number;
  trace: string;
  /** With angle brackets. */
  messageId: string;
  sender: string;
  /** Each with its state when the message was taken. */
  recipients: SentTo[];
  subject: string;
  tags: Record<string, string>;
  metadata: Record<string, string | number | boolean>;
  /** Of its octets, hex. */
  sha256: string;
  createdAt: number;
  scheduledAt: number | null;
  cancelledAt: number | null;
  /** Why it waited for a person when it was taken. */
  heldBecause: string | null;
  /** All of them, as sentences. */
  reasons: string[];
  /** Of its submission, when it waited then. */
  outbox: number | null;
}

/** `source`: of whom who sends did not name. */
export interface SentTo {
  address: string;
  state: FirstState;
  source?: Source;
}

/** How it stood with a recipient in the moment when the message was taken. */
export type FirstState = 'queued' | 'held' | 'delivered' | 'scheduled' | 'suppressed';

type Columns = {
  id: number;
  trace: string;
  message_id: string;
  sender: string;
  recipients: string;
  subject: string;
  tags: string;
  metadata: string;
  sha256: string;
  created_at: number;
  scheduled_at: number | null;
  cancelled_at: number | null;
  held_because: string | null;
  reasons: string;
  outbox_id: number | null;
};

const COLUMNS = `id, trace, message_id, sender, recipients, subject, tags, metadata, sha256, created_at, scheduled_at,
  cancelled_at, held_because, reasons, outbox_id`;

/** One message that an organization sent through the API. */
export const findSent = query(
  'find-sent',
  async (rx, input: { organization: number; id: number }): Promise<SentEmail | undefined> =>
    sentOf(
      await rx.get<Columns>(
        `SELECT ${COLUMNS} FROM sent_email WHERE id = ? AND organization_id = ?`,
        input.id,
        input.organization,
      ),
    ),
);

export const findSentByTrace = query('find-sent-by-trace', (rx, { trace }: { trace: string }) =>
  sentByTrace(rx, trace),
);

export async function sentByTrace(rx: Read, trace: string): Promise<SentEmail | undefined> {
  return sentOf(await rx.get<Columns>(`SELECT ${COLUMNS} FROM sent_email WHERE trace = ?`, trace));
}

function sentOf(row: Columns | undefined): SentEmail | undefined {
  return (
    row && {
      id: row.id,
      trace: row.trace,
      messageId: row.message_id,
      sender: row.sender,
      recipients: JSON.parse(row.recipients) as SentEmail['recipients'],
      subject: row.subject,
      tags: JSON.parse(row.tags) as SentEmail['tags'],
      metadata: JSON.parse(row.metadata) as SentEmail['metadata'],
      sha256: row.sha256,
      createdAt: row.created_at,
      scheduledAt: row.scheduled_at,
      cancelledAt: row.cancelled_at,
      heldBecause: row.held_because,
      reasons: JSON.parse(row.reasons) as string[],
      outbox: row.outbox_id,
    }
  );
}
