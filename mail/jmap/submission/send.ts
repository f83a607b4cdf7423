import { takeAnswers } from '../../delivery/answers.ts';
import { aboutMessage } from '../../delivery/agent/about-message.ts';
import { countAgentMail } from '../../delivery/agent/count.ts';
import { destinations, type Unreachable, UNREACHABLE } from '../../delivery/destinations.ts';
import { submitEmail } from '../../delivery/email-submission.ts';
import type { Outgoing, Submission } from '../../delivery/submit.ts';
import { reachedHere, reportOfSuccess } from '../../delivery/success-report.ts';
import { type Address, formatAddress, needsUtf8 } from '../../message/address.ts';
import { parseAuthors } from '../../message/authors.ts';
import { readFields } from '../../message/header.ts';
import { REPORT_MAX } from '../../message/report.ts';
import type { MessageIndex } from '../../message/index-types.ts';
import type { StoredIdentity } from '../../store/identity.ts';
import type { EmailToSend } from '../../store/jmap-submission.ts';
import { type Access, askerOf, type JmapDesk } from '../method.ts';
import { done, type Outcome, refused } from '../standard-set.ts';
import type { StateTrack } from '../state-track.ts';
import { isPersons } from '../veil.ts';
import { type Envelope, envelopeOf, type GivenEnvelope, readEnvelope } from './envelope.ts';
import { type MessageToSend, type Octets, withMessage } from './message-to-send.ts';
import { stoppedAs } from './stopped.ts';

/** RFC 5321 6.3. */
const MOST_RECEIVED = 100;

export interface ToSend {
  access: Access;
  identity: StoredIdentity;
  email: EmailToSend;
  envelope: GivenEnvelope | null;
}

/** What the gate is asked, and what is remembered when it takes it. */
interface Sending extends Pick<ToSend, 'access' | 'identity' | 'email'> {
  envelope: Envelope;
  trace: string;
}

type Sent = Outcome<{ id: number }>;

/** Sends an email of an account through the gate. Answers the row of the submission, or the SetError. RFC 8621 7.5. */
export async function sendSubmission(
  desk: JmapDesk,
  track: StateTrack,
  { envelope: given, ...what }: ToSend,
): Promise<Sent> {
  const { access, email, identity } = what;
  if (!access.mayTransmit) return refused('forbiddenToSend', 'This login may not send.');
  if (email.size > desk.maxMessageBytes) {
    const why = `The message has ${email.size} octets: at most ${desk.maxMessageBytes} can be sent.`;
    return refused('tooLarge', why, { maxSize: desk.maxMessageBytes });
  }
  const header = await desk.store.blob(email.blob, 0, Math.min(email.headerLength, email.size));
  const authors = parseAuthors(header);
  const flaw = authors.kind === 'refused' ? `${authors.why}.` : fromFlaw(authors);
  if (authors.kind === 'refused' || flaw !== undefined) {
    return refused('invalidEmail', flaw ?? '', { properties: ['from'] });
  }
  const now = desk.clock();
  const envelope = readEnvelope(
    given ?? envelopeOf(readFields(header.toString('latin1')), authors, identity.email),
    now,
  );
  if (envelope.kind === 'refused') return envelope;
  const trace = desk.traceId();
  const domain = (envelope.value.sender ?? authors.from[0])?.domain ?? desk.hostname;
  const sending = { ...what, envelope: envelope.value, trace };
  return withMessage(desk.store, email, { now, messageIdDomain: domain, id: trace }, (message, octets) =>
    commit(desk, track, sending, message, octets),
  );
}

/** RFC 5322 3.6.2: one From field; several authors need a Sender, which says who sends. */
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
  return from.length > 1 && others.length === 0 ? 'A message of several authors needs a Sender field.' : undefined;
}

async function commit(
  desk: JmapDesk,
  track: StateTrack,
  sending: Sending,
  message: MessageToSend,
  octets: Octets,
): Promise<Sent> {
  const { access, email, identity, envelope, trace } = sending;
  // The copy that leaves is judged as well: of a header that is too long nothing is left.
  const { authors } = message;
  if (authors.kind === 'refused') return refused('invalidEmail', `${authors.why}.`, { properties: ['headers'] });
  if (message.index.received > MOST_RECEIVED) {
    return refused('invalidEmail', 'It has too many Received fields: it is going round in circles.', {
      properties: ['headers'],
    });
  }
  if (message.index.secretLink === true && !(await isPersons(desk.store, access))) {
    return refused(
      'forbidden',
      'It carries a link that acts for a person: a person sends it, with a password of their own.',
    );
  }
  const { unreachable, ...where } = await leadTo(desk, envelope, message, octets);
  if (unreachable.length > 0) return nobody(unreachable);
  await takeAnswered(desk, sending, message, octets);
  const mail = await submission(desk, sending, message, { ...octets, ...where });
  const { mailFrom, rcptTo } = envelope.given;
  const record = {
    account: access.account,
    trace,
    identity: identity.id,
    email: email.id,
    thread: email.thread,
    mailFrom,
    rcptTo,
    sendAt: envelope.asked.sendAt ?? desk.clock(),
  };
  const outcome = await track.write(desk.store, submitEmail, { account: access.account, mail, record });
  countAgentMail(desk.meter, mail.verdict, outcome);
  if (outcome.kind !== 'submitted') return stoppedAs(outcome, envelope.sender);
  if (outcome.queued) desk.queued();
  return done({ id: outcome.id });
}

