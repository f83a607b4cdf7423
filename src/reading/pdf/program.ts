import { getDocumentProxy, getResolvedPDFJS } from 'unpdf';
import type { PdfAnswer } from './read-pdf.ts';
import { seenGlyphs } from './seen-glyphs.ts';
import { type Run, seenText } from './seen-text.ts';

// A program of its own, started by read-pdf.ts for one document: octets on standard input, JSON on standard output. The
// document is a stranger's, so nothing here is shared with the server, and whoever started it ends it.
const MOST_PAGES = 500;
/** Characters. */
const MOST_TEXT = 1_000_000;

const pieces: Buffer[] = [];
for await (const piece of process.stdin) pieces.push(piece as Buffer);
const answer = await textOf(Buffer.concat(pieces));
process.stdout.write(JSON.stringify(answer), () => process.exit(0));

async function textOf(octets: Buffer): Promise<PdfAnswer> {
  const pictured = /\/Subtype\s*\/Image\b/.test(octets.toString('latin1'));
  // The fonts of the machine are none of its business, and pictures are not drawn.
  const options = { useSystemFonts: false, verbosity: 0, maxImageSize: 0 } as const;
  const document = await getDocumentProxy(new Uint8Array(octets), options);
  const last = Math.min(document.numPages, MOST_PAGES);
  let [text, hidden] = ['', ''];
  let page = 0;
  while (page < last && text.length < MOST_TEXT && hidden.length < MOST_TEXT) {
    page += 1;
    const read = await pageText(await document.getPage(page), pictured);
    text += `${page === 1 ? '' : '\n\n'}${read.seen}`;
    hidden += read.hidden;
  }
  return {
    text: text.slice(0, MOST_TEXT),
    hidden: hidden.slice(0, MOST_TEXT),
    pages: document.numPages,
    cut: page < document.numPages || text.length > MOST_TEXT || hidden.length > MOST_TEXT,
  };
}

type Page = Awaited<ReturnType<Awaited<ReturnType<typeof getDocumentProxy>>['getPage']>>;

async function pageText(page: Page, pictured: boolean): Promise<ReturnType<typeof seenText>> {
  const { items } = await page.getTextContent();
  const runs = items.flatMap((item): Run[] => ('str' in item ? [item] : []));
  const { OPS } = await getResolvedPDFJS();
  const read = seenText(runs, seenGlyphs(await page.getOperatorList(), OPS), page.view);
  // A scanned page has its words without ink upon the picture of them: they are what a person sees.
  if (pictured && read.seen.trim() === '') return { seen: runs.map(lineOf).join(''), hidden: '' };
  return read;
}

function lineOf({ str, hasEOL }: Run): string {
  return hasEOL ? `${str}\n` : str;
}
