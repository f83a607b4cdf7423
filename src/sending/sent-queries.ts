import { query } from '../../mail/store/engine/types.ts';

export interface SentEmail {
  id: number;
  credential: string;
  trace: string;
  messageId: string;
  sender: string;
  recipients: { address: string; state: string }[];
  subject: string;
  tags: Record<string, string>;
  createdAt: number;
  scheduledAt: number | null;
  cancelledAt: number | null;
}

type Columns = {
  id: number;
  credential: string;
  trace: string;
  message_id: string;
  sender: string;
  recipients: string;
  subject: string;
  tags: string;
  created_at: number;
  scheduled_at: number | null;
  cancelled_at: number | null;
};

/** One message that a program of an organization sent. */
export const findSent = query(
  'find-sent',
  async (rx, input: { organization: number; id: number }): Promise<SentEmail | undefined> => {
    const row = await rx.get<Columns>(
      `SELECT id, credential, trace, message_id, sender, recipients, subject, tags, created_at, scheduled_at, cancelled_at
       FROM sent_email WHERE id = ? AND organization_id = ?`,
      input.id,
      input.organization,
    );
    return (
      row && {
        id: row.id,
        credential: row.credential,
        trace: row.trace,
        messageId: row.message_id,
        sender: row.sender,
        recipients: JSON.parse(row.recipients) as SentEmail['recipients'],
        subject: row.subject,
        tags: JSON.parse(row.tags) as Record<string, string>,
        createdAt: row.created_at,
        scheduledAt: row.scheduled_at,
        cancelledAt: row.cancelled_at,
      }
    );
  },
);
