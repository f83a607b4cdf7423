import { type Address, addressKey, parseAddress, withoutDetail } from './address.ts';
import { type Field, firstField, unfold } from './header.ts';
import { parseAddressList } from './header-addresses.ts';

/** Why a message gets no automatic answer. RFC 3834 2. */
export type Unanswerable =
  'no-sender' | 'own' | 'program' | 'automatic' | 'list' | 'bulk' | 'report' | 'not-named' | 'suppressed';

/** Local parts that are nobody's: programs, lists and those who say so. */
const PROGRAM =
  /^(?:(?:no|do-?not|never)[-_.]?(?:reply|answer|respond).*|.*[-_.+](?:no|do-?not)-?reply|mailer-daemon|postmaster|daemon|root|nobody|uucp|listserv|majordomo|mailman|sympa|owner-.*|.*-(?:owner|request|requests|bounces?|return|confirm|errors|relay)|bounces?(?:[-+=].*)?|prvs=.*|.*-bounces\+.*|notifications?|auto-?(?:reply|responder|confirm).*)$/i;

const LIST = /^list-(?:id|post|help|unsubscribe|unsubscribe-post|subscribe|owner|archive)$/;

/** Fields with which programs say that nobody reads an answer. */
const MARKS = new Set([
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

const NAMING = new Set(['to', 'cc', 'bcc', 'resent-to', 'resent-cc', 'resent-bcc']);

/** The most addresses that are looked at. */
const MOST_NAMED = 1000;

/**
 * Whether a program may answer a message for a person, undefined, or why not. `sender` is the envelope's; `own` are the
 * person's addresses as they are looked up. RFC 3834 2, and the marks that programs use beside it.
 */
export function unanswerable(
  sender: Address | undefined,
  fields: readonly Field[],
  own: ReadonlySet<string>,
): Unanswerable | undefined {
  if (sender === undefined) return 'no-sender';
  if (isOwn(sender, own)) return 'own';
  const from = named(fields, (name) => name === 'from' || name === 'sender');
  if (from.some((address) => isOwn(address, own))) return 'own';
  if ([sender, ...from].some(({ local }) => PROGRAM.test(local))) return 'program';
  return (
    marked(fields) ?? (named(fields, (name) => NAMING.has(name)).some((to) => isOwn(to, own)) ? undefined : 'not-named')
  );
}

function marked(fields: readonly Field[]): Unanswerable | undefined {
  const word = (name: string): string => wordOf(firstField(fields, name));
  if (!['', 'no'].includes(word('auto-submitted'))) return 'automatic';
  if (fields.some(({ name }) => LIST.test(name))) return 'list';
  if (['bulk', 'junk', 'list'].includes(word('precedence'))) return 'bulk';
  const type = unfold(firstField(fields, 'content-type') ?? '').toLowerCase();
  if (/^multipart\/report\b/.test(type)) return 'report';
  const suppress = unfold(firstField(fields, 'x-auto-response-suppress') ?? '').toLowerCase();
  if (/\b(?:all|oof|autoreply)\b/.test(suppress)) return 'suppressed';
  return fields.some(({ name }) => MARKS.has(name)) ? 'automatic' : undefined;
}

/** The first word of a value, without comments and parameters. */
function wordOf(value: string | undefined): string {
  const plain = unfold(value ?? '').replace(/\([^()]*\)/g, '');
  return (plain.split(/[\s;]/).find((one) => one !== '') ?? '').toLowerCase();
}

function named(fields: readonly Field[], wanted: (name: string) => boolean): Address[] {
  return fields
    .filter(({ name }) => wanted(name))
    .flatMap(({ value }) => parseAddressList(unfold(value), MOST_NAMED))
    .flatMap(({ mailbox, host }) => {
      const spelled = Buffer.from(`${mailbox ?? ''}@${host ?? ''}`, 'latin1').toString();
      return parseAddress(spelled) ?? [];
    });
}

function isOwn(address: Address, own: ReadonlySet<string>): boolean {
  const plain = withoutDetail(address);
  return own.has(addressKey(address)) || (plain !== undefined && own.has(addressKey(plain)));
}
