import { type Address, addressKey, parseAddress, withoutDetail } from './address.ts';
import { type Field, firstField, unfold } from './header.ts';
import { parseAddressList } from './header-addresses.ts';

/** Reason for sending no automatic reply. RFC 3834 2. */
export type NoReplyReason =
  'no-sender' | 'own' | 'program' | 'automatic' | 'list' | 'bulk' | 'report' | 'not-named' | 'suppressed';

/** Local parts of programs, mailing lists and no-reply senders. */
const PROGRAM_LOCAL_PART =
  /^(?:(?:no|do-?not|never)[-_.]?(?:reply|answer|respond).*|.*[-_.+](?:no|do-?not)-?reply|mailer-daemon|postmaster|daemon|root|nobody|uucp|listserv|majordomo|mailman|sympa|owner-.*|.*-(?:owner|request|requests|bounces?|return|confirm|errors|relay)|bounces?(?:[-+=].*)?|prvs=.*|.*-bounces\+.*|notifications?|auto-?(?:reply|responder|confirm).*)$/i;

const LIST = /^list-(?:id|post|help|unsubscribe|unsubscribe-post|subscribe|owner|archive)$/;

/** Header fields of automatic mail. */
const AUTOMATIC_FIELDS = new Set([
  'x-loop',
  'x-mailing-list',
  'x-beenthere',
  'mailing-list',
  'x-autoreply',
  'x-autorespond',
  'x-autoresponder',
  'feedback-id',
  'x-mailer-daemon',
]);

const RECIPIENT_FIELDS = new Set(['to', 'cc', 'bcc', 'resent-to', 'resent-cc', 'resent-bcc']);

/** Addresses read of the recipient fields. */
const MAX_ADDRESSES = 1000;

/**
 * Checks if a vacation reply may be sent; undefined if so, else the reason against it. `sender` is the envelope sender;
 * `own` are the user's address keys. RFC 3834 2, and common non-standard fields.
 */
export function noReplyReason(
  sender: Address | undefined,
  fields: readonly Field[],
  own: ReadonlySet<string>,
): NoReplyReason | undefined {
  if (sender === undefined) return 'no-sender';
  if (isOwn(sender, own)) return 'own';
  const from = named(fields, (name) => name === 'from' || name === 'sender');
  if (from.some((address) => isOwn(address, own))) return 'own';
  if ([sender, ...from].some(({ local }) => PROGRAM_LOCAL_PART.test(local))) return 'program';
  return (
    automaticReason(fields) ??
    (named(fields, (name) => RECIPIENT_FIELDS.has(name)).some((to) => isOwn(to, own)) ? undefined : 'not-named')
  );
}

function automaticReason(fields: readonly Field[]): NoReplyReason | undefined {
  const word = (name: string): string => wordOf(firstField(fields, name));
  if (!['', 'no'].includes(word('auto-submitted'))) return 'automatic';
  if (fields.some(({ name }) => LIST.test(name))) return 'list';
  if (['bulk', 'junk', 'list'].includes(word('precedence'))) return 'bulk';
  const type = unfold(firstField(fields, 'content-type') ?? '').toLowerCase();
  if (/^multipart\/report\b/.test(type)) return 'report';
  const suppress = unfold(firstField(fields, 'x-auto-response-suppress') ?? '').toLowerCase();
  if (/\b(?:all|oof|autoreply)\b/.test(suppress)) return 'suppressed';
  return fields.some(({ name }) => AUTOMATIC_FIELDS.has(name)) ? 'automatic' : undefined;
}

/** Returns the first word of a value, without comments and parameters. */
function wordOf(value: string | undefined): string {
  const plain = unfold(value ?? '').replace(/\([^()]*\)/g, '');
  return (plain.split(/[\s;]/).find((one) => one !== '') ?? '').toLowerCase();
}

function named(fields: readonly Field[], wanted: (name: string) => boolean): Address[] {
  return fields
    .filter(({ name }) => wanted(name))
    .flatMap(({ value }) => parseAddressList(unfold(value), MAX_ADDRESSES))
    .flatMap(({ mailbox, host }) => {
      const spelled = Buffer.from(`${mailbox ?? ''}@${host ?? ''}`, 'latin1').toString();
      return parseAddress(spelled) ?? [];
    });
}

function isOwn(address: Address, own: ReadonlySet<string>): boolean {
  const plain = withoutDetail(address);
  return own.has(addressKey(address)) || (plain !== undefined && own.has(addressKey(plain)));
}
