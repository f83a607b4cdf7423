import { lookup, query, type Read } from '../../mail/store/engine/types.ts';
import type { RecipientFields } from './outbound.ts';

/** Record of a message sent by a program or an agent. */
export interface SentEmail {
  id: number;
  trace: string;
  /** With angle brackets. */
  messageId: string;
  sender: string;
  /** Each with its state at acceptance. */
  recipients: SentRecipient[];
  subject: string;
  tags: Record<string, string>;
  metadata: Record<string, string | number | boolean>;
  /** Hash of the message octets, hex. */
  sha256: string;
  createdAt: number;
  scheduledAt: number | null;
  cancelledAt: number | null;
  /** Main reason for a hold at acceptance; null: not held. */
  heldBecause: string | null;
  /** All hold reasons, as sentences. */
  reasons: string[];
  /** Outbox row, if it was held or scheduled. */
  outbox: number | null;
}

export interface SentRecipient extends RecipientFields {
  address: string;
  state: InitialState;
}

/** State of a recipient at acceptance. */
export type InitialState = 'queued' | 'held' | 'delivered' | 'scheduled' | 'suppressed';

type JsonField = 'recipients' | 'tags' | 'metadata' | 'reasons';
type StoredSentEmail = Omit<SentEmail, JsonField> & Record<JsonField, string>;

const COLUMNS = `id, trace, message_id AS "messageId", sender, recipients, subject, tags, metadata, sha256,
  created_at AS "createdAt", scheduled_at AS "scheduledAt", cancelled_at AS "cancelledAt", hold_reason AS "heldBecause",
  reasons, outbox_id AS outbox`;

/** Finds one message that an organization sent through the API. */
export const findSent = lookup(
  'find-sent',
  async (rx, input: { organization: number; id: number }): Promise<SentEmail | undefined> =>
    sentOf(
      await rx.get<StoredSentEmail>(
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
  return sentOf(await rx.get<StoredSentEmail>(`SELECT ${COLUMNS} FROM sent_email WHERE trace = ?`, trace));
}

function sentOf(row: StoredSentEmail | undefined): SentEmail | undefined {
  return (
    row && {
      ...row,
      recipients: JSON.parse(row.recipients) as SentEmail['recipients'],
      tags: JSON.parse(row.tags) as SentEmail['tags'],
      metadata: JSON.parse(row.metadata) as SentEmail['metadata'],
      reasons: JSON.parse(row.reasons) as string[],
    }
  );
}
