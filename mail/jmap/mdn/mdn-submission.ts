import { hash } from 'node:crypto';
import { redacted } from '../../agents/quarantine/redact.ts';
import { automaticDraft } from '../../delivery/automatic-mail.ts';
import { UNREACHABLE } from '../../delivery/destinations.ts';
import { submitMessage } from '../../delivery/submit-message.ts';
import { submit } from '../../delivery/submission-commit.ts';
import { type Address, addressKey, parseAddress } from '../../message/address.ts';
import { parseAddressList } from '../../message/header-addresses.ts';
import { type Field, firstField, readFields, unfold } from '../../message/header.ts';
import { composeMdn, recipientField } from '../../message/mdn.ts';
import { ownId } from '../../message/msg-id.ts';
import { type MdnRequest, mdnRequest } from '../../store/message/mdn-request.ts';
import type { IdempotencyGuard } from '../../store/queue/idempotency.ts';
import type { StoredIdentity } from '../../store/submission/identity.ts';
import { access, resolveCreationId } from '../core/access.ts';
import { idOrCreation, mapOf, nullable, object, plainObject } from '../core/arguments.ts';
import { MDN } from '../core/capabilities.ts';
import { MethodError, type SetError } from '../core/errors.ts';
import { jmapId, jmapRow } from '../core/ids.ts';
import { type Access, type JmapContext, type JmapMethod, type MethodCall, submitterOf } from '../core/method.ts';
import { alignedIdentities } from '../identity/identity.ts';
import { isHumanAccess } from '../redact.ts';
import { readProperties } from '../standard/set-properties.ts';
import { catchRefusal, done, refused, type SetOutcome } from '../standard/standard-set.ts';
import { rejectionOutcome } from '../submission/rejection-outcome.ts';
import { MDN_VALUES } from './mdn-parse.ts';

/** MDN/send. RFC 9007 2.1. */
export const mdnSend: JmapMethod = {
  name: 'MDN/send',
  capability: MDN,
  async run(call, args) {
    const request = object({
      accountId: access(call, 'write'),
      identityId: idOrCreation,
      send: mapOf(plainObject),
      onSuccessUpdateEmail: nullable(mapOf(plainObject)),
    })(args, '');
    if (request.send.size > call.context.limits.maxObjectsInSet) {
      throw new MethodError('requestTooLarge', `A call can send at most ${call.context.limits.maxObjectsInSet} MDNs.`);
    }
    const { account } = request.accountId;
    const { identities } = await alignedIdentities(call.context, account);
    const identityId = resolveCreationId(call, request.identityId);
    const identity = identities.find((one) => jmapId('identity', one.id) === identityId);
    const sent = new Map<string, unknown>();
    const notSent = new Map<string, SetError>();
    const update = new Map<string, unknown>();
    for (const [name, given] of request.send) {
      const read = readProperties(MDN_VALUES, given);
      const emailId = read.kind === 'done' ? (resolveCreationId(call, read.value.forEmailId) ?? '') : '';
      if (read.kind === 'refused') notSent.set(name, read.error);
      else if (identity === undefined) notSent.set(name, noIdentity);
      else if (update.has(emailId)) notSent.set(name, duplicateInCall);
      else {
        const email = jmapRow('email', account, emailId);
        const what = { access: request.accountId, identity, email, values: read.value };
        const outcome = await catchRefusal(call.context.log, () => sendMdn(call.context, what));
        if (outcome.kind === 'refused') notSent.set(name, outcome.error);
        else {
          sent.set(name, outcome.value);
          update.set(emailId, emailPatch(request.onSuccessUpdateEmail, name));
        }
      }
    }
    addEmailUpdates(call, args['accountId'], update);
    return { accountId: args['accountId'], sent: orNull(sent), notSent: orNull(notSent) };
  },
};

const MDN_SENT_PATH = 'keywords/$mdnsent';

const noIdentity: SetError = {
  type: 'invalidProperties',
  description: 'No such identity.',
  properties: ['identityId'],
};

