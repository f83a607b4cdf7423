import { randomBytes } from 'node:crypto';
import type { Outgoing } from '../../mail/delivery/submit.ts';
import { deliveryTrace } from '../../mail/delivery/deliver.ts';
import { route } from '../../mail/delivery/route.ts';
import { type Address, formatAddress } from '../../mail/message/address.ts';
import { composeLetter } from '../../mail/message/compose.ts';
import { indexMessage } from '../../mail/message/indexer.ts';
import { traceId } from '../../mail/receiver/trace-id.ts';
import type { Store } from '../../mail/store/engine/types.ts';

/** Owns what belongs to the box itself: its domain in live mode, and what it sends. */
export const BOX = 0;

export interface Post {
  store: Store;
  clock: () => number;
  hostname: string;
  /** Why mail for elsewhere may not go out now; null lets it go. */
  hold: string | null;
}

export interface BoxLetter {
  to: Address;
  subject: string;
  text: string;
}

/**
 * A letter from the box itself (mailstead@HOSTNAME), ready for a command to `send` in the transaction of what it tells
 * of. Its journal line and queue row are the only other places where `to` stands.
 */
export async function prepareLetter({ store, clock, hostname, hold }: Post, letter: BoxLetter): Promise<Outgoing> {
  const now = clock();
  const sender = `mailstead@${hostname}`;
  const data = Uint8Array.from(
    composeLetter({
      from: { name: 'Mailstead', address: { local: 'mailstead', domain: hostname } },
      to: [{ address: letter.to }],
      subject: letter.subject,
      date: now,
      messageId: `<${randomBytes(16).toString('hex')}@${hostname}>`,
      text: letter.text,
      // RFC 3834 5.1: no auto-responder shall answer the box.
      headers: [['Auto-Submitted', 'auto-generated']],
    }),
  );
  const where = await route(store, letter.to);
  const to = formatAddress(letter.to);
  // Also into a full mailbox: the way out would only lead back here.
  const account = where.kind === 'here' || where.kind === 'full' ? where.account : undefined;
  const here = account === undefined ? [] : [{ account, to, trace: deliveryTrace(sender, to) }];
  const elsewhere = account === undefined ? [{ recipient: to, domain: letter.to.domain, notify: '', orcpt: '' }] : [];
  return {
    trace: traceId(),
    account: null,
    tenant: BOX,
    sender,
    smtputf8: /[^\x00-\x7f]/.test(to),
    eightBit: false,
    ret: '',
    envid: '',
    signAs: [hostname],
    here,
    elsewhere,
    hold,
    data,
    file: null,
    index: indexMessage(data),
  };
}
