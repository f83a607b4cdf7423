import { bodyLists } from '../../mail/jmap/email/body-lists.ts';
import { bodyTree } from '../../mail/jmap/email/body-part.ts';
import { storedSource } from '../../mail/jmap/email/stored-source.ts';
import { blobId } from '../../mail/jmap/ids.ts';
import { formatAddress } from '../../mail/message/address.ts';
import type { NamedAddress } from '../../mail/message/compose.ts';
import { type Field, firstField, readFields } from '../../mail/message/header.ts';
import { headerForm } from '../../mail/message/header-forms.ts';
import { LIMITS } from '../../mail/message/limits.ts';
import { replyReferences } from '../../mail/message/reply-references.ts';
import type { EmailRow } from '../../mail/store/email-rows.ts';
import { encodedTexts } from '../reading/encoded.ts';
import type { Library } from '../reading/message-text.ts';
import type { EmailRequest } from './email-request.ts';
import { MOST_TEXT, type OriginalTexts } from './original-texts.ts';
import type { Quotable } from './quote.ts';
import { addressesIn } from './reply-recipients.ts';

/** A message that is answered, passed on or edited, as far as that needs it. */
export interface Original extends Quotable, OriginalTexts {
  html: string | undefined;
  fields: Field[];
  /** In-Reply-To and References of an answer to it; undefined when it has no id that could be named. */
  reply: { inReplyTo: string; references: string } | undefined;
  /** What is attached to it, by reference. */
  files: EmailRequest['attachments'];
}

/** It takes too long: it can be answered, and nothing of it goes on. */
const UNREAD: OriginalTexts = { plain: undefined, html: undefined, text: '', cut: true };

/** Reads a message of a mailbox; the row has its listing and its structure. */
export async function readOriginal({ store, texts }: Library, row: EmailRow): Promise<Original> {
  const head = await store.blob(row.blob, 0, Math.min(row.listing?.headerLength ?? 0, LIMITS.header));
  const fields = readFields(head.toString('latin1'), LIMITS.fields);
  const source = storedSource({ store }, row, false);
  const { textBody, htmlBody, attachments } = bodyLists(bodyTree(source));
  const encoded = await encodedTexts(source, new Set([...textBody, ...htmlBody]), MOST_TEXT);
  const text = encoded.filter(({ body }) => textBody.includes(body));
  const html = encoded.filter(({ body }) => htmlBody.includes(body));
  const read = (await texts.read('original', { text, html })) ?? UNREAD;
  const [messageId, inReplyTo, references] = ['message-id', 'in-reply-to', 'references'].map((name) =>
    firstField(fields, name),
  );
  return {
    fields,
    reply: replyReferences({ messageId, inReplyTo, references }),
    from: shown(addressesIn(fields, 'from')),
    to: shown(addressesIn(fields, 'to')),
    subject: decodedText(fields, 'subject'),
    date: row.receivedAt,
    ...read,
    files: attachments.map(({ part }) => ({ attachmentId: blobId({ kind: 'part', email: row.id, path: part.path }) })),
  };
}

export function decodedText(fields: readonly Field[], name: string): string {
  const value = firstField(fields, name);
  const text = value === undefined ? null : headerForm('Text', value);
  return typeof text === 'string' ? text.replace(/[\x00-\x1f\x7f-\x9f\u2028\u2029]+/g, ' ').trim() : '';
}

const MOST_SHOWN = 10;

function shown(list: readonly NamedAddress[]): string {
  const some = list.slice(0, MOST_SHOWN).map(({ address, name }) => {
    const spelled = formatAddress(address);
    return name === undefined ? spelled : `${name.replace(/\s+/g, ' ')} <${spelled}>`;
  });
  return some.join(', ') + (list.length > MOST_SHOWN ? ', ...' : '');
}