const duplicateInCall: SetError = {
  type: 'mdnAlreadySent',
  description: 'The same call already sends an MDN for this email.',
};

/** The client's patch of the email, with $mdnsent always set. RFC 8098 2.1, 3503. */
function emailPatch(
  wishes: ReadonlyMap<string, Record<string, unknown>> | null,
  name: string,
): Record<string, unknown> {
  const { keywords, ...patch } = wishes?.get(`#${name}`) ?? wishes?.get(name) ?? {};
  const rest = Object.entries(patch).filter(([path]) => path.toLowerCase() !== MDN_SENT_PATH);
  const all = keywords === undefined ? { [MDN_SENT_PATH]: true } : { keywords: withSent(keywords) };
  return { ...Object.fromEntries(rest), ...all };
}

/** Adds $mdnsent; leaves an invalid value for Email/set to reject. */
function withSent(keywords: unknown): unknown {
  if (typeof keywords !== 'object' || keywords === null || Array.isArray(keywords)) return keywords;
  const rest = Object.entries(keywords).filter(([name]) => name.toLowerCase() !== '$mdnsent');
  return { ...Object.fromEntries(rest), $mdnsent: true };
}

function addEmailUpdates(call: MethodCall, accountId: unknown, update: ReadonlyMap<string, unknown>): void {
  if (update.size > 0) call.addImplicitCall('Email/set', { accountId, update: Object.fromEntries(update) });
}

function orNull<T>(found: ReadonlyMap<string, T>): Record<string, T> | null {
  return found.size === 0 ? null : Object.fromEntries(found);
}

/** Maximum octets of an original message attached to an MDN. */
const MAX_ORIGINAL_BYTES = 1024 * 1024;
const YEAR_MS = 365 * 24 * 3_600_000;
/** Maximum recipients of an MDN; a request for more is treated as abuse. */
const MAX_MDN_RECIPIENTS = 5;

type Values = Extract<ReturnType<typeof readProperties<typeof MDN_VALUES>>, { kind: 'done' }>['value'];

interface OutgoingMdn {
  access: Access;
  identity: StoredIdentity;
  /** Row of the email; undefined if it does not exist. */
  email: number | undefined;
  values: Values;
}

/** Sends an MDN through the sending gate. Returns the server-set properties. RFC 9007 2.1. */
async function sendMdn(context: JmapContext, what: OutgoingMdn): Promise<SetOutcome<Record<string, unknown>>> {
  const { access, email, values } = what;
  const { account } = access;
  if (!access.mayTransmit) return refused('forbidden', 'This login has no permission to send.');
  const request = email === undefined ? undefined : await context.store.read(mdnRequest, { account, id: email });
  if (request === undefined) return refused('notFound', 'No such email.');
  if (request.hasReceipt === 1) return alreadySent;
  const header = await context.store.blob(request.blob, 0, Math.min(request.headerLength, request.size));
  const fields = readFields(header.toString('latin1'));
  if (isReceipt(fields)) return refused('forbidden', 'The email is an MDN itself. MDNs are never sent for MDNs.');
  const to = requestedRecipients(fields);
  if (to.length === 0 || to.length > MAX_MDN_RECIPIENTS) {
    return refused('invalidProperties', 'The email does not request an MDN.', { properties: ['forEmailId'] });
  }
  // RFC 8098 2.1: an automatic MDN must go to the sender only, or senders could direct it at others.
  if (values.disposition.sendingMode === 'mdn-sent-automatically' && !requestsForSender(to, request)) {
    return refused('forbidden', "The MDN would go to an address other than the email's sender. Send it manually.");
  }
  if (values.includeOriginalMessage && request.size > MAX_ORIGINAL_BYTES) {
    return refused('tooLarge', 'The email is too large to attach to an MDN.', { maxSize: MAX_ORIGINAL_BYTES });
  }
  return transmit(context, what, { request, fields, to });
}

