import type { DmarcDecision } from '../auth/dmarc-decision.ts';
import { type Filing, createFiling } from '../delivery/filing.ts';
import type { AccountFilterResult, FilterResult } from '../filter/mail-filter.ts';
import { firstContactDelay } from '../policy/first-contact.ts';
import { decideVerdict, type FilterDecision } from '../policy/verdict.ts';
import type { EnvelopeRecipient, SmtpRefusal } from './needs.ts';
import type { ForwardingFacts } from './recipient-plan.ts';
import { smtpRefusal } from './refusal.ts';

/** Facts about a message from outside on which its disposition depends. */
export interface DispositionInput {
  verdict: FilterResult;
  recipients: readonly EnvelopeRecipient[];
  /** Host name of this server. */
  authserv: string;
  /** False: what would be refused goes to Junk. */
  refuses: boolean;
  targets?: ForwardTargets;
}

/** The decision on one message from outside for all its recipients. */
export interface MessageDisposition {
  /** Set when no recipient accepts the message. */
  refusal: SmtpRefusal | undefined;
  /** Junk is not forwarded. */
  forwarding: Pick<ForwardingFacts, 'staying' | 'junk'>;
  /** Accounts that keep a refused message in Rejects. */
  rejectsFor: readonly number[];
  /** Delay of the reply, ms. */
  delayMs: number;
}

/** Accounts to which the forwards of a message lead, as far as known before the message is checked. */
export interface ForwardTargets {
  accounts: readonly number[];
  /** Accounts reached from recipients without a mailbox: they decide for these recipients. */
  instead: readonly number[];
  /** A copy for such a recipient leaves without passing any account. */
  bare: boolean;
}

export const NO_TARGETS: ForwardTargets = { accounts: [], instead: [], bare: false };

/** The decision for one account; undefined: for mail that is only forwarded. */
interface AccountDecision {
  account: number | undefined;
  decision: FilterDecision;
}

/** Decides for all recipients at once: SMTP has one reply for all of them at the end of DATA. */
export function decideDisposition(input: DispositionInput): MessageDisposition {
  const { verdict, refuses, targets = NO_TARGETS } = input;
  const decisions = recipientDecisions(input);
  const forwarded = targets.accounts.map((account) => ({ account, decision: decisionFor(verdict, account) }));
  const staying = new Set<number>();
  for (const { account, decision } of [...decisions, ...forwarded]) {
    if (account !== undefined && decision.kind !== 'inbox') staying.add(account);
  }
  const vouched = verdict.authentication.dmarc.aligned;
  const known = verdict.accounts.length > 0 && verdict.accounts.every((one) => one.known);
  const score = Math.max(0, ...decisions.map((one) => one.decision.score));
  return {
    refusal: refuses ? refusalOf(decisions) : undefined,
    forwarding: { staying, junk: decideVerdict(verdict).kind !== 'inbox' },
    rejectsFor: rejectingAccounts(verdict, decisions),
    delayMs: firstContactDelay({ known, vouched, score }),
  };
}

/** Decides how a message is filed for one account. */
export function filingFor(
  { verdict, authserv }: DispositionInput,
  { refusal }: MessageDisposition,
  account: number,
  isServerReport = false,
): Filing {
  const { authentication, senders } = verdict;
  const decision = decisionFor(verdict, account, isServerReport);
  // A message that another recipient accepted cannot be refused for one: that would lose it.
  const filed = refusal === undefined && decision.kind !== 'inbox' ? { ...decision, kind: 'junk' as const } : decision;
  const known = accountOf(verdict, account)?.known ?? false;
  return createFiling(filed, { authserv, authentication, known, senders });
}

/** True if the author cannot be verified now for that account. */
export function isDeferredFor({ verdict, refuses }: DispositionInput, account: number): boolean {
  return refuses && decisionFor(verdict, account).kind === 'later';
}

function accountOf({ accounts }: FilterResult, account: number): AccountFilterResult | undefined {
  return accounts.find((one) => one.account === account);
}

function decisionFor(verdict: FilterResult, account: number, isServerReport = false): FilterDecision {
  const own = accountOf(verdict, account);
  const author = own?.author ?? verdict.author;
  return decideVerdict({
    author: isServerReport ? markUnverified(author) : author,
    findings: [...verdict.findings, ...(own?.findings ?? [])],
    ...(own?.rule && { rule: own.rule }),
  });
}

/** Reports of servers are mostly unsigned: a failed DMARC check is shown and scores nothing. */
function markUnverified({ kind, why }: DmarcDecision): DmarcDecision {
  return { kind: kind === 'pass' ? 'pass' : 'mark', why };
}

const ACCEPTED_REPORT: FilterDecision = { kind: 'inbox', score: 0, findings: [] };

function recipientDecisions({ verdict, recipients, targets = NO_TARGETS }: DispositionInput): AccountDecision[] {
  const decisions: AccountDecision[] = [];
  for (const { route } of recipients) {
    if (route.kind === 'here' || route.kind === 'forward') {
      for (const account of route.kind === 'here' ? route.accounts : targets.instead) {
        decisions.push({ account, decision: decisionFor(verdict, account) });
      }
      if (route.kind === 'forward' && targets.bare)
        decisions.push({ account: undefined, decision: decideVerdict(verdict) });
    } else decisions.push({ account: undefined, decision: ACCEPTED_REPORT }); // accepted even where mailboxes refuse
  }
  return decisions;
}

/** Refuses a message only when all recipients refuse it. Junk that is only forwarded has no Junk mailbox to go to. */
function refusalOf(decisions: readonly AccountDecision[]): SmtpRefusal | undefined {
  const later = decisions.find(({ decision }) => decision.kind === 'later');
  if (later !== undefined && 'because' in later.decision) {
    return smtpRefusal(451, later.decision.status ?? '4.7.1', `${sentence(later.decision.because)}; try again later`);
  }
  const filtered = decisions.filter(({ decision }) => decision !== ACCEPTED_REPORT);
  const [first] = filtered;
  // A report is accepted for the sender of the copy even where mailboxes refuse it, but a copy that would be forwarded
  // is no report (RFC 3834 2).
  const isReport = filtered.length < decisions.length && filtered.every(({ account }) => account !== undefined);
  if (first === undefined || isReport || !filtered.every(isRefused)) return undefined;
  const { decision } = first;
  if (!('because' in decision))
    return smtpRefusal(550, '5.7.1', 'Rejected as spam: the recipient address only forwards mail');
  return smtpRefusal(550, decision.status ?? '5.7.1', sentence(decision.because));
}

function isRefused({ account, decision: { kind } }: AccountDecision): boolean {
  return kind === 'refuse' || (account === undefined && kind === 'junk');
}

/** Rules of the DNS lists. */
const DNS_LISTS: readonly string[] = ['address-list', 'host-list'];

/** Rejects keeps no mail from blocked senders and blocklisted networks, and no malware. */
function rejectingAccounts(verdict: FilterResult, decisions: readonly AccountDecision[]): number[] {
  const rejecting: number[] = [];
  for (const { account, decision } of decisions) {
    if (account === undefined || decision.kind !== 'refuse') continue;
    const isBarred = decision.findings.some(
      ({ rule, refuse: refused, flag }) =>
        rule === 'block-list' || (refused === true && (flag === 'malware' || DNS_LISTS.includes(rule))),
    );
    if (!isBarred && accountOf(verdict, account)?.policy.rejects === true) rejecting.push(account);
  }
  return rejecting;
}

function sentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
