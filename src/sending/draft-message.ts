import { randomBytes } from 'node:crypto';
import { type Address, addressKey } from '../../mail/message/address.ts';
import { parseAuthors } from '../../mail/message/authors.ts';
import type { NamedAddress } from '../../mail/message/compose-text.ts';
import type { ComposedAttachment } from '../../mail/message/compose-message.ts';
import { formatDate } from '../../mail/message/date.ts';
import { readFields } from '../../mail/message/header.ts';
import { rewriteSubmittedHeader } from '../../mail/message/rewrite.ts';
import type { AreaContext } from '../core/area-context.ts';
import { refuse } from '../core/refusal.ts';
import { type ComposedEmail, inspectComposed } from './compose-email.ts';
import { type ComposedOctets, composeOctets, indexOutgoing } from './compose-octets.ts';
import { addressesIn, hasUnreadableAddress } from './reply-recipients.ts';

/** Content of a draft; only the author is required. */
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
  /** In-Reply-To and References as header values. */
  reply: { inReplyTo: string; references: string } | undefined;
  /** With angle brackets; generated if undefined. Kept over all versions of a draft. */
  messageId: string | undefined;
}

/** Composes a draft; Bcc stays in its header until it is sent. */
export function composeDraftOctets(
  world: Pick<AreaContext, 'texts' | 'store'>,
  { reply, files, messageId, ...content }: DraftContent,
  now: number,
): Promise<ComposedOctets> {
  return composeOctets(world, {
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

/** Fields removed on sending: private ones of mail programs, the Date of writing, and results that only a receiver adds. */
const NOT_SENT =
  /^(?:date|authentication-results$|x-mailstead-verdict$|x-mozilla-|x-draft|x-identity-key|x-account-key|fcc|x-uniform-type-identifier|x-unsent)/;

/** Converts a draft into the message to send: without Bcc and private fields, with the current Date. */
export async function draftAsSent(
  world: Pick<AreaContext, 'texts' | 'store'>,
  stored: Buffer,
  now: number,
): Promise<{ message: ComposedEmail; from: Address; recipients: Address[]; inReplyTo: string | undefined }> {
  const { headerLength } = (await indexOutgoing(world, stored)).index;
  const header = stored.subarray(0, headerLength);
  const authors = parseAuthors(header);
  if (authors.kind === 'refused') return flawed(`${authors.why}.`);
  const [from, ...more] = authors.from;
  if (from === undefined || more.length + authors.others.length > 0 || authors.fromFields !== 1) {
    return flawed('A draft must have one author in one From field, and no Sender.');
  }
  const fields = readFields(header.toString('latin1'));
  const to = ['to', 'cc', 'bcc'];
  if (to.some((name) => hasUnreadableAddress(fields, name)))
    flawed('A recipient of the draft has an invalid address. Correct it.');
  const named = to.flatMap((name) => addressesIn(fields, name));
  const kept = fields.filter(({ name }) => !NOT_SENT.test(name)).map(({ start, end }) => header.subarray(start, end));
  const rest = header.subarray(fields.at(-1)?.end ?? 0);
  const rewritten = rewriteSubmittedHeader(Buffer.concat([...kept, rest]), {
    date: formatDate(now),
    messageId: `<${randomBytes(16).toString('hex')}@${from.domain}>`,
  });
  return {
    message: inspectComposed(await indexOutgoing(world, Buffer.concat([rewritten, stored.subarray(headerLength)]))),
    from,
    recipients: [...new Map(named.map(({ address }) => [addressKey(address), address])).values()],
    inReplyTo: fields.find(({ name }) => name === 'in-reply-to')?.value,
  };
}

function flawed(why: string): never {
  return refuse('invalid_arguments', why, { issues: [{ path: 'draftId', message: why }] });
}