/** Reads the original message to attach, redacted for programs. */
async function originalOf(
  { store }: JmapContext,
  access: Access,
  { blob, size, redactedFrom }: MdnRequest,
): Promise<Buffer> {
  const octets = await store.blob(blob, 0, size);
  if (redactedFrom === null) return octets;
  return (await isHumanAccess(store, access)) ? octets : redacted(octets, 0, redactedFrom);
}

async function transmit(
  context: JmapContext,
  { access, identity, values }: OutgoingMdn,
  { request, fields, to }: { request: MdnRequest; fields: readonly Field[]; to: Address[] },
): Promise<SetOutcome<Record<string, unknown>>> {
  const author = parseAddress(identity.email);
  if (author === undefined) throw new Error('an identity has no address');
  const { account } = access;
  const trace = context.traceId();
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
      'This is a receipt: your message was displayed to its recipient. It does not mean that the content was read or understood.',
    date: context.clock(),
    messageId: `<${trace}@${author.domain}>`,
    original: values.includeOriginalMessage ? await originalOf(context, access, request) : null,
    reportingUa: values.reportingUA ?? '',
    gateway: '',
    disposition: values.disposition,
    errors: [],
    extensions: values.extensionFields ?? {},
  });
  const receipt = { submitter: submitterOf(access), author, to, trace, bytes };
  const guard = onlyOnce(account, request.id);
  const draft = { ...automaticDraft(receipt, context.store.secretLinks), guard };
  const outcome = await submitMessage(context, draft, (mail) => context.store.write(submit, mail));
  if (outcome.kind === 'unreachable') {
    const [{ address, why }] = outcome.unreachable;
    return refused('forbidden', `${address} is not deliverable: ${UNREACHABLE[why]}.`);
  }
  if (outcome.kind === 'repeated') return alreadySent;
  if (outcome.kind !== 'taken' && outcome.kind !== 'waits') return rejectionOutcome(outcome, undefined);
  return done({
    ...made,
    originalRecipient: made.originalRecipient || null,
    originalMessageId: made.originalMessageId || null,
  });
}

const alreadySent = refused('mdnAlreadySent', 'An MDN was already sent for this email.');

/** Guards against a second MDN, also in concurrent calls and after a crash before $mdnsent is set. RFC 8098 2.1. */
function onlyOnce(account: number, email: number): IdempotencyGuard {
  const request = Uint8Array.from(hash('sha256', 'receipt', 'buffer'));
  return {
    credential: `receipts/${account}`,
    key: `${email}`,
    request,
    forMs: YEAR_MS,
    byContent: false,
    again: false,
  };
}

/** Checks for an MDN, which must not be answered with an MDN: mail loop. RFC 8098 2.1. */
function isReceipt(fields: readonly Field[]): boolean {
  const type = unfold(firstField(fields, 'content-type') ?? '');
  return /^multipart\/report\b/i.test(type) && /\bdisposition-notification\b/i.test(type);
}

/** Recipients in Disposition-Notification-To, each once. RFC 8098 2.1. */
function requestedRecipients(fields: readonly Field[]): Address[] {
  const value = unfold(firstField(fields, 'disposition-notification-to') ?? '');
  const found = parseAddressList(value, MAX_MDN_RECIPIENTS + 1).flatMap(
    ({ mailbox, host }) => parseAddress(Buffer.from(`${mailbox ?? ''}@${host ?? ''}`, 'latin1').toString()) ?? [],
  );
  return [...new Map(found.map((address) => [addressKey(address), address])).values()];
}

function requestsForSender(to: readonly Address[], { trace }: MdnRequest): boolean {
  const path = firstField(readFields(trace), 'return-path') ?? '';
  const sender = parseAddress(path.trim().replace(/^<|>$/g, ''));
  return sender !== undefined && to.length === 1 && to.every((one) => addressKey(one) === addressKey(sender));
}

/** The original Message-ID; empty if it is not safe in a header, since the sender controls it. */
function originalId(fields: readonly Field[]): string {
  const id = ownId(firstField(fields, 'message-id'));
  return /^[\x21-\x7e]{1,900}$/.test(id) ? `<${id}>` : '';
}
