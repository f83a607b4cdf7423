import { authenticate } from '../auth/authenticate.ts';
import type { Authentication } from '../auth/authentication.ts';
import { decideDmarc } from '../auth/dmarc-decision.ts';
import type { KnownPolicies } from '../auth/known-policies.ts';
import type { Resolver } from '../dns/lookup.ts';
import { MAIL_POLICY } from '../policy/mail-policy.ts';
import { checkContent, checkFamiliar, checkPeer } from '../policy/checks/index.ts';
import type { Sample } from '../policy/sample.ts';
import { sampleOf } from '../policy/sample-of.ts';
import { wordsFinding } from '../policy/words/words-finding.ts';
import { wordsOf } from '../policy/words/words-of.ts';
import type { Query } from '../store/engine/types.ts';
import { recipientFacts } from '../store/recipient-facts.ts';
import { knownWords } from '../store/words.ts';
import type { AccountJudgement, Arriving, Judge, Judgement } from './judging.ts';
import { openMessage } from './message-reader.ts';
import { octetsOf } from './octets.ts';

export interface JudgeOptions {
  /** Null: the network is not asked, and nobody has proved anything. */
  resolver: Resolver | null;
  /** Our own name. */
  hostname: string;
  /** What author domains are known to ask for. */
  policies: KnownPolicies;
  /** Domains whose ARC seal is believed. */
  trustedSealers: readonly string[];
  /** Reads what is remembered of accounts. */
  read<I, O>(what: Query<I, O>, input: I): Promise<O>;
}

/** Makes the judge of incoming mail, which holds nothing but what it was given. */
export function createJudge(options: JudgeOptions): Judge {
  return { judge: (mail) => judge(options, mail) };
}

async function judge(options: JudgeOptions, mail: Arriving): Promise<Judgement> {
  const authentication = await authenticated(options, mail);
  const { trustedSealers } = options;
  const author = decideDmarc(authentication, { handling: MAIL_POLICY.dmarc, trustedSealers });
  if (!mail.checks) return { authentication, author, findings: [], accounts: [] };
  const sample = await sampled(mail, authentication);
  const here = { hostname: options.hostname, now: mail.now };
  const findings = [...checkContent(sample, here), ...(options.resolver === null ? [] : checkPeer(sample, here))];
  const words = wordsOf(sample);
  const accounts: AccountJudgement[] = [];
  for (const account of mail.accounts) {
    const own = await ownJudgement(options, sample, words, account);
    if (own !== undefined) accounts.push(own);
  }
  return { authentication, author, findings, accounts };
}

async function sampled(mail: Arriving, authentication: Authentication): Promise<Sample> {
  using message = openMessage(mail.octets);
  const { headerLength, parts, peer, sender } = mail;
  const arrival = { peer: { ...peer, name: authentication.iprev.name }, sender };
  return sampleOf({ read: message.read, headerLength, parts }, arrival, authentication);
}

function authenticated({ resolver, policies }: JudgeOptions, mail: Arriving): Promise<Authentication> {
  const { octets, peer, sender, now } = mail;
  return authenticate({ ...peer, sender, chunks: () => octetsOf(octets) }, { resolver, policies, now });
}

async function ownJudgement(
  options: JudgeOptions,
  sample: Sample,
  words: readonly number[],
  account: number,
): Promise<AccountJudgement | undefined> {
  const facts = await options.read(recipientFacts, { account });
  if (facts === undefined) return undefined;
  const { policy } = facts;
  const author = decideDmarc(sample.authentication, {
    handling: policy.dmarc,
    trustedSealers: options.trustedSealers,
  });
  const own = wordsFinding(await options.read(knownWords, { account, words }));
  return { account, policy, author, findings: [...checkFamiliar(sample, facts), ...own], known: false };
}
