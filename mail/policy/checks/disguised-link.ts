import { type Finding, sanitizeWord } from '../finding.ts';
import { domainOf, hasSameOwner } from '../registrable.ts';
import type { Sample, SampleLink } from '../sample.ts';
import { authenticatedDomain } from '../author-proof.ts';
import { linkHost } from './hosts.ts';

/** Finds links that show another host than they lead to. */
export function checkDisguisedLinks(sample: Sample): readonly Finding[] {
  const author = domainOf(sample.author);
  const found = sample.links.map(findDisguise).find((one) => one !== undefined && !hasSameOwner(one.leads, author));
  if (found === undefined) return [];
  // Newsletters use click trackers on third-party hosts; an authenticated author is accountable for them.
  const isTracked = authenticatedDomain(sample) !== '' && sample.fields.some(({ name }) => name === 'list-unsubscribe');
  const why = `A link shows ${sanitizeWord(found.shows)} and leads to ${sanitizeWord(found.leads)}`;
  return [
    isTracked
      ? { rule: 'disguised-link', score: 0.5, why }
      : { rule: 'disguised-link', score: 2, why, flag: 'phishing' },
  ];
}

const HOST_IN_TEXT = /^(?:https?:\/\/)?((?:[\p{L}\p{N}_-]{1,63}\.){1,10}\p{L}{2,24})(?=[/?#:\s]|$)/iu;

/** Returns the shown and the actual host of a link if they differ. */
export function findDisguise({ url, text }: SampleLink): { shows: string; leads: string } | undefined {
  const shown = HOST_IN_TEXT.exec(text.slice(0, 300))?.[1];
  const leads = linkHost(url);
  if (shown === undefined || leads === '' || FILE_NAME.test(shown)) return undefined;
  const shows = linkHost(`http://${shown}`);
  return shows === '' || hasSameOwner(shows, leads) ? undefined : { shows, leads };
}

/** File names are no hosts, though some extensions are top-level domains. */
const FILE_NAME = /\.(?:pdf|docx?|xlsx?|pptx?|zip|png|jpe?g|gif|txt|csv|html?|js|py|sh|md|rs|mov|app)$/i;
