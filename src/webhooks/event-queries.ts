import { query, type Read } from '../../mail/store/engine/types.ts';
import { rowId } from '../core/ids.ts';

/** Facts about an outbound message, for the body of its events. */
export interface EventFacts {
  /** The row of the send API; null: submitted otherwise. */
  sent: { id: number; subject: string; tags: Record<string, string> } | null;
  /** Message-ID with angle brackets; '' when unknown. */
  messageId: string;
  /** Envelope sender. */
  from: string;
  /** Project of the key, token or mailbox that sent it; null: none. */
  project: number | null;
}

type SentRow = {
  id: number;
  credential: string;
  message_id: string;
  sender: string;
  subject: string;
  tags: string;
};

export const eventFacts = query(
  'event-facts',
  async (rx, input: { organization: number; trace: string; account: number | null }): Promise<EventFacts> => {
    const { organization, trace, account } = input;
    const sent = await rx.get<SentRow>(
      `SELECT id, credential, message_id, sender, subject, tags FROM sent_email
       WHERE trace = ? AND organization_id = ?`,
      trace,
      organization,
    );
    if (sent !== undefined) {
      const { id, subject, message_id: messageId, sender: from } = sent;
      const project = await projectOfCredential(rx, organization, sent.credential);
      return { sent: { id, subject, tags: JSON.parse(sent.tags) as Record<string, string> }, messageId, from, project };
    }
    const line = await rx.get<{ detail: string }>(
      `SELECT detail FROM journal WHERE trace = ? AND event IN ('submitted', 'scheduled') ORDER BY id LIMIT 1`,
      trace,
    );
    const { id = '', from = '' } = JSON.parse(line?.detail ?? '{}') as { id?: string; from?: string };
    return { sent: null, messageId: id, from, project: await projectOfAccount(rx, account) };
  },
);

async function projectOfCredential(rx: Read, organization: number, credential: string): Promise<number | null> {
  const key = rowId('apiKey', credential);
  const row =
    key === undefined
      ? await rx.get<{ project_id: number | null }>(
          'SELECT project_id FROM token WHERE id = ? AND organization_id = ?',
          rowId('token', credential) ?? 0,
          organization,
        )
      : await rx.get<{ project_id: number | null }>(
          'SELECT project_id FROM api_key WHERE id = ? AND organization_id = ?',
          key,
          organization,
        );
  return row?.project_id ?? null;
}

async function projectOfAccount(rx: Read, account: number | null): Promise<number | null> {
  if (account === null) return null;
  const row = await rx.get<{ project_id: number }>(
    'SELECT project_id FROM mailbox_setup WHERE account_id = ?',
    account,
  );
  return row?.project_id ?? null;
}
