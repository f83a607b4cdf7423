import { publicMessageId } from '../../src/core/message-ids.ts';
import { indexMessage } from '../../mail/message/indexer.ts';
import type { Finding } from '../../mail/policy/finding.ts';
import type { Trust } from '../../mail/policy/trust.ts';
import { messageRows } from '../../mail/store/blob/content.ts';
import { command } from '../../mail/store/engine/types.ts';
import { appendMessage } from '../../mail/store/mailbox/entry-commands.ts';
import { recordFilterResult } from '../../mail/store/filter/filter-result.ts';
import { findMailbox } from '../../mail/store/mailbox/mailbox.ts';
import type { MailStore } from '../../mail/store/store.ts';

export const TRUST: Trust = {
  auth: { spf: 'pass', dkim: 'pass', dmarc: 'pass' },
  alignedFrom: true,
  knownSender: false,
  verdict: 'clear',
  flags: [],
  externalSender: true,
};

/** Records the filter's result of a stored message. */
export const filterMail = command(
  'test-judge-mail',
  async (tx, { email, trust, findings }: { email: number; trust: Trust; findings: readonly Finding[] }) => {
    await recordFilterResult(tx, email, { trust, verdict: { outcome: 'inbox', score: 0, findings }, senders: [] });
  },
);

interface Put {
  account: number;
  folder?: string;
  /** ms UTC. */
  receivedAt: number;
  bits?: number;
  keywords?: readonly string[];
  trust?: Partial<Trust>;
  findings?: readonly Finding[];
}

/** Puts a message into a folder, as one that came from outside where `trust` is given; answers its id. Lines may end in LF. */
export async function putMail(store: MailStore, put: Put, text: string): Promise<string> {
  const { account, folder = 'INBOX', receivedAt, bits = 0, keywords = [], trust, findings = [] } = put;
  const octets = Buffer.from(text.replace(/\r?\n/g, '\r\n'));
  const mailbox = (await store.read(findMailbox, { account, name: folder }))?.id ?? 0;
  const writer = store.files.create();
  await writer.write(octets);
  const blob = await writer.finish();
  const result = await store.write(appendMessage, {
    account,
    mailbox,
    flags: { bits, keywords },
    receivedAt,
    file: 'file' in blob ? blob : null,
    data: 'data' in blob ? blob.data : null,
    index: indexMessage(octets),
  });
  if (result.kind !== 'appended') throw new Error(result.kind);
  const [row] = await store.read(messageRows, { account, mailbox, uids: [result.uid], structure: false });
  const email = row?.emailId ?? 0;
  if (trust !== undefined) await store.write(filterMail, { email, trust: { ...TRUST, ...trust }, findings });
  return publicMessageId(email);
}
