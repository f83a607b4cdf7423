import { bodyLists, bodyTree } from '../../mail/jmap/email/body-part.ts';
import { storedSource } from '../../mail/jmap/email/message-source.ts';
import { formatAddress } from '../../mail/message/address.ts';
import type { NamedAddress } from '../../mail/message/compose-text.ts';
import { type Field, firstField, readFields } from '../../mail/message/header.ts';
import { headerForm } from '../../mail/message/header-forms.ts';
import { LIMITS } from '../../mail/message/limits.ts';
import { replyReferences } from '../../mail/message/reply-references.ts';
import type { EmailRow } from '../../mail/store/message/email-rows.ts';
import { encodedTexts, type ReadingContext } from '../reading/message-text.ts';
import type { EmailRequest } from './email-request.ts';
import { MAX_TEXT_OCTETS } from '../reading/original-texts.ts';
import type { QuotedMessage } from './quote.ts';
import { addressesIn } from './reply-recipients.ts';
import { publicAttachmentId } from '../core/message-ids.ts';
import type { OriginalTexts } from '../core/text-tasks.ts';

/** A message to reply to, forward or edit. */
export interface OriginalMessage extends QuotedMessage, OriginalTexts {
  html: string | undefined;
  fields: Field[];
  /** In-Reply-To and References for a reply; undefined without a usable Message-ID. */
  reply: { inReplyTo: string; references: string } | undefined;
  /** Attachments, by reference. */
  files: EmailRequest['attachments'];
}

/** Texts of a message that takes too long to parse: it can be answered, but not quoted or forwarded. */
const UNREADABLE: OriginalTexts = { plain: undefined, html: undefined, text: '', cut: true };

/** Reads a message of a mailbox; the row must include listing and structure. */
export async function readOriginal({ store, texts }: ReadingContext, row: EmailRow): Promise<OriginalMessage> {
  const head = await store.blob(row.blob, 0, Math.min(row.listing?.headerLength ?? 0, LIMITS.header));
  const fields = readFields(head.toString('latin1'), LIMITS.fields);
  const source = storedSource({ store }, row, false);
  const { textBody, htmlBody, attachments } = bodyLists(bodyTree(source));
  const encoded = await encodedTexts(source, new Set([...textBody, ...htmlBody]), MAX_TEXT_OCTETS);
  const text = encoded.filter(({ body }) => textBody.includes(body));
  const html = encoded.filter(({ body }) => htmlBody.includes(body));
  const read = (await texts.read('original', { text, html })) ?? UNREADABLE;
  const [messageId, inReplyTo, references] = ['message-id', 'in-reply-to', 'references'].map((name) =>
    firstField(fields, name),
  );
  return {
    fields,
    reply: replyReferences({ messageId, inReplyTo, references }),
    from: formatNames(addressesIn(fields, 'from')),
    to: formatNames(addressesIn(fields, 'to')),
    subject: decodedText(fields, 'subject'),
    date: row.receivedAt,
    ...read,
    files: attachments.map(({ part }) => ({ attachmentId: publicAttachmentId(row.id, part.path) })),
  };
}

export function decodedText(fields: readonly Field[], name: string): string {
  const value = firstField(fields, name);
  const text = value === undefined ? null : headerForm('Text', value);
  return typeof text === 'string' ? text.replace(/[\x00-\x1f\x7f-\x9f\u2028\u2029]+/g, ' ').trim() : '';
}

const MAX_NAMES = 10;

function formatNames(list: readonly NamedAddress[]): string {
  const some = list.slice(0, MAX_NAMES).map(({ address, name }) => {
    const spelled = formatAddress(address);
    return name === undefined ? spelled : `${name.replace(/\s+/g, ' ')} <${spelled}>`;
  });
  return some.join(', ') + (list.length > MAX_NAMES ? ', ...' : '');
}
