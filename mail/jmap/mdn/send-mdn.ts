import { hash } from 'node:crypto';
import { automaticMail } from '../../delivery/automatic-mail.ts';
import { UNREACHABLE } from '../../delivery/destinations.ts';
import { submit } from '../../delivery/submit.ts';
import { type Address, addressKey, parseAddress } from '../../message/address.ts';
import { type Field, firstField, readFields, unfold } from '../../message/header.ts';
import { parseAddressList } from '../../message/header-addresses.ts';
import { composeMdn, recipientField } from '../../message/mdn.ts';
import { ownId } from '../../message/msg-id.ts';
import type { StoredIdentity } from '../../store/identity.ts';
import type { Guard } from '../../store/sent-before.ts';
import { type MdnRequest, mdnRequest } from '../../store/mdn-request.ts';
import { veiled } from '../../store/veil.ts';
import { type Access, askerOf, type JmapDesk } from '../method.ts';
import type { readProperties } from '../set-properties.ts';
import { done, type Outcome, refused } from '../standard-set.ts';
import { stoppedAs } from '../submission/stopped.ts';
import { isPersons } from '../veil.ts';
import type { MDN_VALUES } from './mdn-object.ts';

/** A longer original is not sent back. Octets. */
const LARGEST_ORIGINAL = 1024 * 1024;
const YEAR_MS = 365 * 24 * 3_600_000;
/** A receipt that was asked for by more than these is an attack on somebody. */
const MOST_ASKING = 5;

type Values = Extract<ReturnType<typeof readProperties<typeof MDN_VALUES>>, { kind: 'done' }>['value'];

export interface MdnToSend {
  access: Access;
  identity: StoredIdentity;
  /** Row of the email; undefined: there is none. */
  email: number | undefined;
  values: Values;
}

/** Sends a receipt through the gate. Answers the properties that the server made. RFC 9007 2.1. */
export async function sendMdn(desk: JmapDesk, what: MdnToSend): Promise<Outcome<Record<string, unknown>>> {
  const { access, email, values } = what;
  const { account } = access;
  if (!access.mayTransmit) return refused('forbidden', 'This login may not send.');
  const request = email === undefined ? undefined : await desk.store.read(mdnRequest, { account, id: email });
  if (request === undefined) return refused('notFound', 'There is no such email.');
  if (request.told === 1) return alreadySent;
  const header = await desk.store.blob(request.blob, 0, Math.min(request.headerLength, request.size));
  const fields = readFields(header.toString('latin1'));
  if (isReceipt(fields)) return refused('forbidden', 'The email is a receipt itself, which gets none.');
  const to = asking(fields);
  if (to.length === 0 || to.length > MOST_ASKING) {
    return refused('invalidProperties', 'The email asks for no receipt.', { properties: ['forEmailId'] });
  }
  // RFC 8098 2.1: a program must not be made to write to somebody else than who sent it.
  if (values.disposition.sendingMode === 'mdn-sent-automatically' && !asksForItself(to, request)) {
    return refused('forbidden', 'The receipt would go to another address than that which the email came from.');
  }
  if (values.includeOriginalMessage && request.size > LARGEST_ORIGINAL) {
    return refused('tooLarge', 'The email is too large to go back.', { maxSize: LARGEST_ORIGINAL });
  }
  return transmit(desk, what, { request, fields, to });
}

/** The message that a receipt goes back with, as who sends it may see it. */
async function originalOf(
  { store }: JmapDesk,
  access: Access,
  { blob, size, veiledFrom }: MdnRequest,
): Promise<Buffer> {
  const octets = await store.blob(blob, 0, size);
  if (veiledFrom === null) return octets;
  return (await isPersons(store, access)) ? octets : veiled(octets, 0, veiledFrom);
}

