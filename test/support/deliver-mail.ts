import { deliver, deliveryTrace } from '../../mail/delivery/deliver.ts';
import { indexMessage } from '../../mail/message/indexer.ts';
import type { Trust } from '../../mail/policy/trust.ts';
import type { MailStore } from '../../mail/store/store.ts';
import { TRUST } from './put-mail.ts';

let delivered = 0;

interface To {
  account: number;
  /** The address as the sender gave it. */
  to: string;
  folder?: 'inbox' | 'junk' | 'rejects';
  /** Trust object from the filter; null: the message was not filtered. */
  trust?: Partial<Trust> | null;
}

/** Delivers a message as the SMTP receiver does, in one commit. Lines may end in LF. */
export async function deliverMail(
  store: MailStore,
  { account, to, folder = 'inbox', trust = {} }: To,
  text: string,
): Promise<void> {
  const data = Buffer.from(text.replace(/\r?\n/g, '\r\n'));
  const filing = {
    folder,
    keywords: [],
    trust: { ...TRUST, ...trust },
    verdict: { outcome: folder, score: 0, findings: [] },
    senders: [],
    trace: '',
  };
  const done = await store.write(deliver, {
    trace: `delivered-${++delivered}`,
    sender: 'sender@remote.example',
    deliveries: [{ account, to, trace: deliveryTrace('sender@remote.example', to), ...(trust !== null && { filing }) }],
    data,
    file: null,
    index: indexMessage(data),
    from: { ip: '127.0.0.1', helo: 'remote.example' },
    onward: [],
    eightBit: true,
    hold: null,
  });
  if (done.kind !== 'delivered' || !done.stored) throw new Error(`not delivered: ${done.kind}`);
}
