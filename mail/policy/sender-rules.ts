import { type Address, addressKey, parseAddress, parseDomain, withoutDetail } from '../message/address.ts';
import { plainWord } from './finding.ts';

/** Somebody's word about who may write to them, or to whom they may. */
export interface SenderRule {
  kind: 'allow' | 'block';
  /** An address as it is looked up, a domain, `*.domain` for all domains under it, or a network. */
  pattern: string;
  /** Of one mailbox; null: of its whole organization. */
  account: number | null;
}

/** Who is judged by rules. */
export interface Writer {
  /** The one author in From. */
  author: Address | undefined;
  /** The author's domain vouches for it: DMARC, or an aligned SPF or DKIM, passed. */
  aligned: boolean;
  /** Envelope sender; undefined for the null reverse-path. */
  sender: Address | undefined;
  /** Networks of the peer, as `networksOf` names them. */
  networks: readonly string[];
}

/** Rules about a name: all of them, those about a domain or an address, or those about an address. */
export type Named = 'any' | 'domain' | 'address';

/** What the rules say of somebody; `unproven`: allowed, if it were shown that it is them. */
export interface Ruling {
  kind: 'allow' | 'block' | 'unproven';
  rule: SenderRule;
  /** A sentence without its full stop, for both sides: who sends a blocked message hears it too. */
  why: string;
}

/** Every pattern that could be about somebody: by these rules are looked up. */
export function patternsOf({ author, sender, networks }: Writer): string[] {
  return [...new Set([...namesOf(author), ...namesOf(sender), ...networks])];
}

/** The patterns that an address fits: itself, without its `+detail`, its domain, and `*.` before each parent. */
export function namesOf(address: Address | undefined): string[] {
  if (address === undefined) return [];
  const plain = withoutDetail(address);
  const labels = address.domain.split('.');
  const parents = labels.slice(1).map((_, i) => `*.${labels.slice(i + 1).join('.')}`);
  return [addressKey(address), ...(plain === undefined ? [] : [addressKey(plain)]), address.domain, ...parents];
}

/**
 * What rules say: the most exact one has the word, then a mailbox before its organization, then block before allow. A
 * name is easily written: whoever is allowed by one has to be proved.
 */
export function rulingOn(rules: readonly SenderRule[], writer: Writer): Ruling | undefined {
  const { networks } = writer;
  const author = new Set(namesOf(writer.author));
  const either = new Set([...author, ...namesOf(writer.sender)]);
  const about = rules
    .filter(({ kind, pattern }) => (kind === 'block' ? either : author).has(pattern) || networks.includes(pattern))
    .toSorted(byWeight);
  const holds = (rule: SenderRule): boolean =>
    rule.kind === 'block' || writer.aligned || networks.includes(rule.pattern);
  const first = about.find(holds);
  if (first !== undefined) return { kind: first.kind, rule: first, why: sentence(first) };
  const [unproven] = about;
  if (unproven === undefined) return undefined;
  const why = `${sentence(unproven)}, but nothing proves that this message is from there`;
  return { kind: 'unproven', rule: unproven, why };
}

/**
 * The block by envelope sender or network, where no rule that is more exact allows these. The author, who is not known yet, may
 * still be allowed by a rule about a name as exact as {@link outweighing} says.
 */
export function blockedAtOnce(
  rules: readonly SenderRule[],
  { sender, networks }: Pick<Writer, 'sender' | 'networks'>,
): SenderRule | undefined {
  const ruling = rulingOn(rules, { author: sender, aligned: true, sender, networks });
  return ruling?.kind === 'block' ? ruling.rule : undefined;
}

/** About what an allowing rule has to be, at the least, to come before this one, which blocks. */
export function outweighing({ pattern }: SenderRule): Named {
  if (pattern.includes('@')) return 'address';
  return pattern.startsWith('*.') || pattern.includes('/') ? 'any' : 'domain';
}

function byWeight(a: SenderRule, b: SenderRule): number {
  return (
    exactness(b.pattern) - exactness(a.pattern) ||
    Number(a.account === null) - Number(b.account === null) ||
    Number(a.kind === 'allow') - Number(b.kind === 'allow')
  );
}

/** An address before a domain, that before those above it, all of these before networks; more bits before less. */
function exactness(pattern: string): number {
  const slash = pattern.indexOf('/');
  if (pattern.includes('@')) return 2000 + Number(pattern.includes('+'));
  if (slash >= 0) return Number(pattern.slice(slash + 1));
  return pattern.startsWith('*.') ? 500 + pattern.split('.').length : 1000;
}

function sentence({ kind, pattern, account }: SenderRule): string {
  return `Mail from ${plainWord(pattern)} is ${kind}ed by the ${account === null ? 'organization' : 'mailbox'}`;
}

/** The one spelling of an address, a domain or `*.domain`; undefined for anything else. */
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
