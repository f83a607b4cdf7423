import { type Finding, plainWord } from '../finding.ts';
import { registrable } from '../registrable.ts';
import type { Sample } from '../sample.ts';
import { hostOf, hostsOf, isLiteral, webAddress } from './hosts.ts';

const SHORTENERS: ReadonlySet<string> = new Set(
  (
    'bit.ly bl.ink buff.ly clck.ru cutt.ly goo.gl is.gd lnkd.in ow.ly qrco.de rb.gy rebrand.ly s.id shorturl.at ' +
    't.ly t.me tiny.cc tinyurl.com tr.im u.to v.gd vk.cc wa.link'
  ).split(' '),
);

/** Links that nobody writes who has nothing to hide, each kind once. */
export function oddLinks({ links }: Sample): readonly Finding[] {
  const kinds = new Map<string, Finding>();
  for (const { url } of links) {
    const finding = oddity(url);
    if (finding !== undefined && !kinds.has(finding.rule)) kinds.set(finding.rule, finding);
  }
  const short = hostsOf(links, 200).find(isShortener);
  if (short !== undefined) {
    kinds.set('short-link', {
      rule: 'short-link',
      score: 0.5,
      why: `A link hides behind ${plainWord(short)} where it leads`,
    });
  }
  return [...kinds.values()];
}

/** Hides where its links lead. */
export const isShortener = (host: string): boolean => SHORTENERS.has(registrable(host));

/** What is odd about a link whoever wrote it, as a finding. */
export function oddity(url: string): Finding | undefined {
  if (/^data:text\/html|^data:[^,]{0,100}svg/i.test(url))
    return { rule: 'data-link', score: 2, why: 'A link holds the page that it leads to', flag: 'phishing' };
  if (/^(?:javascript|vbscript):/i.test(url))
    return { rule: 'script-link', score: 2, why: 'A link runs a program', flag: 'phishing' };
  const host = hostOf(url);
  if (host === '') return undefined;
  if (isLiteral(host))
    return { rule: 'address-link', score: 2, why: `A link leads to the bare address ${plainWord(host)}` };
  if (webAddress(url)?.username !== '')
    return {
      rule: 'login-link',
      score: 2,
      why: `A link puts another name in front of ${plainWord(host)}`,
      flag: 'phishing',
    };
  return undefined;
}
