import { type Address, addressKey, formatAddress, parseAddress } from '../../message/address.ts';
import type { Authors } from '../../message/authors.ts';
import { parseAddressList } from '../../message/header-addresses.ts';
import { type Field, unfold } from '../../message/header.ts';
import type { EnvelopeAddress } from '../../store/submission/jmap-submission.ts';
import { type ArgumentReader, list, mapOf, nullable, object, text } from '../core/arguments.ts';
import { textUpTo } from '../standard/set-properties.ts';
import { done, refused, type SetOutcome } from '../standard/standard-set.ts';

/** Maximum recipients of one message, the same as in SMTP submission. */
const MAX_RECIPIENTS = 100;

/** The Envelope object of the client. RFC 8621 7. */
export interface GivenEnvelope {
  mailFrom: EnvelopeAddress;
  rcptTo: EnvelopeAddress[];
}

/** Maximum length of a parameter value; values are stored. */
const MAX_PARAMETER_LENGTH = 500;

const parameters: ArgumentReader<EnvelopeAddress['parameters']> = (value, path) => {
  const read = nullable(mapOf(nullable(textUpTo(MAX_PARAMETER_LENGTH))))(value, path);
  return read && Object.fromEntries(read);
};

const envelopeAddress: ArgumentReader<EnvelopeAddress> = object({ email: text, parameters });

export const givenEnvelope: ArgumentReader<GivenEnvelope | null> = nullable(
  object({ mailFrom: envelopeAddress, rcptTo: list(envelopeAddress) }),
);

/** An envelope with parsed addresses and parameters. */
export interface SubmissionEnvelope {
  /** The client's envelope, as stored. */
  given: GivenEnvelope;
  /** Undefined for the null reverse-path. */
  sender: Address | undefined;
  options: SenderParameters;
  recipients: readonly (RecipientParameters & { address: Address })[];
}

/** Parses an envelope; an invalid one gets a SetError. RFC 8621 7.5. */
export function readSubmissionEnvelope(given: GivenEnvelope, now: number): SetOutcome<SubmissionEnvelope> {
  const { mailFrom, rcptTo } = given;
  if (rcptTo.length === 0) return refused('noRecipients', 'The envelope has no recipients.');
  if (rcptTo.length > MAX_RECIPIENTS) {
    const why = `A message can have at most ${MAX_RECIPIENTS} recipients. Send it again for the others.`;
    return refused('tooManyRecipients', why, { maxRecipients: MAX_RECIPIENTS });
  }
  const sender = mailFrom.email === '' ? undefined : parseAddress(mailFrom.email);
  if (mailFrom.email !== '' && sender === undefined) return wrong('mailFrom/email', 'is not an email address');
  const options = senderParameters(mailFrom.parameters, now);
  if (typeof options === 'string') return wrong('mailFrom/parameters', `is invalid: ${options}`);
  const invalid = rcptTo.filter(({ email }) => parseAddress(email) === undefined).map(({ email }) => email);
  if (invalid.length > 0) {
    return refused('invalidRecipients', 'Invalid email addresses.', { invalidRecipients: invalid });
  }
  const recipients = new Map<string, SubmissionEnvelope['recipients'][number]>();
  for (const { email, parameters: more } of rcptTo) {
    const address = parseAddress(email);
    const read = recipientParameters(more);
    if (typeof read === 'string') return wrong('rcptTo/parameters', `is invalid: ${read}`);
    if (address === undefined) continue;
    // Removes duplicates, which may differ in domain case.
    const key = formatAddress(address);
    if (!recipients.has(key)) recipients.set(key, { address, ...read });
  }
  return done({ given, sender, options, recipients: [...recipients.values()] });
}

function wrong(property: string, why: string): SetOutcome<never> {
  return refused('invalidProperties', `"envelope/${property}" ${why}.`, { properties: [`envelope/${property}`] });
}

/**
 * The default envelope. RFC 8621 7: from Sender, else From, or the identity's address if that differs; to all addresses
 * in To, Cc and Bcc, each once.
 */
export function envelopeOf(
  fields: readonly Field[],
  authors: Authors & { kind: 'authors' },
  identity: string,
): GivenEnvelope {
  const named = fields.some(({ name }) => name === 'sender')
    ? addressesIn(fields, ['sender'])
    : authors.from.map(formatAddress);
  const last = parseAddress(named.at(-1) ?? '');
  const own = parseAddress(identity);
  const allowed = last !== undefined && own !== undefined && addressKey(last) === addressKey(own);
  const to = [...new Set(addressesIn(fields, ['to', 'cc', 'bcc']))];
  return {
    mailFrom: { email: allowed ? formatAddress(last) : identity, parameters: null },
    rcptTo: to.map((email) => ({ email, parameters: null })),
  };
}

/** Addresses in wire form; invalid ones stay unchanged, for the error message. */
function addressesIn(fields: readonly Field[], names: readonly string[]): string[] {
  return fields
    .filter(({ name }) => names.includes(name))
    .flatMap(({ value }) => parseAddressList(unfold(value), MAX_RECIPIENTS + 1))
    .flatMap(({ mailbox, host }) => {
      // Group markers have no host.
      if (host === undefined) return [];
      const email = Buffer.from(`${mailbox ?? ''}@${host}`, 'latin1').toString('utf8');
      const address = parseAddress(email);
      return [address === undefined ? email : formatAddress(address)];
    });
}

