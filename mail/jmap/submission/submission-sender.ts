import { UNREACHABLE } from '../../delivery/destinations.ts';
import { submitEmail } from '../../delivery/jmap-submission-commit.ts';
import type { MessageOctets } from '../../delivery/octet-reader.ts';
import type { SubmissionDraft } from '../../delivery/submission-draft.ts';
import { submitMessage, type UnreachableRecipients } from '../../delivery/submit-message.ts';
import type { Address } from '../../message/address.ts';
import { type Authors, parseAuthors } from '../../message/authors.ts';
import { readFields } from '../../message/header.ts';
import type { StoredIdentity } from '../../store/submission/identity.ts';
import type { EmailToSend } from '../../store/submission/jmap-submission.ts';
import { type Access, submitterOf, type JmapContext } from '../core/method.ts';
import { done, refused, type SetOutcome } from '../standard/standard-set.ts';
import type { StateTrack } from '../standard/state-track.ts';
import { isHumanAccess } from '../redact.ts';
import { envelopeOf, type GivenEnvelope, readSubmissionEnvelope, type SubmissionEnvelope } from './envelope.ts';
import { type OutgoingCopy, withMessage } from './outgoing-message.ts';
import { rejectionOutcome } from './rejection-outcome.ts';

/** Maximum Received fields, against mail loops. RFC 5321 6.3. */
const MAX_RECEIVED_FIELDS = 100;

export interface SubmissionRequest {
  access: Access;
  identity: StoredIdentity;
  email: EmailToSend;
  envelope: GivenEnvelope | null;
}

/** A submission with parsed envelope and trace id. */
interface Sending extends Pick<SubmissionRequest, 'access' | 'identity' | 'email'> {
  envelope: SubmissionEnvelope;
  trace: string;
}

type Sent = SetOutcome<{ id: number }>;

/** Submits an email through the sending gate. Returns the row of the submission, or the SetError. RFC 8621 7.5. */
export async function sendSubmission(
  context: JmapContext,
  track: StateTrack,
  { envelope: given, ...what }: SubmissionRequest,
): Promise<Sent> {
  const { access, email, identity } = what;
  if (!access.mayTransmit) return refused('forbiddenToSend', 'This login has no permission to send.');
  if (email.size > context.maxMessageBytes) {
    const why = `The message has ${email.size} octets. The maximum is ${context.maxMessageBytes}.`;
    return refused('tooLarge', why, { maxSize: context.maxMessageBytes });
  }
  const header = await context.store.blob(email.blob, 0, Math.min(email.headerLength, email.size));
  const authors = parseAuthors(header);
  const flaw = authors.kind === 'refused' ? `${authors.why}.` : fromFlaw(authors);
  if (authors.kind === 'refused' || flaw !== undefined) {
    return refused('invalidEmail', flaw ?? '', { properties: ['from'] });
  }
  const now = context.clock();
  const envelope = readSubmissionEnvelope(
    given ?? envelopeOf(readFields(header.toString('latin1')), authors, identity.email),
    now,
  );
  if (envelope.kind === 'refused') return envelope;
  const trace = context.traceId();
  const domain = (envelope.value.sender ?? authors.from[0])?.domain ?? context.hostname;
  const sending = { ...what, envelope: envelope.value, trace };
  const stamp = { now, messageIdDomain: domain, id: trace, authserv: context.hostname };
  return withMessage(context.store, email, stamp, (message, octets) =>
    commit(context, track, sending, message, octets),
  );
}

/** Requires one From field, and a Sender field for several authors. RFC 5322 3.6.2. */
function fromFlaw({
  from,
  others,
  fromFields,
}: {
  from: Address[];
  others: Address[];
  fromFields: number;
}): string | undefined {
  if (fromFields !== 1) return 'A message needs exactly one From field.';
  return from.length > 1 && others.length === 0 ? 'A message with several authors needs a Sender field.' : undefined;
}

async function commit(
  context: JmapContext,
  track: StateTrack,
  sending: Sending,
  message: OutgoingCopy,
  octets: MessageOctets,
): Promise<Sent> {
  const { access, email, identity, envelope, trace } = sending;
  // Checks the outgoing copy too: a header over the limit is empty there.
  const { authors } = message;
  if (authors.kind === 'refused') return refused('invalidEmail', `${authors.why}.`, { properties: ['headers'] });
  if (message.index.received > MAX_RECEIVED_FIELDS) {
    return refused('invalidEmail', `The message has more than ${MAX_RECEIVED_FIELDS} Received fields: mail loop.`, {
      properties: ['headers'],
    });
  }
  if (message.index.secretLink === true && !(await isHumanAccess(context.store, access))) {
    return refused(
      'forbidden',
      'The message contains a quarantined sign-in link. A person must send it, with their own password.',
    );
  }
  const { account } = access;
  const { mailFrom, rcptTo } = envelope.given;
  const sendAt = envelope.options.sendAt ?? context.clock();
  const record = {
    account,
    trace,
    identity: identity.id,
    email: email.id,
    thread: email.thread,
    mailFrom,
    rcptTo,
    sendAt,
  };
  const outcome = await submitMessage(context, draftOf(sending, { ...message, authors }, octets), (mail) =>
    track.write(context.store, submitEmail, { account, mail, record }),
  );
  if (outcome.kind === 'unreachable') return unreachable(outcome.unreachable);
  return outcome.kind === 'submitted' ? done({ id: outcome.id }) : rejectionOutcome(outcome, envelope.sender);
}

function draftOf(
  { access, email, envelope, trace }: Sending,
  message: OutgoingCopy & { authors: Authors & { kind: 'authors' } },
  octets: MessageOctets,
): SubmissionDraft {
  const { options, sender, recipients } = envelope;
  const { index, fields, sha256, authors, authorDomains, eightBit, utf8Header } = message;
  return {
    trace,
    protocol: 'jmap',
    submitter: submitterOf(access),
    sender,
    recipients,
    message: {
      index,
      octets,
      fields,
      sha256,
      authors: [...authors.from, ...authors.others],
      signAs: authorDomains,
      eightBit,
      smtputf8: options.smtputf8 || utf8Header,
    },
    relatedMessages: { draft: email.id },
    ret: options.ret,
    envid: options.envid,
    requireTls: options.requireTls,
    sendAt: options.sendAt,
    skipsSuppressed: false,
    mayReplyToNotices: true,
  };
}

function unreachable(found: UnreachableRecipients['unreachable']): SetOutcome<never> {
  const [{ address, why }] = found;
  return refused('invalidRecipients', `${address} is not deliverable: ${UNREACHABLE[why]}.`, {
    invalidRecipients: found.map((one) => one.address),
  });
}
