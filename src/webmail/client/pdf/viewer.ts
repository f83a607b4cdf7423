import type { PdfAnswer, PdfProblem, PdfState, PdfToShow } from '../pdf-messages.ts';
import { PageList } from './page-list.ts';

// Script of the frame that shows one PDF document. The frame has an origin of its own and can load nothing but its files:
// what a document makes of PDF.js stays without the mail, the session and the network.

/** Time in which a page must be drawn, ms. */
const MAX_DRAWING_MS = 20_000;

addEventListener('message', ({ source, data }: MessageEvent<PdfToShow>) => {
  if (source === parent) show(data);
});

function show({ octets, pageLabel }: PdfToShow): void {
  const worker = startWorker();
  const pages = new PageList(pageLabel, (page, width) => {
    limit();
    worker.postMessage({ page, width });
  });
  let timer = 0;
  const fail = (problem: PdfProblem): void => {
    clearTimeout(timer);
    worker.terminate();
    tell({ problem });
  };
  const limit = (): void => {
    clearTimeout(timer);
    timer = setTimeout(() => fail('slow'), MAX_DRAWING_MS);
  };
  worker.addEventListener('error', () => fail('damaged'));
  worker.addEventListener('message', ({ data }: MessageEvent<PdfAnswer>) => {
    if ('problem' in data) return fail(data.problem);
    clearTimeout(timer);
    if ('ready' in data) {
      limit();
      worker.postMessage({ octets }, [octets]);
    } else if ('image' in data) pages.draw(data);
    else {
      pages.begin(data.pages, data.ratio);
      tell({ pages: data.pages });
    }
  });
  limit();
}

/** A frame without an origin may start workers of blobs only; Chromium starts none of them as a module. */
function startWorker(): Worker {
  const text = `import(${JSON.stringify(new URL('renderer.ts', import.meta.url).href)});`;
  return new Worker(URL.createObjectURL(new Blob([text], { type: 'text/javascript' })));
}

function tell(state: PdfState): void {
  parent.postMessage(state, '*');
}