/** Maximum delay of a submission in seconds: 30 days. RFC 8621 1.3.2, maxDelayedSend. */
export const MAX_DELAYED_SEND = 30 * 24 * 3600;

/** Parsed MAIL FROM parameters. RFC 3461, 4865, 6531, 8689. */
interface SenderParameters {
  ret: 'FULL' | 'HDRS' | '';
  envid: string;
  smtputf8: boolean;
  requireTls: boolean;
  /** ms UTC; null for immediately. */
  sendAt: number | null;
}

/** Parsed RCPT TO parameters. */
interface RecipientParameters {
  notify: string;
  orcpt: string;
}

type Parameters = EnvelopeAddress['parameters'];

/** Parses sender parameters, with case-insensitive names; returns a string with the reason if invalid. */
function senderParameters(given: Parameters, now: number): SenderParameters | string {
  const read: SenderParameters = { ret: '', envid: '', smtputf8: false, requireTls: false, sendAt: null };
  for (const [name, value] of Object.entries(given ?? {})) {
    const flaw = takeParameter(read, name.toUpperCase(), value, now);
    if (flaw !== undefined) return flaw;
  }
  return read;
}

function takeParameter(read: SenderParameters, name: string, value: string | null, now: number): string | undefined {
  switch (name) {
    case 'SIZE':
    case 'BODY':
      // Ignored: determined from the message.
      return undefined;
    case 'SMTPUTF8':
      read.smtputf8 = true;
      return valueless(name, value);
    case 'REQUIRETLS':
      read.requireTls = true;
      return valueless(name, value);
    case 'RET': {
      const ret = value?.toUpperCase();
      if (ret !== 'FULL' && ret !== 'HDRS') return 'RET must be FULL or HDRS';
      read.ret = ret;
      return undefined;
    }
    case 'ENVID':
      // A line end could inject a header field into the delivery report.
      if (value === null || !/^[\x20-\x7e]{1,100}$/.test(value)) return 'ENVID must have 1 to 100 printable characters';
      read.envid = value;
      return undefined;
    case 'HOLDFOR':
    case 'HOLDUNTIL':
      return takeTime(read, name, value, now);
    default:
      return `unknown parameter ${name.slice(0, 40)}`;
  }
}

function valueless(name: string, value: string | null): string | undefined {
  return value === null || value === '' ? undefined : `${name} takes no value`;
}

/** Parses HOLDFOR or HOLDUNTIL; a past time means now. RFC 4865 5. */
function takeTime(read: SenderParameters, name: string, value: string | null, now: number): string | undefined {
  if (read.sendAt !== null) return 'HOLDFOR and HOLDUNTIL exclude each other';
  const at = name === 'HOLDFOR' ? inSeconds(value, now) : atTime(value);
  if (at === undefined) {
    return name === 'HOLDFOR'
      ? 'HOLDFOR must be a number of seconds'
      : 'HOLDUNTIL must be a time such as 2026-11-21T09:00:00Z';
  }
  if (at > now + MAX_DELAYED_SEND * 1000) return `the maximum delay is ${MAX_DELAYED_SEND} seconds`;
  read.sendAt = Math.max(at, now);
  return undefined;
}

function inSeconds(value: string | null, now: number): number | undefined {
  return value !== null && /^\d{1,9}$/.test(value) ? now + Number(value) * 1000 : undefined;
}

function atTime(value: string | null): number | undefined {
  if (value === null || !/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/.test(value)) return undefined;
  const at = Date.parse(value);
  return Number.isNaN(at) ? undefined : at;
}

const NOTIFY = new Set(['SUCCESS', 'FAILURE', 'DELAY']);

/** Parses recipient parameters; returns a string with the reason if invalid. */
function recipientParameters(given: Parameters): RecipientParameters | string {
  const read: RecipientParameters = { notify: '', orcpt: '' };
  for (const [name, value] of Object.entries(given ?? {})) {
    switch (name.toUpperCase()) {
      case 'NOTIFY': {
        const words = (value ?? '').toUpperCase().split(',');
        const known = words.every((word) => NOTIFY.has(word)) || (words.length === 1 && words[0] === 'NEVER');
        if (!known) return 'NOTIFY must be NEVER, or a comma-separated list of SUCCESS, FAILURE and DELAY';
        read.notify = [...new Set(words)].join(',');
        break;
      }
      case 'ORCPT':
        // The value has no xtext encoding. RFC 8621 7.
        if (value === null || !/^[A-Za-z0-9-]{1,40};[^\x00-\x1f\x7f-\x9f\u2028\u2029]{1,460}$/.test(value))
          return 'ORCPT must be an address type, a semicolon and an address';
        read.orcpt = value;
        break;
      default:
        return `unknown parameter ${name.slice(0, 40)}`;
    }
  }
  return read;
}
