import { createHash, randomBytes } from 'node:crypto';
import { type Authors, parseAuthors } from '../../mail/message/authors.ts';
import { composeMessage, type ComposedAttachment } from '../../mail/message/compose-message.ts';
import { htmlText } from '../../mail/message/html-text.ts';
import { indexMessage } from '../../mail/message/indexer.ts';
import type { SecretLinkForms } from '../../mail/message/secret-link.ts';
import type { MessageIndex } from '../../mail/message/index-types.ts';
import { ownId } from '../../mail/message/msg-id.ts';
import { type Field, firstField, readFields } from '../../mail/message/header.ts';
import { refuse } from '../operations/refusal.ts';
import { unsubscribeFields } from '../unsubscribe/link.ts';
import type { EmailRequest } from './email-request.ts';

/** A request with its texts, its files and what follows from them. */
export interface Filled extends Omit<EmailRequest, 'subject' | 'attachments' | 'inReplyTo' | 'threadId'> {
  subject: string;
  /** Of the message that it answers. */
  reply: { inReplyTo: string; references: string } | undefined;
  /** Row of that message in the mailbox that sends; null: it is not there, or nothing is answered. */
  answers: number | null;
  files: readonly ComposedAttachment[];
  /** Of the list of recipients that this message goes to; its value is whole. */
  unsubscribe: string | undefined;
}

/** A message as it leaves. */
export interface Composed {
  data: Buffer;
  index: MessageIndex;
  fields: Field[];
  authors: Authors & { kind: 'authors' };
  /** With angle brackets. */
  messageId: string;
  /** Hex. */
  sha256: string;
  /** It has octets above ASCII; its header has. */
  eightBit: boolean;
  utf8Header: boolean;
}

/** Writes the message. Whoever reads it must see the author that was checked, and no other. */
export function composeEmail(mail: Filled, now: number, links: SecretLinkForms | undefined): Composed {
  const messageId = `<${randomBytes(16).toString('hex')}@${mail.from.address.domain}>`;
  const { html, unsubscribe } = mail;
  const unsubscribed = unsubscribe === undefined ? [] : unsubscribeFields(unsubscribe);
  const data = composeMessage({
    ...mail,
    date: now,
    messageId,
    text: mail.text ?? (html === undefined ? undefined : htmlText(html, html.length).trim()),
    headers: [...Object.entries(mail.headers), ...replyFields(mail), ...unsubscribed],
    attachments: mail.files,
  });
  return composed(data, links);
}

/** Octets that are a message as it leaves, with what is found in them. */
export function composed(data: Buffer, links: SecretLinkForms | undefined): Composed {
  const index = indexMessage(data, links);
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
    sha256: createHash('sha256').update(data).digest('hex'),
    eightBit: data.some((octet) => octet > 127),
    utf8Header: header.some((octet) => octet > 127),
  };
}

function replyFields({ reply }: Filled): [string, string][] {
  if (reply === undefined) return [];
  return [
    ['In-Reply-To', reply.inReplyTo],
    ['References', reply.references],
  ];
}
