import type * as PdfJs from 'unpdf/pdfjs';
import type { PdfAnswer, PdfProblem, PdfRequest } from '../pdf-messages.ts';
import { WithoutFilters, WorkerCanvasFactory } from './worker-canvas.ts';

// Worker of the frame of one document: a document that never ends costs a thread, which the frame ends.

/** Pixels of a page at most: more would cost memory that a phone does not have. */
const MAX_PIXELS = 4_000_000;
/** Characters of the text of a page. */
const MAX_TEXT_CHARS = 20_000;

let pdf: PdfJs.PDFDocumentProxy | undefined;

self.addEventListener('message', ({ data }: MessageEvent<PdfRequest>) => {
  void answer(data).catch((error: unknown) => send({ problem: problemOf(error) }));
});

async function answer(request: PdfRequest): Promise<void> {
  if ('octets' in request) return open(request.octets);
  if (pdf !== undefined) await draw(await pdf.getPage(request.page), request);
}

/** Nothing of the document is executed, no form is built, and nothing is loaded. */
async function open(octets: ArrayBuffer): Promise<void> {
  const library = new URL('../lib/unpdf-pdfjs.js', import.meta.url).href;
  const { getDocument } = (await import(library)) as typeof PdfJs;
  pdf = await getDocument({
    data: new Uint8Array(octets),
    CanvasFactory: WorkerCanvasFactory,
    FilterFactory: WithoutFilters,
    ownerDocument: { fonts: (self as unknown as { fonts: unknown }).fonts },
    disableFontFace: false,
    useSystemFonts: true,
    useWasm: false,
    useWorkerFetch: false,
    canvasMaxAreaInBytes: 4 * MAX_PIXELS,
    maxImageSize: 8 * MAX_PIXELS,
    verbosity: 0,
  } as never).promise;
  const { width, height } = (await pdf.getPage(1)).getViewport({ scale: 1 });
  send({ pages: pdf.numPages, ratio: height / width });
}

async function draw(page: PdfJs.PDFPageProxy, { page: number, width }: { page: number; width: number }): Promise<void> {
  const whole = page.getViewport({ scale: 1 });
  const scale = Math.min(width / whole.width, Math.sqrt(MAX_PIXELS / (whole.width * whole.height)));
  const viewport = page.getViewport({ scale });
  const canvas = new OffscreenCanvas(Math.max(1, viewport.width), Math.max(1, viewport.height));
  await page.render({ canvas: null, canvasContext: canvas.getContext('2d'), viewport, annotationMode: 1 } as never)
    .promise;
  const image = canvas.transferToImageBitmap();
  send({ page: number, image, text: await textOf(page) }, [image]);
  page.cleanup();
}

async function textOf(page: PdfJs.PDFPageProxy): Promise<string> {
  const { items } = await page.getTextContent();
  const text = items.map((item) => ('str' in item ? `${item.str}${item.hasEOL ? '\n' : ''}` : '')).join('');
  return text.slice(0, MAX_TEXT_CHARS);
}

function problemOf(error: unknown): PdfProblem {
  return error instanceof Error && error.name === 'PasswordException' ? 'password' : 'damaged';
}

function send(message: PdfAnswer, transfer: Transferable[] = []): void {
  self.postMessage(message, { transfer });
}

send({ ready: true });
