import { authenticate } from '../auth/authenticate.ts';
import type { Authentication } from '../auth/authentication.ts';
import { decideDmarc, trustedSealer, vouchingSealer } from '../auth/dmarc-decision.ts';
import type { KnownPolicies } from '../auth/known-policies.ts';
import type { Resolver } from '../dns/lookup.ts';
import { MAIL_POLICY } from '../policy/mail-policy.ts';
import { checkContent, checkFamiliar, checkPeer } from '../policy/checks/index.ts';
import type { DnsLists } from '../policy/lists/dns-lists.ts';
import { acquaintance } from '../policy/reputation.ts';
import type { Finding } from '../policy/finding.ts';
import type { Sample } from '../policy/sample.ts';
import { senderKeys } from '../policy/sender-keys.ts';
import { vouchedDomain } from '../policy/vouched.ts';
import { wordsFinding } from '../policy/words/words-finding.ts';
import { wordsOf } from '../policy/words/words-of.ts';
import { reputationOf } from '../store/sender.ts';
import { knownWords } from '../store/words.ts';
import { type Apart, takenApart } from '../policy/sample-of.ts';
import type { Query } from '../store/engine/types.ts';
import { ofBytes, ofFile } from '../store/search/message-octets.ts';
import { recipientFacts } from '../store/recipient-facts.ts';
import type { AccountJudgement, Arriving, Judge, Judgement } from './judging.ts';
import { octetsOf } from './octets.ts';
import type { Scan } from './scanners/scanners.ts';
import { senderRulings } from './sender-ruling.ts';

export interface JudgeOptions {
  /** Null: the network is not asked, and nobody has proved anything. */
  resolver: Resolver | null;
  /** Our own name. */
  hostname: string;
  /** Programs beside this one that look at messages. */
  scan: Scan;
  /** What author domains are known to ask for. */
  policies: KnownPolicies;
  /** Domains whose ARC seal is believed. */
  trustedSealers: readonly string[];
  /** Lists of addresses and hosts that others keep. */
  lists: Pick<DnsLists, 'findings'>;
  /** Reads what is remembered of accounts. */
  read<I, O>(what: Query<I, O>, input: I): Promise<O>;
  /** Is told of each message that its checks go on after what they waited for. */
  alive?: () => void;
}

/** Makes the judge of incoming mail, which holds nothing but what it was given. */
export function createJudge(options: JudgeOptions): Judge {
  return { judge: (mail) => judge(options, mail) };
}

async function judge(options: JudgeOptions, mail: Arriving): Promise<Judgement> {
  // At the same time as the name servers are asked.
  const scanning = mail.checks ? scanned(options, mail) : [];
  // Many messages that come, or stop waiting for silent name servers, at once are each worked on before any timer runs.
  options.alive?.();
  const apart = mail.checks ? await readApart(mail) : undefined;
  // The lists are asked beside the rest: one time is for all questions, and name servers of the sender's own that keep
  // silent must not use up the time in which its address is looked for.
  const [authentication, listed] = await Promise.all([authenticated(options, mail), listings(options, mail, apart)]);
  options.alive?.();
  const sealer = trustedSealer(authentication, options.trustedSealers);
  const author = decideDmarc(authentication, { handling: MAIL_POLICY.dmarc, sealer });
  const nothing = { authentication, author, findings: [], senders: [], accounts: [] };
  if (apart === undefined) return nothing;
  const { peer, sender } = mail;
  const vouching = vouchingSealer(authentication, options.trustedSealers);
  const sample: Sample = {
    ...apart,
    peer: { ...peer, name: authentication.iprev.name },
    sender,
    ...(vouching !== undefined && { sealer: vouching }),
    authentication,
  };
  const senders = senderKeys(sample);
  let read: readonly number[] | undefined;
  // Only for who has taught something: it is the dearest of all that is done with a message.
  const words = (): readonly number[] => (read ??= wordsOf(sample));
  const findings = [...generalFindings(options, sample, mail.now), ...listed, ...(await scanning)];
  const accounts: AccountJudgement[] = [];
  const said = senderRulings(options, sample);
  for (const account of mail.accounts) {
    const own = await ownJudgement(options, { sample, sealer, senders, words, now: mail.now }, account);
    if (own === undefined) continue;
    const { findings: more, ...rule } = await said(account);
    accounts.push({ ...own, ...rule, findings: [...own.findings, ...more] });
  }
  return { authentication, author, findings, senders, accounts };
}

/** What holds for whomever it is to. */
function generalFindings({ resolver, hostname }: JudgeOptions, sample: Sample, now: number): Finding[] {
  const here = { hostname, now };
  const shown = checkContent(sample, here);
  return resolver === null ? shown : [...shown, ...checkPeer(sample, here)];
}

async function listings(
  { resolver, lists }: JudgeOptions,
  { peer, sender }: Arriving,
  apart: Apart | undefined,
): Promise<Finding[]> {
  return resolver === null || apart === undefined ? [] : lists.findings({ ...apart, peer, sender });
}

function scanned({ scan }: JudgeOptions, mail: Arriving): Promise<readonly Finding[]> {
  const { trace, peer, sender, recipients, octets, size } = mail;
  return scan({ trace, peer: { ...peer, name: '' }, sender, recipients, size, octets: () => octetsOf(octets) });
}

async function readApart({ octets, headerLength, parts }: Arriving): Promise<Apart> {
  using message = typeof octets === 'string' ? ofFile(octets) : ofBytes(octets);
  // Awaited here, or the message would be closed before it is read.
  return await takenApart({ read: (start, length) => message.read(start, length), headerLength, parts });
}

function authenticated({ resolver, policies }: JudgeOptions, mail: Arriving): Promise<Authentication> {
  const { octets, peer, sender, now } = mail;
  return authenticate({ ...peer, sender, chunks: () => octetsOf(octets) }, { resolver, policies, now });
}

/** What every recipient is asked about. */
interface Subject {
  sample: Sample;
  /** Trusted, and saw it pass. */
  sealer: string | undefined;
  senders: readonly string[];
  words: () => readonly number[];
  now: number;
}

async function ownJudgement(
  options: JudgeOptions,
  { sample, sealer, senders, words, now }: Subject,
  account: number,
): Promise<AccountJudgement | undefined> {
  const facts = await options.read(recipientFacts, { account });
  if (facts === undefined) return undefined;
  const { policy } = facts;
  const past = await options.read(reputationOf, { account, keys: senders, author: sample.author, now });
  const vouched = vouchedDomain(sample) !== '';
  const { findings, known } = acquaintance(past, { author: sample.author, vouched }, now);
  const taught = facts.taught ? wordsFinding(await options.read(knownWords, { account, words: words() })) : [];
  return {
    account,
    policy,
    author: decideDmarc(sample.authentication, { handling: policy.dmarc, sealer }),
    findings: [...taught, ...findings, ...checkFamiliar(sample, facts)],
    known,
  };
}
