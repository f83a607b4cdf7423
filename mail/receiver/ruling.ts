import type { DmarcDecision } from '../auth/dmarc-decision.ts';
import { filingOf, type Filing } from '../delivery/filing.ts';
import type { AccountJudgement, Judgement } from '../judge/judging.ts';
import { firstContactDelay } from '../policy/first-contact.ts';
import { decide, type Decision } from '../policy/verdict.ts';
import type { Recipient, Refusal } from './needs.ts';
import type { Reach } from './incoming-message.ts';
import { refuse } from './refusal.ts';

/** What becomes of one message from outside. */
export interface Ruling {
  /** Nobody takes it. */
  refusal: Refusal | undefined;
  /** How far it goes: what is junk is not passed on. */
  reach: Reach;
  /** Accounts that can look at it for some days although it is refused. */
  kept: readonly number[];
  /** `ofServer`: its author could not prove itself, which is told and counts nothing. */
  filing(account: number, as?: { ofServer: boolean }): Filing;
  /** Its author cannot be checked for that account now, and by and by it may be. */
  waits(account: number): boolean;
  /** How long its answer is held back, ms. */
  delay: number;
}

/** Where the forwards of a message end, as far as that is known before it is judged. */
export interface Ends {
  /** Accounts that it meets on the way. */
  accounts: readonly number[];
  /** Of these, those of recipients that are no mailboxes: theirs is the word on them. */
  instead: readonly number[];
  /** For such recipients a copy leaves that no account had a say in. */
  bare: boolean;
}

export const NO_FORWARDS: Ends = { accounts: [], instead: [], bare: false };

/**
 * Decides for all recipients of a message at once: at its end SMTP has one answer for all of them. Where nothing
 * `refuses` the worst is Junk.
 */
export function ruling(
  judgement: Judgement,
  recipients: readonly Recipient[],
  { authserv, refuses, ends = NO_FORWARDS }: { authserv: string; refuses: boolean; ends?: Ends },
): Ruling {
  const { authentication, author, findings, senders } = judgement;
  const known = new Map(judgement.accounts.map((one) => [one.account, one]));
  const decision = (one: AccountJudgement | undefined, as = (found: DmarcDecision): DmarcDecision => found): Decision =>
    decide({
      author: as(one?.author ?? author),
      findings: [...findings, ...(one?.findings ?? [])],
      ...(one?.rule && { rule: one.rule }),
    });
  const ownOf = (account: number): Named => ({ account, decision: decision(known.get(account)) });
  const elsewhere = { account: undefined, decision: decision(undefined) };
  const named = recipients.flatMap(({ route: { kind, ...where } }): Named[] => {
    if (kind === 'forward') return [...ends.instead.map(ownOf), ...(ends.bare ? [elsewhere] : [])];
    // A report is taken for who waits for it, whatever mailboxes think of it; where it is filed is theirs to say.
    if (kind !== 'here' || !('accounts' in where)) return [{ account: undefined, decision: TAKEN }];
    return where.accounts.map(ownOf);
  });
  const all = [...named, ...ends.accounts.map(ownOf)];
  const refusal = refuses ? refusalOf(named) : undefined;
  return {
    refusal,
    reach: {
      staying: new Set(
        all.flatMap(({ account, decision: { kind } }) => (account === undefined || kind === 'inbox' ? [] : [account])),
      ),
      junk: elsewhere.decision.kind !== 'inbox',
    },
    kept: named.flatMap(({ account, decision: one }) =>
      account !== undefined && one.kind === 'refuse' && isKept(one, known.get(account)) ? [account] : [],
    ),
    delay: firstContactDelay({
      known: judgement.accounts.length > 0 && judgement.accounts.every((one) => one.known),
      vouched: authentication.dmarc.aligned,
      score: Math.max(0, ...named.map((one) => one.decision.score)),
    }),
    waits: (account) => refuses && decision(known.get(account)).kind === 'later',
    filing(account, { ofServer = false } = { ofServer: false }) {
      const own = known.get(account);
      const made = decision(own, ofServer ? onlyTold : undefined);
      // It was taken for others, so it cannot be refused for one: that would be to lose it.
      const filed = refusal === undefined && made.kind !== 'inbox' ? { ...made, kind: 'junk' as const } : made;
      return filingOf(filed, { authserv, authentication, known: own?.known ?? false, senders });
    },
  };
}

function onlyTold({ kind, why }: DmarcDecision): DmarcDecision {
  return { kind: kind === 'pass' ? 'pass' : 'mark', why };
}

const TAKEN: Decision = { kind: 'inbox', score: 0, findings: [] };

interface Named {
  /** Undefined: its mail is only passed on. */
  account: number | undefined;
  decision: Decision;
}

/** A message for several is refused only when all of them refuse it. Who only forwards has no place for what is junk. */
function refusalOf(named: readonly Named[]): Refusal | undefined {
  const later = named.find(({ decision }) => decision.kind === 'later');
  if (later !== undefined && 'because' in later.decision) {
    return refuse(451, later.decision.status ?? '4.7.1', `${sentence(later.decision.because)}; try again later`);
  }
  const asked = named.filter(({ decision }) => decision !== TAKEN);
  const [first] = asked;
  // What mailboxes refuse is taken for who waits for a report; but what would leave again is none (RFC 3834 2).
  const isReport = asked.length < named.length && asked.every(({ account }) => account !== undefined);
  if (first === undefined || isReport || !asked.every(isRefused)) return undefined;
  const { decision } = first;
  if (!('because' in decision)) return refuse(550, '5.7.1', 'It looks like junk, and the address only passes mail on');
  return refuse(550, decision.status ?? '5.7.1', sentence(decision.because));
}

function isRefused({ account, decision: { kind } }: Named): boolean {
  return kind === 'refuse' || (account === undefined && kind === 'junk');
}

/** Rules of the DNS lists. */
const DNS_LISTS: readonly string[] = ['address-list', 'host-list'];

/** Of whom the account blocks or a list that refuses has, and of malware, there is nothing to look at. */
function isKept({ findings }: Decision, one: AccountJudgement | undefined): boolean {
  if (one?.policy.rejects !== true) return false;
  return !findings.some(
    ({ rule, refuse: fraud, flag }) =>
      rule === 'block-list' || (fraud === true && (flag === 'malware' || DNS_LISTS.includes(rule))),
  );
}

function sentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