/** Who answers a letter of the box means it now, whenever the message is to leave. */
async function takeAnswered(
  { answers, store }: JmapDesk,
  { envelope: { sender, recipients }, trace }: Sending,
  { index }: MessageToSend,
  { data, file }: Octets,
): Promise<void> {
  if (answers === undefined || recipients.every(({ address }) => answers.meant(address) === undefined)) return;
  const octets =
    file === null ? Buffer.from(data ?? []) : await store.files.read(file.file, 0, Math.min(file.size, REPORT_MAX));
  const to = recipients.map(({ address }) => address);
  await takeAnswers(answers, to, { trace, nullSender: sender === undefined, index, octets });
}

function nobody(unreachable: readonly Unreachable[]): Outcome<never> {
  const [first] = unreachable;
  const why = first === undefined ? '' : `${first.address} cannot be written to: ${UNREACHABLE[first.why]}.`;
  return refused('invalidRecipients', why, { invalidRecipients: unreachable.map(({ address }) => address) });
}

/** Where the recipients lead, with what was asked of each. */
async function leadTo(
  { store, hostname, clock, forwardKey: key, answers }: JmapDesk,
  { sender, recipients }: Envelope,
  { index, authorDomains: authors }: MessageToSend,
  { data, file }: Octets,
): Promise<Awaited<ReturnType<typeof destinations>> & Required<Pick<Submission, 'wishes'>>> {
  const head = file === null ? Buffer.from(data ?? []) : await store.files.read(file.file, 0, index.headerLength);
  const fields = readFields(head.toString('latin1', 0, index.headerLength));
  const to = recipients.map(({ address }) => address);
  const { secretLink } = index;
  const way = { sender, fields, key, now: clock(), hostname, authors, answers, secretLink };
  const where = await destinations(store, to, way);
  const asked = new Map(recipients.map((one) => [formatAddress(one.address), one]));
  const wish = <T extends { recipient: string }>(row: T) => {
    const { notify = '', orcpt = '' } = asked.get(row.recipient) ?? {};
    return { ...row, notify, orcpt };
  };
  return {
    ...where,
    elsewhere: where.elsewhere.map(wish),
    wishes: where.local.map((recipient) => wish({ recipient })),
  };
}

async function submission(
  desk: JmapDesk,
  { access, email, envelope, trace }: Sending,
  message: MessageToSend,
  more: Octets & Pick<Submission, 'here' | 'local' | 'elsewhere' | 'onward' | 'wishes'>,
): Promise<Submission> {
  const { account } = access;
  const { asked, sender, recipients } = envelope;
  const { index, authors } = message;
  const { budgets = [], ...whose } = await desk.senderOf(account);
  const from = sender === undefined ? '' : formatAddress(sender);
  const to = recipients.map(({ address }) => formatAddress(address));
  const all = sender === undefined ? [] : [sender];
  const asker = { ...whose, ...askerOf(access), sender: from, recipients: to, size: index.size };
  const mail: Submission = {
    ...more,
    ...whose,
    trace,
    account,
    budgets,
    sender: from,
    smtputf8: asked.smtputf8 || message.utf8Header || [...all, ...recipients.map((one) => one.address)].some(needsUtf8),
    eightBit: message.eightBit,
    ret: asked.ret,
    envid: asked.envid,
    requireTls: asked.requireTls,
    signAs: message.authorDomains,
    authors: authors.kind === 'authors' ? [...authors.from, ...authors.others] : [],
    as: { kind: 'account', account },
    spares: false,
    guard: null,
    ...(await aboutMessage(desk.store, await desk.policy(asker), {
      ...more,
      ...asker,
      account,
      index,
      now: desk.clock(),
      door: 'jmap',
      draft: email.id,
    })),
    sendAt: asked.sendAt,
    hold: desk.hold,
  };
  const report = await successOf(desk, envelope, mail, index);
  return report === undefined ? mail : { ...mail, report };
}

/** To who asked to be told of success of recipients here; those elsewhere are told of when they have it. RFC 3461 5.2.6. */
async function successOf(
  { store, hostname, clock, hold, traceId }: JmapDesk,
  { sender: to, asked }: Envelope,
  { local = [], wishes = [], data, file }: Submission,
  { headerLength }: MessageIndex,
): Promise<Outgoing | undefined> {
  // Of what waits for its time nobody knows yet who will have it.
  if (to === undefined || asked.sendAt !== null) return undefined;
  const reached = await reachedHere(store, wishes, local);
  if (reached.length === 0) return undefined;
  const head = file === null ? Buffer.from(data ?? []) : await store.files.read(file.file, 0, headerLength);
  const header = head.subarray(0, headerLength);
  const { envid } = asked;
  return reportOfSuccess(store, { to, envid, header, reached, hostname, now: clock(), trace: traceId(), hold });
}
