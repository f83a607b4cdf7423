import { type Finding, plainWord } from '../finding.ts';
import { domainOf, sameOwner } from '../registrable.ts';
import type { Sample, SampleLink } from '../sample.ts';
import { vouchedDomain } from '../vouched.ts';
import { hostOf } from './hosts.ts';

/** A link that shows the name of another host than it leads to. */
export function disguisedLink(sample: Sample): readonly Finding[] {
  const author = domainOf(sample.author);
  const found = sample.links.map(disguise).find((one) => one !== undefined && !sameOwner(one.leads, author));
  if (found === undefined) return [];
  // Senders of newsletters count clicks on hosts of others; there the author can be held to it.
  const counted = vouchedDomain(sample) !== '' && sample.fields.some(({ name }) => name === 'list-unsubscribe');
  const why = `A link shows ${plainWord(found.shows)} and leads to ${plainWord(found.leads)}`;
  return [
    counted ? { rule: 'disguised-link', score: 0.5, why } : { rule: 'disguised-link', score: 2, why, flag: 'phishing' },
  ];
}

const NAME = /^(?:https?:\/\/)?((?:[\p{L}\p{N}_-]{1,63}\.){1,10}\p{L}{2,24})(?=[/?#:\s]|$)/iu;

/** The host that a link shows and the other one that it leads to; undefined: it shows none, or its own. */
export function disguise({ url, text }: SampleLink): { shows: string; leads: string } | undefined {
  const shown = NAME.exec(text.slice(0, 300))?.[1];
  const leads = hostOf(url);
  if (shown === undefined || leads === '' || FILE.test(shown)) return undefined;
  const shows = hostOf(`http://${shown}`);
  return shows === '' || sameOwner(shows, leads) ? undefined : { shows, leads };
}

/** Names of files are no hosts, though some of their endings are top-level domains. */
const FILE = /\.(?:pdf|docx?|xlsx?|pptx?|zip|png|jpe?g|gif|txt|csv|html?|js|py|sh|md|rs|mov|app)$/i;
