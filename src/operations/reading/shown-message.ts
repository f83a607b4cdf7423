import { z } from 'zod';
import { headerForm } from '../../../mail/message/header-forms.ts';
import { firstField, readFields } from '../../../mail/message/header.ts';
import { LIMITS } from '../../../mail/message/limits.ts';
import { bodyLists, type BodyPart, bodyTree } from '../../../mail/jmap/email/body-part.ts';
import type { Part } from '../../../mail/message/parts.ts';
import { readableOctets } from '../../../mail/store/blob/unreadable.ts';
import type { EmailRow } from '../../../mail/store/message/email-rows.ts';
import { FULL_LIMITS, harmlessLine } from '../../reading/summary.ts';
import { takeWithin } from '../../untrusted/result-budget.ts';
import { publicAttachmentId } from '../../core/message-ids.ts';
import type { Call } from '../../core/operation.ts';

/** Facts of an attachment; its name is the sender's and is at the same index of `untrusted.filenames`. */
export const Attachment = z.object({
  id: z.string(),
  contentType: z.string(),
  sizeBytes: z.number(),
  inline: z.boolean(),
});

export const ShownLink = z.object({
  handle: z.string(),
  host: z.string(),
  registrableDomain: z.string(),
  flags: z.array(z.string()),
});

const MAX_ATTACHMENTS = 50;

/** Returns attachments, and inline images and sounds. */
export function attachedParts({ structure }: EmailRow): BodyPart[] {
  const lists = bodyLists(bodyTree(structure ?? { bodyStructure: '', parts: '[]' }));
  const media = [...lists.textBody, ...lists.htmlBody].filter(({ part }) => part.type !== 'text');
  return [...new Set([...lists.attachments, ...media])];
}

/** Returns the attachments that fit, with what is shown of them. */
export function shownAttachments(row: EmailRow): {
  parts: Part[];
  shown: { attachments: z.output<typeof Attachment>[]; moreAttachments?: number };
} {
  const all = attachedParts(row);
  const parts = all.slice(0, MAX_ATTACHMENTS).map(({ part }) => part);
  const attachments = parts.map((part) => shownAttachment(row.id, part));
  const more = all.length - parts.length;
  return { parts, shown: { attachments, ...(more > 0 && { moreAttachments: more }) } };
}

export function shownAttachment(email: number, part: Part): z.output<typeof Attachment> {
  const type = `${part.type}/${part.subtype}`;
  return {
    id: publicAttachmentId(email, part.path),
    contentType: /^[a-z0-9.+-]{1,40}\/[a-z0-9.+-]{1,100}$/.test(type) ? type : 'application/octet-stream',
    sizeBytes: part.decodedLength,
    inline: part.disposition === 'inline',
  };
}

/** Returns the raw header, one character per byte. */
export async function headerOf({ store }: Call, { blob, listing }: EmailRow): Promise<string> {
  const length = Math.min(listing?.headerLength ?? 0, LIMITS.header);
  return (await store.blob(blob, 0, length).catch(readableOctets)).toString('latin1');
}

/** Returns the fields that link a message to others, as the sender wrote them. */
const SELECTED = ['message-id', 'in-reply-to', 'date', 'list-id', 'auto-submitted'] as const;

export function selectedHeaders(header: string): Record<string, string> {
  const fields = readFields(header, LIMITS.fields);
  return Object.fromEntries(
    SELECTED.flatMap((name) => {
      const value = firstField(fields, name);
      return value === undefined ? [] : [[name, harmlessLine(decoded(value), 300)]];
    }),
  );
}

/** Returns all header fields, one per line. */
export function headerLines(header: string): string {
  return readFields(header, LIMITS.fields)
    .map(({ name, value }) => `${name}: ${decoded(value)}`)
    .join('\n');
}

function decoded(value: string): string {
  const text = headerForm('Text', value);
  return typeof text === 'string' ? text : '';
}

/** Returns the addresses for replies that the sender asked for. */
export function replyToOf(header: string): { address: string }[] {
  const value = firstField(readFields(header, LIMITS.fields), 'reply-to');
  const list = value === undefined ? [] : headerForm('Addresses', value);
  const all = (Array.isArray(list) ? list : []).flatMap((one) =>
    typeof one === 'object' && 'email' in one && /^[^\s"<>()]{1,64}@[\w.-]{1,253}$/.test(one.email)
      ? [{ address: one.email.toLowerCase() }]
      : [],
  );
  return takeWithin(all, FULL_LIMITS.addresses, ({ address }) => address.length);
}
