import { factsIn } from '../../../src/reading/facts.ts';
import { displayHost, LinkRegistry } from '../../../src/reading/link-registry.ts';
import { readTexts, splitQuotes } from '../../../src/reading/read-texts.ts';
import { renderHtml, withoutComments } from '../../../src/reading/render-html.ts';
import { replaceLinks } from '../../../src/reading/replace-links.ts';
import { preformattedHtml, sanitizeHtml } from '../../../src/reading/sanitize-html.ts';
import { firstOwnLine } from '../../../src/reading/stop-reply.ts';
import { harmlessLine } from '../../../src/reading/summary.ts';
import { cutPiece } from '../../../src/reading/text-piece.ts';
import { findCode } from '../../../src/waiting/codes/code-finder.ts';
import { findConfirmationLink } from '../../../src/waiting/codes/link-finder.ts';
import { encodedHtml } from '../encoded.ts';
import { type CostGroup, type CostRow, costs, driven } from './row.ts';

const LINKS = {
  links: [{ handle: 'link:1', host: 'a.example', registrableDomain: 'a.example', flags: [] }],
  urls: ['https://a.example/verify'],
};

function facts(text: string): unknown {
  return factsIn(text, []);
}

const reading: CostGroup = {
  at: 'src/reading',
  input: 'text or HTML of a message',
  bound: '512 KiB of a text, 1 MiB of a message',
  thread: 'documents',
  most: 512 * 1024,
};

const TEXTS = costs(reading, {
  'readTexts: markdown': (text) => readTexts({ html: [encodedHtml(text)], text: [], form: 'markdown', links: true }),
  'readTexts: HTML': (text) => readTexts({ html: [encodedHtml(text)], text: [], form: 'html', links: true }),
  renderHtml: (text) => renderHtml(text, 'markdown', new LinkRegistry()),
  sanitizeHtml: (text) => sanitizeHtml(text, new LinkRegistry()),
  preformattedHtml,
  withoutComments: driven(withoutComments, { worst: ['<!', '<!-', '<!-->', '<![', '<?'] }),
  replaceLinks: driven((text) => replaceLinks(text, new LinkRegistry()), {
    worst: ['](', '](a', '[a]:', '](http://a.b', 'http://a.b(', '//a.', 'mailto:', '](a ', '\n> [a]: '],
  }),
  LinkRegistry: (text) => {
    const book = new LinkRegistry();
    for (const url of text.split(' ')) book.add(`https://${url}`, text.slice(0, 300));
    return book.links;
  },
  displayHost,
  splitQuotes: driven(splitQuotes, { worst: ['On a wrote:\n', '> a\n', '\n', 'On ', '-- Original Message --'] }),
  firstOwnLine: driven(firstOwnLine, { bound: '256 Ki characters', worst: ['a:\n\n', 'a:\n', ':\n\n\n\n', '>\na:\n'] }),
  harmlessLine: (text) => harmlessLine(text, 300),
  cutPiece: (text) => cutPiece(text, 0, { chars: 60_000, wire: 60_000 }),
});

const FACTS = costs(
  { ...reading, bound: '60,000 characters, 30 facts', thread: 'main' },
  {
    factsIn: driven(facts, {
      worst: [
        'order ',
        'order a',
        'code ',
        'code a',
        'EUR 1,000',
        '$1',
        '1.000.000',
        '1 January 2026',
        'PIN\n',
        'reference- ',
      ],
    }),
    'factsIn: calendar': driven((text) => factsIn('', [text]), {
      input: 'calendar of a message',
      bound: '5 calendars of 60,000 characters, 30 events',
      worst: [
        'BEGIN:VEVENT\n',
        'BEGIN:VEVENT \n \n',
        'DTSTART;',
        'DTSTART:20260101 ',
        'STATUS:CONFIRMED\n ',
        'BEGIN:VEVENT\nDTSTART;a',
      ],
    }),
    findCode: driven((text) => findCode(text, text), {
      at: 'src/waiting/codes',
      bound: '20,000 characters, 200 candidates',
      worst: ['code 123456 ', '1 2 ', 'A1-', 'codecode', 'код', '[link:1 '],
    }),
    findConfirmationLink: driven((text) => findConfirmationLink(`${text}[link:1 a.example]`, LINKS, 'a.example'), {
      at: 'src/waiting/codes',
      bound: '100 links',
    }),
  },
);

/** Functions that render messages for agents and people. */
export const READING_COSTS: readonly CostRow[] = [...TEXTS, ...FACTS];
