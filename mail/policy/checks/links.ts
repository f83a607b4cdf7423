import { type Finding, sanitizeWord } from '../finding.ts';
import { registrableDomain } from '../registrable.ts';
import type { Sample } from '../sample.ts';
import { linkHost, linkHosts, isAddressLiteral, parseWebUrl } from './hosts.ts';

const SHORTENERS: ReadonlySet<string> = new Set(
  (
    'bit.ly bl.ink buff.ly clck.ru cutt.ly goo.gl is.gd lnkd.in ow.ly qrco.de rb.gy rebrand.ly s.id shorturl.at ' +
    't.ly t.me tiny.cc tinyurl.com tr.im u.to v.gd vk.cc wa.link'
  ).split(' '),
);

/** Finds suspicious links: data URLs, scripts, IP addresses, user names and shorteners. One finding per kind. */
export function checkLinks({ links }: Sample): readonly Finding[] {
  const kinds = new Map<string, Finding>();
  for (const { url } of links) {
    const finding = findLinkOddity(url);
    if (finding !== undefined && !kinds.has(finding.rule)) kinds.set(finding.rule, finding);
  }
  const short = linkHosts(links, 200).find(isShortener);
  if (short !== undefined) {
    kinds.set('short-link', {
      rule: 'short-link',
      score: 0.5,
      why: `A link is shortened by ${sanitizeWord(short)}, which hides its target`,
    });
  }
  return [...kinds.values()];
}

/** True for link shorteners. */
export const isShortener = (host: string): boolean => SHORTENERS.has(registrableDomain(host));

/** Finds a suspicious form of a link, independent of the sender. */
export function findLinkOddity(url: string): Finding | undefined {
  if (/^data:text\/html|^data:[^,]{0,100}svg/i.test(url))
    return { rule: 'data-link', score: 2, why: 'A link contains a whole page (data URL)', flag: 'phishing' };
  if (/^(?:javascript|vbscript):/i.test(url))
    return { rule: 'script-link', score: 2, why: 'A link runs a script', flag: 'phishing' };
  const host = linkHost(url);
  if (host === '') return undefined;
  if (isAddressLiteral(host))
    return { rule: 'address-link', score: 2, why: `A link leads to the IP address ${sanitizeWord(host)}` };
  if (parseWebUrl(url)?.username !== '')
    return {
      rule: 'login-link',
      score: 2,
      why: `A link to ${sanitizeWord(host)} has a user name that looks like another host`,
      flag: 'phishing',
    };
  return undefined;
}
