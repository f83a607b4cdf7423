import { randomBytes } from 'node:crypto';
import { type Address, addressKey } from '../../mail/message/address.ts';
import { parseAuthors } from '../../mail/message/authors.ts';
import type { NamedAddress } from '../../mail/message/compose.ts';
import { composeMessage, type ComposedAttachment } from '../../mail/message/compose-message.ts';
import { formatDate } from '../../mail/message/date.ts';
import { readFields } from '../../mail/message/header.ts';
import { indexMessage } from '../../mail/message/indexer.ts';
import type { SecretLinkForms } from '../../mail/message/secret-link.ts';
import { rewriteSubmittedHeader } from '../../mail/message/rewrite.ts';
import { refuse } from '../operations/refusal.ts';
import { type Composed, composed } from './compose-email.ts';
import { addressesIn, hasOdd } from './reply-recipients.ts';

/** What a draft is made of. Nothing of it has to be there yet but its author. */
export interface DraftContent {
  from: NamedAddress;
  to: readonly NamedAddress[];
  cc: readonly NamedAddress[];
  bcc: readonly NamedAddress[];
  replyTo: readonly NamedAddress[];
  subject: string;
  text: string | undefined;
  html: string | undefined;
  files: readonly ComposedAttachment[];
  /** In-Reply-To and References, as they stand in the header. */
  reply: { inReplyTo: string; references: string } | undefined;
  /** With angle brackets; undefined: it gets one. It stays the same over all forms of a draft. */
  messageId: string | undefined;
}

/** Writes a draft; blind copies stay in its header until it leaves. */
export function composeDraft({ reply, files, messageId, ...content }: DraftContent, now: number): Buffer {
  return composeMessage({
    ...content,
    draftBcc: content.bcc,
    date: now,
    messageId: messageId ?? `<${randomBytes(16).toString('hex')}@${content.from.address.domain}>`,
    attachments: files,
    headers:
      reply === undefined
        ? []
        : [
            ['In-Reply-To', reply.inReplyTo],
            ['References', reply.references],
          ],
  });
}

/** What programs write into drafts for themselves; a date of writing is none of sending. */
const NOT_SENT = /^(?:date|x-mozilla-|x-draft|x-identity-key|x-account-key|fcc|x-uniform-type-identifier|x-unsent)/;

/** A draft as it leaves: without blind copies and what programs keep in drafts, with the date of now. */
export function draftAsSent(
  stored: Buffer,
  now: number,
  links: SecretLinkForms | undefined,
): { message: Composed; from: Address; recipients: Address[]; inReplyTo: string | undefined } {
  const { headerLength } = indexMessage(stored);
  const header = stored.subarray(0, headerLength);
  const authors = parseAuthors(header);
  if (authors.kind === 'refused') return flawed(`${authors.why}.`);
  const [from, ...more] = authors.from;
  if (from === undefined || more.length + authors.others.length > 0 || authors.fromFields !== 1) {
    return flawed('A draft has one author, in one From field, and no Sender.');
  }
  const fields = readFields(header.toString('latin1'));
  const to = ['to', 'cc', 'bcc'];
  if (to.some((name) => hasOdd(fields, name))) flawed('A recipient of the draft is at no address that can be read.');
  const named = to.flatMap((name) => addressesIn(fields, name));
  const kept = fields.filter(({ name }) => !NOT_SENT.test(name)).map(({ start, end }) => header.subarray(start, end));
  const rest = header.subarray(fields.at(-1)?.end ?? 0);
  const rewritten = rewriteSubmittedHeader(Buffer.concat([...kept, rest]), {
    date: formatDate(now),
    messageId: `<${randomBytes(16).toString('hex')}@${from.domain}>`,
  });
  return {
    message: composed(Buffer.concat([rewritten, stored.subarray(headerLength)]), links),
    from,
    recipients: [...new Map(named.map(({ address }) => [addressKey(address), address])).values()],
    inReplyTo: fields.find(({ name }) => name === 'in-reply-to')?.value,
  };
}

function flawed(why: string): never {
  return refuse('invalid_arguments', why, { issues: [{ path: 'draftId', message: why }] });
}
