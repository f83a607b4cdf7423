import { useEffect, useRef, useState } from 'preact/hooks';
import type { MessagePart } from './jmap-types.ts';
import { blobOf } from './jmap.ts';
import { attempt } from './notices.ts';
import { MAX_PAGES, type PdfProblem, type PdfState, type PdfToShow } from './pdf-messages.ts';
import { t } from './translate.ts';
import { html } from './view.ts';

/** A PDF document, drawn by a frame that has an origin of its own: it can reach neither the mail nor the network. */
export function PdfPreview({ part, name }: { part: MessagePart; name: string }) {
  const frame = useRef<HTMLIFrameElement>(null);
  const [state, setState] = useState<PdfState>();
  useEffect(() => {
    const onMessage = ({ source, data }: MessageEvent<PdfState>): void => {
      if (source !== null && source === frame.current?.contentWindow) setState(data);
    };
    addEventListener('message', onMessage);
    return () => removeEventListener('message', onMessage);
  }, []);
  const fill = async (): Promise<void> => {
    const octets = await (await blobOf(part.blobId ?? '', part.type)).arrayBuffer();
    const pageLabel = t('reader.pdf-page', { page: '{page}', pages: '{pages}' });
    const message: PdfToShow = { octets, pageLabel };
    frame.current?.contentWindow?.postMessage(message, '*', [octets]);
  };
  if (state !== undefined && 'problem' in state)
    return html`<p class="soft" role="status">${textOf(state.problem)}</p>`;
  return html`${state === undefined && html`<p class="soft" role="status">${t('list.loading')}</p>`}
    <iframe
      ref=${frame}
      class="preview-pdf"
      src="/mail/pdf"
      title=${name}
      sandbox="allow-scripts"
      onLoad=${() => void attempt(fill)}
    ></iframe>
    ${state !== undefined && state.pages > MAX_PAGES && html`<p class="soft">${t('reader.preview-cut')}</p>`}`;
}

function textOf(problem: PdfProblem): string {
  if (problem === 'password') return t('reader.pdf-password');
  return problem === 'slow' ? t('reader.pdf-slow') : t('reader.pdf-damaged');
}
