import { type Link, urlOf } from '../../reading/link-book.ts';
import { registrable } from '../../../mail/policy/registrable.ts';
import type { Confidence } from './code-in.ts';
import { LINK_PATH, LINK_WORD, OTHER_LINK } from './words.ts';

export interface FoundLink {
  link: Link;
  confidence: Confidence;
}

/** Those of a message, in the order of their handles, with the addresses behind them. */
interface Links {
  links: readonly Link[];
  urls: readonly string[];
}

/** Characters before a link that tell what it is for. */
const BEFORE = 160;
const MOST_LINKS = 100;

/** The link that a message asks to press, of those that lead to the domain or to what belongs to it. */
export function linkIn(text: string, from: Links, domain: string): FoundLink | undefined {
  const owner = registrable(domain);
  const scored = from.links
    .slice(0, MOST_LINKS)
    .filter(({ registrableDomain, host }) => registrableDomain === owner || host === domain)
    .map((link) => ({ link, score: scoreOf(text, link, urlOf(from, link.handle) ?? '') }))
    .filter(({ score }) => score >= 3)
    .toSorted((a, b) => b.score - a.score);
  const [first, second] = scored;
  if (first === undefined) return undefined;
  const isAlone = second === undefined || second.score <= first.score - 2;
  return { link: first.link, confidence: first.score >= 6 && isAlone ? 'high' : first.score >= 5 ? 'medium' : 'low' };
}

function scoreOf(text: string, { handle, flags }: Link, url: string): number {
  const parsed = URL.parse(url);
  if (parsed === null || !/^https?:$/.test(parsed.protocol) || flags.includes('disguised-link')) return 0;
  const at = text.indexOf(`[${handle} `);
  const near = at < 0 ? '' : text.slice(Math.max(0, at - BEFORE), at);
  const label = near.slice(near.trimEnd().lastIndexOf('\n') + 1);
  const rest = `${parsed.pathname}${parsed.search}${parsed.hash}`;
  if (OTHER_LINK.test(label) || OTHER_LINK.test(rest)) return 0;
  let score = 0;
  if (LINK_WORD.test(label)) score += 4;
  else if (LINK_WORD.test(near)) score += 2;
  if (LINK_PATH.test(rest)) score += 3;
  if (/[\w-]{16,}/.test(rest)) score += 2;
  return rest.length <= 1 ? 0 : score;
}
