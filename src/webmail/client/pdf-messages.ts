/** Pages of a document that are shown. */
export const MAX_PAGES = 300;

/** Why a PDF document is not shown. */
export type PdfProblem = 'damaged' | 'password' | 'slow';

/** Sent by web mail to the frame. */
export interface PdfToShow {
  octets: ArrayBuffer;
  /** Label of a page, with `{page}` and `{pages}`. */
  pageLabel: string;
}

/** Sent by the frame to web mail. */
export type PdfState = { pages: number } | { problem: PdfProblem };

/** Sent by the frame to its worker: a document, or a page to draw with this width in pixels. */
export type PdfRequest = { octets: ArrayBuffer } | { page: number; width: number };

/** A page as the worker drew it. */
export interface DrawnPage {
  page: number;
  image: ImageBitmap;
  /** The text of the page, for people who hear it. */
  text: string;
}

/** Sent by the worker to the frame. `ratio`: height of the first page by its width. */
export type PdfAnswer = { ready: true } | { pages: number; ratio: number } | DrawnPage | { problem: PdfProblem };
