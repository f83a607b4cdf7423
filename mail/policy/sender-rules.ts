import { type Address, addressKey, parseAddress, parseDomain, withoutDetail } from '../message/address.ts';
import { sanitizeWord } from './finding.ts';

/** An allow or block rule for senders or recipients. */
export interface SenderRule {
  kind: 'allow' | 'block';
  /** An address key, a domain, `*.domain` for all its subdomains, or a network. */
  pattern: string;
  /** Mailbox that owns the rule; null: the whole organization. */
  account: number | null;
}

/** Sender of a message, as rules see it. */
export interface SenderIdentity {
  /** The one author in From. */
  author: Address | undefined;
  /** The author is authenticated: DMARC, or an aligned SPF or DKIM, passed. */
  aligned: boolean;
  /** Envelope sender; undefined for the null reverse-path. */
  sender: Address | undefined;
  /** Networks of the peer, from `networksOf`. */
  networks: readonly string[];
}

/** Scope of name rules: all, those for domains and addresses, or those for addresses. */
export type NameScope = 'any' | 'domain' | 'address';

/** Rule that matches a sender; `unproven`: an allow rule, but the sender is not authenticated. */
export interface RuleMatch {
  kind: 'allow' | 'block' | 'unproven';
  rule: SenderRule;
  /** Reason: a sentence without its full stop. The sender of a blocked message receives it too. */
  why: string;
}

/** Lists all patterns that could match a sender, for the lookup of rules. */
export function senderPatterns({ author, sender, networks }: SenderIdentity): string[] {
  return [...new Set([...namePatterns(author), ...namePatterns(sender), ...networks])];
}

/** Lists the patterns that match an address: itself, without its `+detail`, its domain, and `*.` of each parent domain. */
export function namePatterns(address: Address | undefined): string[] {
  if (address === undefined) return [];
  const plain = withoutDetail(address);
  const labels = address.domain.split('.');
  const parents = labels.slice(1).map((_, i) => `*.${labels.slice(i + 1).join('.')}`);
  return [addressKey(address), ...(plain === undefined ? [] : [addressKey(plain)]), address.domain, ...parents];
}

/**
 * Finds the rule that applies: the most specific pattern wins, then mailbox before organization, then block before allow.
 * An allow rule for a name needs an authenticated sender, since From is easily forged.
 */
export function matchSenderRules(rules: readonly SenderRule[], writer: SenderIdentity): RuleMatch | undefined {
  const { networks } = writer;
  const author = new Set(namePatterns(writer.author));
  const either = new Set([...author, ...namePatterns(writer.sender)]);
  const matching = rules
    .filter(({ kind, pattern }) => (kind === 'block' ? either : author).has(pattern) || networks.includes(pattern))
    .toSorted(byPrecedence);
  const applies = (rule: SenderRule): boolean =>
    rule.kind === 'block' || writer.aligned || networks.includes(rule.pattern);
  const first = matching.find(applies);
  if (first !== undefined) return { kind: first.kind, rule: first, why: describeRule(first) };
  const [unproven] = matching;
  if (unproven === undefined) return undefined;
  const why = `${describeRule(unproven)}, but this message is not authenticated`;
  return { kind: 'unproven', rule: unproven, why };
}

/**
 * The block by envelope sender or network, where no rule that is more exact allows these. The author, who is not known yet, may
 * still be allowed by a rule matching a name as exact as {@link overridingScope} says.
 */
export function findEnvelopeBlock(
  rules: readonly SenderRule[],
  { sender, networks }: Pick<SenderIdentity, 'sender' | 'networks'>,
): SenderRule | undefined {
  const ruling = matchSenderRules(rules, { author: sender, aligned: true, sender, networks });
  return ruling?.kind === 'block' ? ruling.rule : undefined;
}

/** Returns the scope of allow rules that override this block rule. */
export function overridingScope({ pattern }: SenderRule): NameScope {
  if (pattern.includes('@')) return 'address';
  return pattern.startsWith('*.') || pattern.includes('/') ? 'any' : 'domain';
}

function byPrecedence(a: SenderRule, b: SenderRule): number {
  return (
    specificity(b.pattern) - specificity(a.pattern) ||
    Number(a.account === null) - Number(b.account === null) ||
    Number(a.kind === 'allow') - Number(b.kind === 'allow')
  );
}

/** Orders patterns: address, domain, parent domains, then networks by prefix length. */
function specificity(pattern: string): number {
  const slash = pattern.indexOf('/');
  if (pattern.includes('@')) return 2000 + Number(pattern.includes('+'));
  if (slash >= 0) return Number(pattern.slice(slash + 1));
  return pattern.startsWith('*.') ? 500 + pattern.split('.').length : 1000;
}

function describeRule({ kind, pattern, account }: SenderRule): string {
  return `Mail from ${sanitizeWord(pattern)} is ${kind}ed by the ${account === null ? 'organization' : 'mailbox'}`;
}

/** Normalizes an address, a domain or `*.domain`; undefined for anything else. */
export function namePattern(text: string): string | undefined {
  if (text.includes('@')) {
    const address = parseAddress(text);
    return address === undefined || address.domain.startsWith('[') ? undefined : addressKey(address);
  }
  const star = text.startsWith('*.');
  const domain = parseDomain(star ? text.slice(2) : text);
  if (domain === undefined || domain.startsWith('[')) return undefined;
  return star ? `*.${domain}` : domain;
}
