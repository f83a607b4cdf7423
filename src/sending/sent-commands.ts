import { schedule, unschedule } from '../../mail/delivery/schedule.ts';
import { type Outgoing, send } from '../../mail/delivery/submit.ts';
import { textKey } from '../../mail/message/address.ts';
import { type Allowance, type OverAllowance, takeAllowance } from '../../mail/store/allowance.ts';
import { command, type Stamp, type Write } from '../../mail/store/engine/types.ts';
import { note } from '../../mail/store/journal.ts';
import { suppressed } from '../../mail/store/suppression.ts';

const KEY_MS = 24 * 3_600_000;

export interface SendRequest {
  outgoing: Outgoing;
  allowance: Allowance | null;
  organization: number;
  /** Public id of the key or token. */
  credential: string;
  messageId: string;
  subject: string;
  tags: Readonly<Record<string, string>>;
  /** ms UTC; null: now. */
  sendAt: number | null;
  /** What makes a repeated request the same one. */
  idempotency: { key: string; request: Uint8Array } | null;
}

export type SendOutcome =
  | { kind: 'sent' | 'repeated'; id: number; queued: boolean }
  /** The key was used for another request. */
  | { kind: 'changed' }
  /** Nobody is left whom this organization still writes to. */
  | { kind: 'suppressed'; recipients: { address: string; reason: string }[] }
  | OverAllowance;

/** Takes what a program sends, in one commit: the message, its record, and the key that keeps it from being sent twice. */
export const sendEmail = command('send-email', async (tx, request: SendRequest, stamp): Promise<SendOutcome> => {
  const { idempotency, credential } = request;
  const before = idempotency === null ? undefined : await earlier(tx, credential, idempotency.key, stamp);
  if (before !== undefined && idempotency !== null) {
    const same = Buffer.from(before.request).equals(Buffer.from(idempotency.request));
    return same ? { kind: 'repeated', id: before.sent_id, queued: false } : { kind: 'changed' };
  }
  const { outgoing, blocked } = await withoutSuppressed(tx, request);
  if (outgoing.here.length + outgoing.elsewhere.length === 0) return { kind: 'suppressed', recipients: blocked };
  const over = await overAllowance(tx, request, outgoing, stamp);
  if (over !== undefined) return over;
  return { kind: 'sent', ...(await record(tx, request, outgoing, blocked, stamp)) };
});

async function earlier(
  tx: Write,
  credential: string,
  key: string,
  { now }: Stamp,
): Promise<{ request: Uint8Array; sent_id: number } | undefined> {
  await tx.run(
    'DELETE FROM idempotency WHERE (credential, key) IN (SELECT credential, key FROM idempotency WHERE created_at <= ? LIMIT 50)',
    now - KEY_MS,
  );
  return tx.get(
    'SELECT request, sent_id FROM idempotency WHERE credential = ? AND key = ? AND created_at > ?',
    credential,
    key,
    now - KEY_MS,
  );
}

async function withoutSuppressed(
  tx: Write,
  { outgoing, organization }: SendRequest,
): Promise<{ outgoing: Outgoing; blocked: { address: string; reason: string }[] }> {
  const texts = recipientsOf(outgoing);
  const rows = await suppressed(tx, organization, texts.map(textKey));
  const reasons = new Map(rows.map((row) => [row.key, row.reason]));
  const open = (text: string): boolean => !reasons.has(textKey(text));
  return {
    outgoing: {
      ...outgoing,
      here: outgoing.here.filter((one) => open(one.to)),
      elsewhere: outgoing.elsewhere.filter((one) => open(one.recipient)),
      ...(outgoing.local !== undefined && { local: outgoing.local.filter(open) }),
    },
    blocked: texts
      .filter((text) => !open(text))
      .map((address) => ({ address, reason: reasons.get(textKey(address)) ?? '' })),
  };
}

async function overAllowance(
  tx: Write,
  { allowance, organization }: SendRequest,
  outgoing: Outgoing,
  stamp: Stamp,
): Promise<OverAllowance | undefined> {
  if (allowance === null) return undefined;
  return takeAllowance(tx, { tenant: organization, allowance, recipients: recipientsOf(outgoing).map(textKey) }, stamp);
}

async function record(
  tx: Write,
  request: SendRequest,
  outgoing: Outgoing,
  blocked: readonly { address: string; reason: string }[],
  stamp: Stamp,
): Promise<{ id: number; queued: boolean }> {
  const { organization, credential, messageId, subject, tags, sendAt, idempotency } = request;
  const recipients = [
    ...recipientsOf(outgoing).map((address) => ({ address, state: 'queued' })),
    ...blocked.map(({ address }) => ({ address, state: 'suppressed' })),
  ];
  const queued = sendAt === null ? (await send(tx, outgoing, stamp)).queued : false;
  if (sendAt !== null) await schedule(tx, outgoing, { until: sendAt, heldBecause: null, spares: true }, stamp);
  for (const { address: to, reason: because } of blocked) {
    await note(tx, outgoing.trace, 'suppressed', null, { to, because }, stamp, { tenant: organization });
  }
  const { id } = await tx.run(
    `INSERT INTO sent_email (organization_id, credential, trace, message_id, sender, recipients, subject, tags,
       created_at, scheduled_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    organization,
    credential,
    outgoing.trace,
    messageId,
    outgoing.sender,
    JSON.stringify(recipients),
    subject,
    JSON.stringify(tags),
    stamp.now,
    sendAt,
  );
  if (idempotency !== null) {
    await tx.run(
      `INSERT INTO idempotency (credential, key, request, sent_id, created_at) VALUES (?, ?, ?, ?, ?)
       ON CONFLICT (credential, key) DO UPDATE SET request = excluded.request, sent_id = excluded.sent_id,
         created_at = excluded.created_at`,
      credential,
      idempotency.key,
      idempotency.request,
      id,
      stamp.now,
    );
  }
  return { id, queued };
}

export type Cancelled = { kind: 'cancelled' | 'missing' | 'gone' };

/** Takes a scheduled message back; `gone`: it has left already, or was cancelled before. */
export const cancelSent = command(
  'cancel-sent',
  async (tx, input: { organization: number; id: number }, stamp): Promise<Cancelled> => {
    const row = await tx.get<{ trace: string }>(
      'SELECT trace FROM sent_email WHERE id = ? AND organization_id = ?',
      input.id,
      input.organization,
    );
    if (row === undefined) return { kind: 'missing' };
    if (!(await unschedule(tx, row.trace, stamp))) return { kind: 'gone' };
    await tx.run('UPDATE sent_email SET cancelled_at = ? WHERE id = ?', stamp.now, input.id);
    return { kind: 'cancelled' };
  },
);

const recipientsOf = ({ here, elsewhere }: Outgoing): string[] => [
  ...here.map((one) => one.to),
  ...elsewhere.map((one) => one.recipient),
];
