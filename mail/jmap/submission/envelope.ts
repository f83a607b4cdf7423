import { type Address, addressKey, formatAddress, parseAddress } from '../../message/address.ts';
import type { Authors } from '../../message/authors.ts';
import type { Field } from '../../message/header.ts';
import { unfold } from '../../message/header.ts';
import { parseAddressList } from '../../message/header-addresses.ts';
import type { EnvelopeAddress } from '../../store/jmap-submission.ts';
import { list, mapOf, nullable, object, type Reader, text } from '../arguments.ts';
import { textUpTo } from '../set-properties.ts';
import { type Outcome, done, refused } from '../standard-set.ts';
import {
  type RecipientParameters,
  recipientParameters,
  senderParameters,
  type SenderParameters,
} from './smtp-parameters.ts';

/** The most recipients of one message, as at the other door for those who log in. */
export const MAX_RECIPIENTS = 100;

/** As the client gives it. RFC 8621 7. */
export interface GivenEnvelope {
  mailFrom: EnvelopeAddress;
  rcptTo: EnvelopeAddress[];
}

/** They are remembered, and none that is understood is longer. */
const LONGEST_PARAMETER = 500;

const parameters: Reader<EnvelopeAddress['parameters']> = (value, path) => {
  const read = nullable(mapOf(nullable(textUpTo(LONGEST_PARAMETER))))(value, path);
  return read && Object.fromEntries(read);
};

const envelopeAddress: Reader<EnvelopeAddress> = object({ email: text, parameters });

export const givenEnvelope: Reader<GivenEnvelope | null> = nullable(
  object({ mailFrom: envelopeAddress, rcptTo: list(envelopeAddress) }),
);

/** An envelope whose addresses and parameters were understood. */
export interface Envelope {
  /** As it is remembered. */
  given: GivenEnvelope;
  /** Undefined: the null reverse-path. */
  sender: Address | undefined;
  asked: SenderParameters;
  recipients: readonly (RecipientParameters & { address: Address })[];
}

/** Takes an envelope apart, or says which SetError it gets. RFC 8621 7.5. */
export function readEnvelope(given: GivenEnvelope, now: number): Outcome<Envelope> {
  const { mailFrom, rcptTo } = given;
  if (rcptTo.length === 0) return refused('noRecipients', 'The envelope has no recipients.');
  if (rcptTo.length > MAX_RECIPIENTS) {
    const why = `A message has at most ${MAX_RECIPIENTS} recipients: send it again for the others.`;
    return refused('tooManyRecipients', why, { maxRecipients: MAX_RECIPIENTS });
  }
  const sender = mailFrom.email === '' ? undefined : parseAddress(mailFrom.email);
  if (mailFrom.email !== '' && sender === undefined) return wrong('mailFrom/email', 'is not a mail address');
  const asked = senderParameters(mailFrom.parameters, now);
  if (typeof asked === 'string') return wrong('mailFrom/parameters', `is refused: ${asked}`);
  const invalid = rcptTo.filter(({ email }) => parseAddress(email) === undefined).map(({ email }) => email);
  if (invalid.length > 0) {
    return refused('invalidRecipients', 'These are not mail addresses.', { invalidRecipients: invalid });
  }
  const recipients = new Map<string, Envelope['recipients'][number]>();
  for (const { email, parameters: more } of rcptTo) {
    const address = parseAddress(email);
    const read = recipientParameters(more);
    if (typeof read === 'string') return wrong('rcptTo/parameters', `is refused: ${read}`);
    if (address === undefined) continue;
    // Once, however it is spelled: "x@EXAMPLE.COM" is nobody else.
    const key = formatAddress(address);
    if (!recipients.has(key)) recipients.set(key, { address, ...read });
  }
  return done({ given, sender, asked, recipients: [...recipients.values()] });
}

function wrong(property: string, why: string): Outcome<never> {
  return refused('invalidProperties', `"envelope/${property}" ${why}.`, { properties: [`envelope/${property}`] });
}

/**
 * The envelope that a message without one gets. RFC 8621 7: from Sender, else From, unless the identity does not allow
 * that address; to everybody in To, Cc and Bcc, each once.
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

/** Spelled as they will go on the wire; what is no address stays as it is, to be told. */
function addressesIn(fields: readonly Field[], names: readonly string[]): string[] {
  return fields
    .filter(({ name }) => names.includes(name))
    .flatMap(({ value }) => parseAddressList(unfold(value), MAX_RECIPIENTS + 1))
    .flatMap(({ mailbox, host }) => {
      // Groups begin and end with members that have no host.
      if (host === undefined) return [];
      const email = Buffer.from(`${mailbox ?? ''}@${host}`, 'latin1').toString('utf8');
      const address = parseAddress(email);
      return [address === undefined ? email : formatAddress(address)];
    });
}
