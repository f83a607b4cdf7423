import { randomBytes } from 'node:crypto';
import type { Outgoing } from '../../mail/delivery/submit.ts';
import { planForwards } from '../../mail/delivery/forward.ts';
import { type Address, formatAddress, needsUtf8 } from '../../mail/message/address.ts';
import { composeLetter } from '../../mail/message/compose.ts';
import type { MessageIndex } from '../../mail/message/index-types.ts';
import { indexMessage } from '../../mail/message/indexer.ts';
import { traceId } from '../../mail/receiver/trace-id.ts';
import type { World } from '../operations/world.ts';

/** Owns what belongs to the box itself: its domain in live mode, and what it sends. */
export const BOX = 0;

/** What a letter is made with. */
export type Post = Pick<World, 'store' | 'clock' | 'secrets' | 'hold'> & {
  settings: Pick<World['settings'], 'hostname'>;
};

export interface BoxLetter {
  to: Address;
  subject: string;
  text: string;
  /** Where an answer goes; left out: nobody reads one. */
  replyTo?: Address;
}

/**
 * A letter from the box itself (mailstead@HOSTNAME), ready for a command to `send` in the transaction of what it tells
 * of. Its journal line and queue row are the only other places where `to` stands.
 */
export async function prepareLetter(post: Post, letter: BoxLetter): Promise<Outgoing> {
  const { clock, settings, hold } = post;
  const { hostname } = settings;
  const now = clock();
  const from: Address = { local: 'mailstead', domain: hostname };
  const data = Uint8Array.from(
    composeLetter({
      from: { name: 'Mailstead', address: from },
      to: [{ address: letter.to }],
      subject: letter.subject,
      date: now,
      messageId: `<${randomBytes(16).toString('hex')}@${hostname}>`,
      text: letter.text,
      // RFC 3834 5.1: no auto-responder shall answer the box.
      headers: [
        ['Auto-Submitted', 'auto-generated'],
        ...(letter.replyTo === undefined ? [] : [['Reply-To', formatAddress(letter.replyTo)] as [string, string]]),
      ],
    }),
  );
  const index = indexMessage(data, post.store.secretLinks);
  return {
    trace: traceId(),
    account: null,
    tenant: BOX,
    sender: formatAddress(from),
    smtputf8: needsUtf8(letter.to),
    eightBit: false,
    ret: '',
    envid: '',
    signAs: [hostname],
    ...(await destinations(post, from, letter.to, index)),
    hold,
    data,
    file: null,
    index,
  };
}

/**
 * Where a letter goes: a mailbox here, also a full one, or on to where an address here forwards. It is meant for whoever
 * reads there, so that a program wrote it stops no forward.
 */
async function destinations(
  { store, secrets, clock }: Post,
  sender: Address,
  recipient: Address,
  { secretLink }: MessageIndex,
): Promise<Pick<Outgoing, 'here' | 'elsewhere' | 'onward'>> {
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
