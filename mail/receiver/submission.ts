import { reasonText } from '../agents/gate/reasons.ts';
import type { Destinations } from '../delivery/destinations.ts';
import type { SubmissionDraft } from '../delivery/submission-draft.ts';
import { SubmissionHeader } from '../delivery/submission-header.ts';
import { submitMessage, type UnreachableRecipients } from '../delivery/submit-message.ts';
import { submit, type SubmissionResult } from '../delivery/submission-commit.ts';
import type { Login } from '../login/types.ts';
import { formatAddress } from '../message/address.ts';
import { MessageFactsReader } from '../message/message-facts.ts';
import { MessageIndexer } from '../message/indexer.ts';
import { allowanceRefusal } from './allowance-refusal.ts';
import type { ReceiverContext } from './context.ts';
import { MessageSpool } from './message-spool.ts';
import type { EnvelopeRecipient, MessageEnvelope, MessageSink, SmtpRefusal } from './needs.ts';
import { ACCEPTED, type ReceivedSubmission, type ReceiveResult, rejected } from './received-message.ts';
import { countForwards, planRecipients, quotaRefusal, type RecipientPlan, takeReplies } from './recipient-plan.ts';
import { pausedText, smtpRefusal } from './refusal.ts';

/** Opens the spool for one message from a logged-in client. */
export function openSubmission(context: ReceiverContext, envelope: MessageEnvelope, login: Login): MessageSink {
  const messageIdDomain = envelope.sender?.domain ?? login.address.domain;
  const { hostname: authserv } = context;
  const header = new SubmissionHeader({ now: context.clock(), messageIdDomain, id: envelope.id, authserv });
  const isRelayedOnly = envelope.recipients.every(({ route }) => route.kind === 'elsewhere');
  return new MessageSpool(context, envelope, {
    header,
    reader: isRelayedOnly ? new MessageFactsReader() : new MessageIndexer(context.store.secretLinks),
    refuseHeader: () => refuseAuthors(header),
    receive: (message) => receiveSubmission(context, { ...message, login, ...authorsOf(header) }),
  });
}

/** Receives a message from a logged-in client: plans its local deliveries and submits it like every outgoing message. */
export async function receiveSubmission(context: ReceiverContext, message: ReceivedSubmission): Promise<ReceiveResult> {
  const full = await quotaRefusal(context, message);
  if (full !== undefined) return rejected(full);
  const secretLink = 'envelope' in message.index ? message.index.secretLink : undefined;
  const plan = await planRecipients(context, message, { authors: message.signAs, secretLink });
  if ('code' in plan) return rejected(plan);
  if (await takeReplies(context, message)) return { refusal: undefined, stored: false };
  const draft = draftSubmission(message, plan);
  const result = await submitMessage(context, draft, (mail) => context.store.write(submit, mail));
  if (result.kind === 'taken') countForwards(context, plan);
  const refusal = submissionRefusal(result);
  return refusal === undefined ? ACCEPTED : rejected(refusal);
}

/** Refuses a message without exactly one From field. RFC 5322 3.6. The gate checks whether the author may send. */
function refuseAuthors({ authors }: SubmissionHeader): SmtpRefusal | undefined {
  if (authors.kind === 'refused') return smtpRefusal(550, '5.6.0', authors.why);
  if (authors.fromFields === 1) return undefined;
  return smtpRefusal(550, '5.6.0', 'Rejected: a message needs exactly one From field (RFC 5322 3.6)');
}

function authorsOf({ authors, authorDomains }: SubmissionHeader): Pick<ReceivedSubmission, 'authors' | 'signAs'> {
  const named = authors.kind === 'authors' ? [...authors.from, ...authors.others] : [];
  return { authors: named, signAs: authorDomains };
}

/** The credential that the gate checks: a token, or a password. */
function submitterOf({ account, token, credential }: Login): SubmissionDraft['submitter'] {
  if (token !== undefined) return { account, credential: token.actor, login: null };
  return { account, credential: null, login: credential };
}

function draftSubmission(message: ReceivedSubmission, plan: RecipientPlan): SubmissionDraft {
  const { envelope, index, blob, login, authors, signAs } = message;
  const { id, sender, recipients, smtputf8, body, ret = '', envid = '', requireTls = false } = envelope;
  return {
    trace: id,
    protocol: 'smtp',
    submitter: submitterOf(login),
    sender,
    recipients: recipients.map(({ address, dsn, route: { kind } }) => ({
      address,
      notify: kind === 'elsewhere' || kind === 'here' || kind === 'forward' ? (dsn.notify?.join(',') ?? '') : '',
      orcpt: dsn.orcpt ?? '',
    })),
    destinations: destinationsOf(recipients, plan),
    message: { index, octets: blob, authors, signAs, eightBit: body === '8BITMIME', smtputf8 },
    ret,
    envid,
    requireTls,
    sendAt: null,
    skipsSuppressed: false,
  };
}

/** Splits recipients by the routes that RCPT found. */
function destinationsOf(recipients: readonly EnvelopeRecipient[], plan: RecipientPlan): Destinations {
  const local = new Set<string>();
  const elsewhere = new Map<string, Destinations['elsewhere'][number]>();
  for (const { address, route } of recipients) {
    const recipient = formatAddress(address); // with its case: only its own server interprets that, RFC 5321 2.4
    if (route.kind !== 'elsewhere') local.add(recipient);
    else elsewhere.set(recipient, { recipient, domain: address.domain, notify: '', orcpt: '' });
  }
  const { deliveries, onward } = plan;
  return { here: [...deliveries], onward: [...onward], local: [...local], elsewhere: [...elsewhere.values()] };
}

function submissionRefusal(result: SubmissionResult | UnreachableRecipients): SmtpRefusal | undefined {
  switch (result.kind) {
    case 'taken':
    case 'waits':
      return undefined;
    case 'over':
      return allowanceRefusal(result);
    case 'foreign':
      if (result.why === 'paused') return smtpRefusal(550, '5.7.1', pausedText(result.domain));
      return smtpRefusal(550, '5.7.1', `You may not send as ${result.address}: it is not one of your addresses`);
    case 'refused':
      return smtpRefusal(550, '5.7.1', result.because);
    case 'agent-stop':
      if (result.error === 'budget_exceeded') return smtpRefusal(452, '4.7.1', reasonText(result));
      return smtpRefusal(550, '5.7.1', reasonText(result));
    case 'suppressed':
    case 'repeated':
    case 'changed':
    case 'unreachable':
      throw new Error(`an SMTP submission has the result ${result.kind}, which only API calls can have`);
  }
}
