import { unsubscribeFields } from '../unsubscribe/commands.ts';
import { isAscii } from 'node:buffer';
import { randomBytes } from 'node:crypto';
import { type Authors, parseAuthors } from '../../mail/message/authors.ts';
import type { ComposedAttachment } from '../../mail/message/compose-message.ts';
import { htmlText } from '../../mail/message/html-text.ts';
import type { MessageIndex } from '../../mail/message/index-types.ts';
import { ownId } from '../../mail/message/msg-id.ts';
import { type Field, firstField, readFields } from '../../mail/message/header.ts';
import type { AreaContext } from '../core/area-context.ts';
import { refuse } from '../core/refusal.ts';
import { type ComposedOctets, composeOctets } from './compose-octets.ts';
import type { EmailRequest } from './email-request.ts';

/** A request with resolved texts, files and references. */
export interface FilledEmail extends Omit<EmailRequest, 'subject' | 'attachments' | 'inReplyTo' | 'threadId'> {
  subject: string;
  /** Reference fields for the answered message. */
  reply: { inReplyTo: string; references: string } | undefined;
  /** Row of the answered message in the sending mailbox; null if it is not there or nothing is answered. */
  answers: number | null;
  files: readonly ComposedAttachment[];
  /** List-Unsubscribe URL. */
  unsubscribe: string | undefined;
}

/** A composed message with its index and digests. */
export interface ComposedEmail {
  data: Buffer;
  index: MessageIndex;
  fields: Field[];
  authors: Authors & { kind: 'authors' };
  /** With angle brackets. */
  messageId: string;
  /** Hex. */
  sha256: string;
  /** The message has 8-bit octets; the header has. */
  eightBit: boolean;
  utf8Header: boolean;
}

/** Composes the message. The displayed author must be the one that was checked. */
export async function composeEmail(
  world: Pick<AreaContext, 'texts' | 'store'>,
  mail: FilledEmail,
  now: number,
): Promise<ComposedEmail> {
  const messageId = `<${randomBytes(16).toString('hex')}@${mail.from.address.domain}>`;
  const { from, to, cc, replyTo, subject, html, unsubscribe } = mail;
  const unsubscribed = unsubscribe === undefined ? [] : unsubscribeFields(unsubscribe);
  const composed = await composeOctets(world, {
    from,
    to,
    cc,
    replyTo,
    subject,
    html,
    date: now,
    messageId,
    text: mail.text ?? (html === undefined ? undefined : htmlText(html, html.length).trim()),
    headers: [
      ...Object.entries(mail.headers),
      ...(mail.reply === undefined ? [] : replyFields(mail.reply)),
      ...unsubscribed,
    ],
    attachments: mail.files,
  });
  return inspectComposed(composed);
}

/** Reads the header of a composed message; refuses ambiguous authors. */
export function inspectComposed({ data, index, sha256 }: ComposedOctets): ComposedEmail {
  const header = data.subarray(0, index.headerLength);
  const authors = parseAuthors(header);
  if (authors.kind === 'refused') {
    const issues = [{ path: 'from', message: authors.why }];
    return refuse('invalid_arguments', `from: ${authors.why}.`, { issues });
  }
  const fields = readFields(header.toString('latin1'));
  return {
    data,
    index,
    fields,
    authors,
    messageId: `<${ownId(firstField(fields, 'message-id'))}>`,
    sha256,
    eightBit: !isAscii(data),
    utf8Header: !isAscii(header),
  };
}

function replyFields(reply: NonNullable<FilledEmail['reply']>): [string, string][] {
  return [
    ['In-Reply-To', reply.inReplyTo],
    ['References', reply.references],
  ];
}
