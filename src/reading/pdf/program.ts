import { getDocumentProxy } from 'unpdf';
import type { PdfAnswer } from './read-pdf.ts';

// A program of its own, started by read-pdf.ts for one document: octets on standard input, JSON on standard output. The
// document is a stranger's, so nothing here is shared with the server, and whoever started it ends it.
const MOST_PAGES = 500;
/** Characters. */
const MOST_TEXT = 1_000_000;

const pieces: Buffer[] = [];
for await (const piece of process.stdin) pieces.push(piece as Buffer);
const answer = await textOf(new Uint8Array(Buffer.concat(pieces)));
process.stdout.write(JSON.stringify(answer), () => process.exit(0));

async function textOf(octets: Uint8Array): Promise<PdfAnswer> {
  // The fonts of the machine are none of its business.
  const document = await getDocumentProxy(octets, { useSystemFonts: false, verbosity: 0 });
  const last = Math.min(document.numPages, MOST_PAGES);
  let text = '';
  let page = 0;
  while (page < last && text.length < MOST_TEXT) {
    page += 1;
    const { items } = await (await document.getPage(page)).getTextContent();
    const words = items.map((item) => ('str' in item ? `${item.str}${item.hasEOL ? '\n' : ''}` : ''));
    text += `${page === 1 ? '' : '\n\n'}${words.join('')}`;
  }
  return {
    text: text.slice(0, MOST_TEXT),
    pages: document.numPages,
    cut: page < document.numPages || text.length > MOST_TEXT,
  };
}
