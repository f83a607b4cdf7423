import type { SampleLink } from '../sample.ts';

const MOST_LINKS = 50;
const LONGEST = 40;

/** Where links lead and what they look like, host by host. */
export function linkWords(links: readonly SampleLink[]): string[] {
  const some = links.slice(0, MOST_LINKS);
  return [`links ${links.length === 0 ? 0 : Math.ceil(Math.log2(links.length + 1))}`, ...some.flatMap(ofLink)];
}

function ofLink({ url, text }: SampleLink): string[] {
  if (!URL.canParse(url)) return ['link broken'];
  const { protocol, hostname, port, pathname, search, username } = new URL(url);
  if (protocol !== 'https:' && protocol !== 'http:') return [`link ${protocol.slice(0, LONGEST)}`];
  const labels = hostname.split('.');
  const path = pathname.split('/').filter((one) => one !== '');
  return [
    `link ${protocol}`,
    `host ${hostname.slice(-LONGEST)}`,
    `site ${labels.slice(-2).join('.').slice(-LONGEST)}`,
    `top ${/^[\d.[\]:a-f]+$/.test(hostname) ? 'address' : (labels.at(-1) ?? '').slice(0, LONGEST)}`,
    `labels ${Math.min(labels.length, 6)}`,
    `path ${Math.min(path.length, 5)} ${search === '' ? '' : '?'}`,
    ...path.slice(0, 2).map((one) => `dir ${one.toLowerCase().replace(/\d+/g, '0').slice(0, LONGEST)}`),
    ...(port === '' ? [] : ['link port']),
    ...(username === '' ? [] : ['link user']),
    ...(/^(?:https?:\/\/|www\.)/i.test(text) && !text.includes(hostname) ? ['link elsewhere'] : []),
  ];
}
