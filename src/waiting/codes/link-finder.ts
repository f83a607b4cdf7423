import { urlOf } from '../../reading/link-registry.ts';
import { registrableDomain } from '../../../mail/policy/registrable.ts';
import type { Confidence } from './code-finder.ts';
import { LINK_PATH, LINK_WORD, OTHER_LINK } from './words.ts';
import type { Link } from '../../core/text-tasks.ts';

export interface FoundLink {
  link: Link;
  confidence: Confidence;
}

/** Links of a message in the order of their handles, and their URLs. */
interface Links {
  links: readonly Link[];
  urls: readonly string[];
}

/** Characters before a link that describe it. */
const LABEL_CHARACTERS = 160;
const MAX_LINKS = 100;

/** Finds the confirmation link of a message, among links to the domain or its registrable domain. */
export function findConfirmationLink(text: string, from: Links, domain: string): FoundLink | undefined {
  const owner = registrableDomain(domain);
  const scored = from.links
    .slice(0, MAX_LINKS)
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
  const near = at < 0 ? '' : text.slice(Math.max(0, at - LABEL_CHARACTERS), at);
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