async function transmit(
  desk: JmapDesk,
  { access, identity, values }: MdnToSend,
  { request, fields, to }: { request: MdnRequest; fields: readonly Field[]; to: Address[] },
): Promise<Outcome<Record<string, unknown>>> {
  const author = parseAddress(identity.email);
  if (author === undefined) throw new Error('an identity has no address');
  const { account } = access;
  const trace = desk.traceId();
  const made = {
    subject: values.subject ?? `Read: ${request.subject.slice(0, 500)}`,
    originalRecipient: unfold(firstField(fields, 'original-recipient') ?? '').slice(0, 500),
    finalRecipient: values.finalRecipient ?? recipientField(author),
    originalMessageId: originalId(fields),
  };
  const bytes = composeMdn({
    ...made,
    from: { name: identity.name, address: author },
    to,
    text:
      values.textBody ??
      'This is a receipt: your message was seen by its recipient, which says nothing of its content.',
    date: desk.clock(),
    messageId: `<${trace}@${author.domain}>`,
    original: values.includeOriginalMessage ? await originalOf(desk, access, request) : null,
    reportingUa: values.reportingUA ?? '',
    gateway: '',
    disposition: values.disposition,
    errors: [],
    extensions: values.extensionFields ?? {},
  });
  const { mail, unreachable } = await automaticMail(desk, {
    account,
    by: askerOf(access),
    author,
    to,
    trace,
    bytes,
    spares: false,
  });
  const [first] = unreachable;
  if (first !== undefined) {
    return refused('forbidden', `${first.address} cannot be written to: ${UNREACHABLE[first.why]}.`);
  }
  const outcome = await desk.store.write(submit, { ...mail, guard: onlyOnce(account, request.id) });
  if (outcome.kind === 'repeated') return alreadySent;
  if (outcome.kind !== 'taken' && outcome.kind !== 'waits') return stoppedAs(outcome, undefined);
  if (outcome.kind === 'taken' && outcome.queued) desk.queued();
  return done({
    ...made,
    originalRecipient: made.originalRecipient || null,
    originalMessageId: made.originalMessageId || null,
  });
}

const alreadySent = refused('mdnAlreadySent', 'A receipt for it was sent before.');

/**
 * RFC 8098 2.1: never a second one, also when two ask at once, or when the process ends before the email has $mdnsent.
 */
function onlyOnce(account: number, email: number): Guard {
  const request = Uint8Array.from(hash('sha256', 'receipt', 'buffer'));
  return { credential: `receipts/${account}`, key: `${email}`, request, forMs: YEAR_MS, guess: false, again: false };
}

/** RFC 8098 2.1: two programs would answer each other for ever. */
function isReceipt(fields: readonly Field[]): boolean {
  const type = unfold(firstField(fields, 'content-type') ?? '');
  return /^multipart\/report\b/i.test(type) && /\bdisposition-notification\b/i.test(type);
}

/** Who asks for a receipt, each once. RFC 8098 2.1. */
function asking(fields: readonly Field[]): Address[] {
  const value = unfold(firstField(fields, 'disposition-notification-to') ?? '');
  const found = parseAddressList(value, MOST_ASKING + 1).flatMap(
    ({ mailbox, host }) => parseAddress(Buffer.from(`${mailbox ?? ''}@${host ?? ''}`, 'latin1').toString()) ?? [],
  );
  return [...new Map(found.map((address) => [addressKey(address), address])).values()];
}

function asksForItself(to: readonly Address[], { trace }: MdnRequest): boolean {
  const path = firstField(readFields(trace), 'return-path') ?? '';
  const sender = parseAddress(path.trim().replace(/^<|>$/g, ''));
  return sender !== undefined && to.length === 1 && to.every((one) => addressKey(one) === addressKey(sender));
}

/** A stranger wrote it: what would not stand in a header as it is stays away. */
function originalId(fields: readonly Field[]): string {
  const id = ownId(firstField(fields, 'message-id'));
  return /^[\x21-\x7e]{1,900}$/.test(id) ? `<${id}>` : '';
}
