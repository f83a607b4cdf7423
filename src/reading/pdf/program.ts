import { getDocumentProxy, getResolvedPDFJS } from 'unpdf';
import { visibleGlyphs } from './visible-glyphs.ts';
import { type TextRun, visiblePageText } from './visible-text.ts';
import type { PdfText } from '../../core/text-tasks.ts';

// Child process started by read-pdf.ts for one untrusted document: octets on standard input, JSON on standard output.
// Shares nothing with the server; the parent kills it.
const MAX_PAGES = 500;
/** Characters. */
const MAX_TEXT_CHARS = 1_000_000;

const pieces: Buffer[] = [];
for await (const piece of process.stdin) pieces.push(piece as Buffer);
const answer = await textOf(Buffer.concat(pieces));
process.stdout.write(JSON.stringify(answer), () => process.exit(0));

async function textOf(octets: Buffer): Promise<PdfText> {
  const pictured = /\/Subtype\s*\/Image\b/.test(octets.toString('latin1'));
  // No system fonts, and images are not rendered.
  const options = { useSystemFonts: false, verbosity: 0, maxImageSize: 0 } as const;
  const document = await getDocumentProxy(new Uint8Array(octets), options);
  const last = Math.min(document.numPages, MAX_PAGES);
  let [text, hidden] = ['', ''];
  let page = 0;
  while (page < last && text.length < MAX_TEXT_CHARS && hidden.length < MAX_TEXT_CHARS) {
    page += 1;
    const read = await pageText(await document.getPage(page), pictured);
    text += `${page === 1 ? '' : '\n\n'}${read.seen}`;
    hidden += read.hidden;
  }
  return {
    text: text.slice(0, MAX_TEXT_CHARS),
    hidden: hidden.slice(0, MAX_TEXT_CHARS),
    pages: document.numPages,
    cut: page < document.numPages || text.length > MAX_TEXT_CHARS || hidden.length > MAX_TEXT_CHARS,
  };
}

type Page = Awaited<ReturnType<Awaited<ReturnType<typeof getDocumentProxy>>['getPage']>>;

async function pageText(page: Page, pictured: boolean): Promise<ReturnType<typeof visiblePageText>> {
  const { items } = await page.getTextContent();
  const runs = items.flatMap((item): TextRun[] => ('str' in item ? [item] : []));
  const { OPS } = await getResolvedPDFJS();
  const read = visiblePageText(runs, visibleGlyphs(await page.getOperatorList(), OPS), page.view);
  // A scanned page has its text without ink over the image (OCR): that is the visible text.
  if (pictured && read.seen.trim() === '') return { seen: runs.map(lineOf).join(''), hidden: '' };
  return read;
}

function lineOf({ str, hasEOL }: TextRun): string {
  return hasEOL ? `${str}\n` : str;
}
