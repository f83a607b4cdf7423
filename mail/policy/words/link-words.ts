import type { SampleLink } from '../sample.ts';

const MAX_LINKS = 50;
const MAX_WORD = 40;

/** Extracts words from link targets. */
export function linkWords(links: readonly SampleLink[]): string[] {
  const some = links.slice(0, MAX_LINKS);
  return [`links ${links.length === 0 ? 0 : Math.ceil(Math.log2(links.length + 1))}`, ...some.flatMap(wordsOfLink)];
}

function wordsOfLink({ url, text }: SampleLink): string[] {
  if (!URL.canParse(url)) return ['link broken'];
  const { protocol, hostname, port, pathname, search, username } = new URL(url);
  if (protocol !== 'https:' && protocol !== 'http:') return [`link ${protocol.slice(0, MAX_WORD)}`];
  const labels = hostname.split('.');
  const path = pathname.split('/').filter((one) => one !== '');
  return [
    `link ${protocol}`,
    `host ${hostname.slice(-MAX_WORD)}`,
    `site ${labels.slice(-2).join('.').slice(-MAX_WORD)}`,
    `top ${/^[\d.[\]:a-f]+$/.test(hostname) ? 'address' : (labels.at(-1) ?? '').slice(0, MAX_WORD)}`,
    `labels ${Math.min(labels.length, 6)}`,
    `path ${Math.min(path.length, 5)} ${search === '' ? '' : '?'}`,
    ...path.slice(0, 2).map((one) => `dir ${one.toLowerCase().replace(/\d+/g, '0').slice(0, MAX_WORD)}`),
    ...(port === '' ? [] : ['link port']),
    ...(username === '' ? [] : ['link user']),
    ...(/^(?:https?:\/\/|www\.)/i.test(text) && !text.includes(hostname) ? ['link elsewhere'] : []),
  ];
}
