import { authenticateMail } from '../auth/authenticate.ts';
import { decideDmarc, trustedSealer, vouchingSealer } from '../auth/dmarc-decision.ts';
import type { DmarcPolicyCache } from '../auth/dmarc-policy-cache.ts';
import type { Resolver } from '../dns/lookup.ts';
import { MAIL_POLICY } from '../policy/mail-policy.ts';
import { checkContent, checkForRecipient, checkClient } from '../policy/checks/index.ts';
import type { DnsLists } from '../policy/lists/dns-lists.ts';
import { evaluateReputation } from '../policy/reputation.ts';
import type { Sample } from '../policy/sample.ts';
import { senderKeys } from '../policy/sender-keys.ts';
import { authenticatedDomain } from '../policy/author-proof.ts';
import { scoreWords } from '../policy/words/score-words.ts';
import { messageWords } from '../policy/words/message-words.ts';
import { reputationOf } from '../store/filter/sender.ts';
import { wordWeights } from '../store/filter/words.ts';
import { type SampleContent, extractContent } from '../policy/build-sample.ts';
import type { Query } from '../store/engine/types.ts';
import { ofBytes, ofPath } from '../store/search/message-octets.ts';
import { recipientFacts } from '../store/filter/recipient-facts.ts';
import type { AccountFilterResult, InboundMail, FilterResult } from './mail-filter.ts';
import { octetsOf } from './octets.ts';
import type { ScanAll } from './scanners/scanners.ts';
import { createSenderRuleLookup } from './sender-rule-lookup.ts';

/** Checks by DNS. */
export interface DnsChecks {
  resolver: Resolver;
  /** Cache of DMARC policies. */
  policies: DmarcPolicyCache;
  /** DNS lists of addresses and hosts. */
  lists: Pick<DnsLists, 'findings'>;
}

export interface FilterOptions {
  /** Null: no DNS lookups, so no author is authenticated. */
  dns: DnsChecks | null;
  /** Our own name. */
  hostname: string;
  /** External scanners, if any. */
  scan: ScanAll | undefined;
  /** Domains whose ARC seal is trusted. */
  trustedSealers: readonly string[];
  /** Reads the rules, reputation and words of accounts. */
  read<I, O>(what: Query<I, O>, input: I): Promise<O>;
  /** Reports progress of a message after each wait. */
  heartbeat?: () => void;
}

/** Filters one inbound message. */
export async function filterMessage(options: FilterOptions, mail: InboundMail): Promise<FilterResult> {
  const { dns, hostname, scan, trustedSealers } = options;
  const { octets, peer, sender, now } = mail;
  // In parallel with the DNS lookups.
  const scanning = mail.checks ? scan?.({ ...mail, peer: { ...peer, name: '' }, octets: () => octetsOf(octets) }) : [];
  // Many messages may arrive, or end their DNS waits, at once; each is processed before any timer runs.
  options.heartbeat?.();
  const content = mail.checks ? await readContent(mail) : undefined;
  // DNS lists are queried in parallel: slow name servers of the sender must not use up the time to look up its address.
  const [authentication, listed = []] = await Promise.all([
    authenticateMail({ ...peer, sender, chunks: () => octetsOf(octets) }, { resolver: null, ...dns, now }),
    content && dns?.lists.findings({ ...content, peer, sender }),
  ]);
  options.heartbeat?.();
  const sealer = trustedSealer(authentication, trustedSealers);
  const author = decideDmarc(authentication, { handling: MAIL_POLICY.dmarc, sealer });
  if (content === undefined) return { authentication, author, findings: [], senders: [], accounts: [] };
  const vouching = vouchingSealer(authentication, trustedSealers);
  const sample: Sample = {
    ...content,
    peer: { ...peer, name: authentication.iprev.name },
    sender,
    ...(vouching !== undefined && { sealer: vouching }),
    authentication,
  };
  const findings = checkContent(sample, { hostname, now });
  if (dns !== null) findings.push(...checkClient(sample, { hostname, now }));
  findings.push(...listed, ...((await scanning) ?? []));
  const senders = senderKeys(sample);
  const accounts = await filterForAccounts(options, mail, { sample, sealer, senders, now });
  return { authentication, author, findings, senders, accounts };
}

async function readContent({ octets, headerLength, parts }: InboundMail): Promise<SampleContent> {
  using message = typeof octets === 'string' ? ofPath(octets) : ofBytes(octets);
  // Awaited here: otherwise the message would be closed before it is read.
  return await extractContent({ read: (start, length) => message.read(start, length), headerLength, parts });
}

async function filterForAccounts(
  options: FilterOptions,
  { accounts }: InboundMail,
  input: Omit<RecipientInput, 'words'>,
): Promise<AccountFilterResult[]> {
  let cachedWords: readonly number[] | undefined;
  // Only for accounts with training samples: the most expensive step.
  const words = (): readonly number[] => (cachedWords ??= messageWords(input.sample));
  const findRule = createSenderRuleLookup(options, input.sample);
  const results: AccountFilterResult[] = [];
  for (const account of accounts) {
    const own = await filterForAccount(options, { ...input, words }, account);
    if (own === undefined) continue;
    const { findings, ...rule } = await findRule(account);
    results.push({ ...own, ...rule, findings: [...own.findings, ...findings] });
  }
  return results;
}

/** Input of the checks of each recipient. */
interface RecipientInput {
  sample: Sample;
  /** Trusted ARC sealer that saw DMARC pass. */
  sealer: string | undefined;
  senders: readonly string[];
  words: () => readonly number[];
  now: number;
}

async function filterForAccount(
  options: FilterOptions,
  { sample, sealer, senders, words, now }: RecipientInput,
  account: number,
): Promise<AccountFilterResult | undefined> {
  const facts = await options.read(recipientFacts, { account });
  if (facts === undefined) return undefined;
  const { policy } = facts;
  const reputation = await options.read(reputationOf, { account, keys: senders, author: sample.author, now });
  const authenticated = authenticatedDomain(sample) !== '';
  const { findings, known } = evaluateReputation(reputation, { author: sample.author, authenticated }, now);
  const wordFindings = facts.taught ? scoreWords(await options.read(wordWeights, { account, words: words() })) : [];
  return {
    account,
    policy,
    author: decideDmarc(sample.authentication, { handling: policy.dmarc, sealer }),
    findings: [...wordFindings, ...findings, ...checkForRecipient(sample, facts)],
    known,
  };
}
