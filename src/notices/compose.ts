import type { AreaContext } from '../core/area-context.ts';
import { randomBytes } from 'node:crypto';
import { planForwards } from '../../mail/delivery/forward.ts';
import { type NoticeKind, NOTICES, type SystemNotice } from '../../mail/delivery/notice.ts';
import { type Address, formatAddress, needsUtf8 } from '../../mail/message/address.ts';
import { composeTextMessage } from '../../mail/message/compose-text.ts';
import type { MessageIndex } from '../../mail/message/index-types.ts';
import { indexMessage } from '../../mail/message/indexer.ts';
import { traceId } from '../../mail/receiver/trace-id.ts';

/** Tenant of the box itself: its domain in live mode, and its own mail. */
export const BOX = 0;

/** Services that compose and route a notice. */
export type NoticeContext = Pick<AreaContext, 'store' | 'clock' | 'secrets' | 'hold' | 'baseUrl'> & {
  settings: Pick<AreaContext['settings'], 'hostname'>;
};

export interface NoticeText<Kind extends NoticeKind> {
  kind: Kind;
  to: Address;
  subject: string;
  text: string;
  /** Reply-To; left out: replies are not read. */
  replyTo?: Address;
}

/**
 * Composes and routes a notice from mailstead@HOSTNAME. A command passes it to `sendNotice` in the transaction of the event.
 * Besides the notice, only its journal line and its queue row contain the recipient's address.
 */
export async function composeNotice<Kind extends NoticeKind>(
  context: Omit<NoticeContext, 'baseUrl'>,
  notice: NoticeText<Kind>,
): Promise<SystemNotice<Kind>> {
  const { clock, settings, hold } = context;
  const { hostname } = settings;
  const now = clock();
  const from: Address = { local: 'mailstead', domain: hostname };
  const data = Uint8Array.from(
    composeTextMessage({
      from: { name: 'Mailstead', address: from },
      to: [{ address: notice.to }],
      subject: notice.subject,
      date: now,
      messageId: `<${randomBytes(16).toString('hex')}@${hostname}>`,
      text: notice.text,
      headers: [
        ['Auto-Submitted', NOTICES[notice.kind].autoSubmitted],
        ...(notice.replyTo === undefined ? [] : [['Reply-To', formatAddress(notice.replyTo)] as [string, string]]),
      ],
    }),
  );
  const index = indexMessage(data, context.store.secretLinks);
  return {
    kind: notice.kind,
    trace: traceId(),
    account: null,
    tenant: BOX,
    sender: formatAddress(from),
    smtputf8: needsUtf8(notice.to),
    eightBit: false,
    ret: '',
    envid: '',
    signAs: [hostname],
    ...(await destinations(context, from, notice.to, index)),
    hold,
    data,
    file: null,
    index,
  };
}

/**
 * Routes a notice: into a mailbox here, even a full one, or on along the forwards of an address here. Forwards accept it
 * although a program wrote it, as it is meant for the final reader.
 */
async function destinations(
  { store, secrets, clock }: Omit<NoticeContext, 'baseUrl'>,
  sender: Address,
  recipient: Address,
  { secretLink }: MessageIndex,
): Promise<Pick<SystemNotice, 'here' | 'elsewhere' | 'onward'>> {
  const mail = {
    sender,
    fields: [],
    key: secrets.subkey('forwarding'),
    now: clock(),
    authors: [sender.domain],
    secretLink,
  };
  const { here, onward, lost } = await planForwards(store, [recipient], mail);
  return {
    here,
    onward,
    elsewhere: lost.map((address) => ({
      recipient: formatAddress(address),
      domain: address.domain,
      notify: '',
      orcpt: '',
    })),
  };
}
