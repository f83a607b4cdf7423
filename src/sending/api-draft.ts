import type { AreaContext } from '../core/area-context.ts';
import type { Identity } from '../../mail/delivery/identity.ts';
import type { SendLimits, SubmissionDraft } from '../../mail/delivery/submission-draft.ts';
import { addressKey, formatAddress, textKey } from '../../mail/message/address.ts';
import { accountByKey } from '../../mail/store/account/account.ts';
import type { IdempotencyGuard } from '../../mail/store/queue/idempotency.ts';
import { answeredLetter, answerKey } from '../digest/reply-address.ts';
import { refuse } from '../core/refusal.ts';
import { allowanceOf, programBudgets } from './allowance.ts';
import type { ApiSender } from './key-auth.ts';
import type { OutboundEmail } from './outbound.ts';
import type { SendRequest } from './send-request.ts';

/** A requested recipient that is excluded because of a suppression. */
export type ExcludedRecipient = SendRequest['leftOut'][number];

/** Returns the identity that a sender may write as. */
export function identityOf({ organization: tenant, account, allowedDomains: domains }: ApiSender): Identity {
  return account === null ? { kind: 'tenant', tenant, domains } : { kind: 'account', account };
}

/** Returns the limits of a key or token. */
export async function limitsOf(
  { store, settings }: Pick<AreaContext, 'store' | 'settings'>,
  sender: Pick<ApiSender, 'organization' | 'credential' | 'account'>,
): Promise<Required<SendLimits>> {
  const tenant = sender.organization;
  const allowance = await allowanceOf(store, settings, tenant);
  return { tenant, allowance, budgets: programBudgets(settings, sender) };
}

/** Converts a ready message into a submission draft. */
export async function apiDraft(
  world: AreaContext,
  sender: ApiSender,
  {
    mail,
    guard,
    limits,
    leftOut,
  }: {
    mail: OutboundEmail;
    guard: IdempotencyGuard | null;
    limits: SendLimits;
    leftOut: readonly ExcludedRecipient[];
  },
): Promise<SubmissionDraft> {
  const { account, credential, agent = null } = sender;
  const { from, composed, trace, sendAt, requireTls, answers, findQuotedContent, draft } = mail;
  const { data, index, fields, sha256, authors, eightBit, utf8Header } = composed;
  const out = new Set(leftOut.map((one) => textKey(one.address)));
  const recipients = mail.recipients.filter(({ address }) => !out.has(addressKey(address)));
  refuseNoticeAnswers(world, recipients);
  return {
    trace,
    protocol: 'api',
    submitter: { account, credential, agent, identity: identityOf(sender), limits },
    sender: from,
    recipients,
    message: {
      index,
      octets: { data, file: null },
      fields,
      sha256,
      authors: [...authors.from, ...authors.others],
      signAs: [from.domain],
      eightBit,
      smtputf8: utf8Header,
    },
    relatedMessages: { answers, forwards: findQuotedContent, draft, limits: sender.limits ?? null },
    ret: 'HDRS',
    envid: '',
    requireTls,
    sendAt,
    skipsSuppressed: true,
    guard,
    copyFor: mail.saveToSent ? (account ?? (await mailboxAt(world, sender, mail))) : null,
  };
}

/** Finds the mailbox at the address of a program. */
async function mailboxAt(
  { store }: AreaContext,
  { organization: tenant }: ApiSender,
  { from }: OutboundEmail,
): Promise<number | null> {
  return (await store.read(accountByKey, { tenant, key: addressKey(from) }))?.id ?? null;
}

/**
 * Refuses replies to the box's daily digests: API mail can be held or scheduled, so a STOP would count as delivered
 * without being processed.
 */
function refuseNoticeAnswers({ settings, secrets }: AreaContext, recipients: OutboundEmail['recipients']): void {
  const key = answerKey(secrets);
  const answer = recipients.find(({ address }) => answeredLetter(address, settings.hostname, key) !== undefined);
  if (answer === undefined) return;
  const address = formatAddress(answer.address);
  const why = 'it accepts replies to a daily digest only from a mail program';
  refuse('recipient_blocked', `${address} cannot be written to: ${why}.`, { recipients: [address] });
}
