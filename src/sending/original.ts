import { bodyLists } from '../../mail/jmap/email/body-lists.ts';
import { type BodyPart, bodyTree } from '../../mail/jmap/email/body-part.ts';
import { bodyValues } from '../../mail/jmap/email/body-value.ts';
import { ReadBudget } from '../../mail/jmap/email/read-budget.ts';
import { storedSource } from '../../mail/jmap/email/stored-source.ts';
import { blobId } from '../../mail/jmap/ids.ts';
import { formatAddress } from '../../mail/message/address.ts';
import type { NamedAddress } from '../../mail/message/compose.ts';
import { type Field, firstField, readFields } from '../../mail/message/header.ts';
import { headerForm } from '../../mail/message/header-forms.ts';
import { LIMITS } from '../../mail/message/limits.ts';
import { replyReferences } from '../../mail/message/reply-references.ts';
import type { EmailRow } from '../../mail/store/email-rows.ts';
import type { MailStore } from '../../mail/store/store.ts';
import { htmlReading } from '../reading/html-reading.ts';
import { LinkBook } from '../reading/link-book.ts';
import type { EmailRequest } from './email-request.ts';
import type { Quotable } from './quote.ts';
import { addressesIn } from './reply-recipients.ts';

/** Octets of one of its texts. */
const MOST_TEXT = 1024 * 1024;

/** A message that is answered, passed on or edited, as far as that needs it. */
export interface Original extends Quotable {
  fields: Field[];
  /** In-Reply-To and References of an answer to it; undefined when it has no id that could be named. */
  reply: { inReplyTo: string; references: string } | undefined;
  /** Its plain text where it has one; `text` is otherwise what a person sees of its HTML. */
  plain: string | undefined;
  /** What is attached to it, by reference. */
  files: EmailRequest['attachments'];
  /** There is more text than was read. */
  cut: boolean;
}

/** Reads a message of a mailbox; the row has its listing and its structure. */
export async function readOriginal(store: MailStore, row: EmailRow): Promise<Original> {
  const head = await store.blob(row.blob, 0, Math.min(row.listing?.headerLength ?? 0, LIMITS.header));
  const fields = readFields(head.toString('latin1'), LIMITS.fields);
  const source = storedSource({ store }, row, false);
  const { textBody, htmlBody, attachments } = bodyLists(bodyTree(source));
  const texts = [...new Set([...textBody, ...htmlBody])].filter(({ part }) => part.type === 'text');
  const values = await bodyValues(source, texts, MOST_TEXT, new ReadBudget());
  const read = (list: readonly BodyPart[], type: string): string | undefined => {
    const found = list.flatMap((one) => (one.type === type ? [values[one.part.path]?.value ?? ''] : []));
    return found.length === 0 ? undefined : found.join('\n');
  };
  const plain = read(textBody, 'text/plain');
  const html = read(htmlBody, 'text/html');
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
    text: plain ?? htmlReading(html ?? '', 'text', new LinkBook(false)).text,
    plain,
    html,
    files: attachments.map(({ part }) => ({ attachmentId: blobId({ kind: 'part', email: row.id, path: part.path }) })),
    cut: Object.values(values).some(({ isTruncated }) => isTruncated),
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
