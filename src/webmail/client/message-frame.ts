import { useEffect, useRef } from 'preact/hooks';
import { composeMailto } from './compose-state.ts';
import type { MessagePart } from './jmap-types.ts';
import { blobOf } from './jmap.ts';
import { askBeforeLink } from './link-question.ts';
import { isMisleading, loadRemote, type SafeContent, sanitizeMessage } from './safe-html.ts';
import { attempt } from './notices.ts';
import { t } from './translate.ts';
import { html } from './view.ts';

const BASE_STYLE = `:root{color-scheme:light}body{margin:0;padding:2px;font:15px/1.5 ui-sans-serif,system-ui,sans-serif;color:#1d2422;
background:#fff;overflow-wrap:anywhere;overflow-x:auto}img{max-width:100%;height:auto}table{max-width:100%}pre{white-space:pre-wrap}
a{color:#0f6b52}blockquote{margin:0 0 0 .6em;padding-left:.8em;border-left:2px solid #d5d2ca}img:not([src]){min-width:1em;min-height:1em;
outline:1px dashed #c9c5bc}`;

interface FrameProps {
  markup: string;
  parts: readonly MessagePart[];
  showRemote: boolean;
  /** Called with the number of images on other servers. */
  onRemote: (count: number) => void;
}

/** Shows the HTML of a message, sanitized, in a document of its own, which can run nothing. It grows with its content. */
export function MessageFrame({ markup, parts, showRemote, onRemote }: FrameProps) {
  const frame = useRef<HTMLIFrameElement>(null);
  const content = useRef<SafeContent>(undefined);
  useEffect(() => {
    if (showRemote && content.current !== undefined) loadRemote(content.current.remote);
  }, [showRemote]);
  const fill = async (): Promise<void> => {
    const safe = await sanitizeMessage(markup);
    const inner = frame.current?.contentDocument;
    if (inner === null || inner === undefined || frame.current === null) return;
    content.current = safe;
    fillDocument(inner, safe);
    onRemote(safe.remote.length);
    followHeight(frame.current, inner);
    inner.addEventListener('click', onClick);
    await showInline(safe, parts);
  };
  return html`<iframe
    ref=${frame}
    class="message-frame"
    src="/mail/frame"
    title=${t('reader.message')}
    sandbox="allow-same-origin allow-popups allow-popups-to-escape-sandbox"
    onLoad=${() => void attempt(fill)}
  ></iframe>`;
}

function fillDocument(inner: Document, { nodes, styles }: SafeContent): void {
  const sheet = inner.createElement('style');
  sheet.textContent = BASE_STYLE;
  const own = inner.createElement('style');
  own.textContent = styles;
  const { head, body } = { head: inner.querySelector('head'), body: inner.querySelector('body') };
  head?.replaceChildren(sheet, own);
  body?.replaceChildren(...nodes.map((node) => inner.adoptNode(node)));
}

/** Shows the images that are parts of the message. */
async function showInline({ inline }: SafeContent, parts: readonly MessagePart[]): Promise<void> {
  for (const { image, cid } of inline) {
    const part = parts.find((one) => one.cid === cid && /^image\/(?:png|jpeg|gif|webp|bmp)$/.test(one.type));
    if (part?.blobId == null) continue;
    const blob = await blobOf(part.blobId, part.type).catch(() => undefined);
    if (blob !== undefined) image.src = URL.createObjectURL(blob);
  }
}

function followHeight(frame: HTMLIFrameElement, inner: Document): void {
  const root = inner.documentElement;
  const resize = (): void => {
    frame.style.height = `${Math.min(100_000, Math.max(40, root.offsetHeight + 4))}px`;
  };
  new ResizeObserver(resize).observe(root);
  resize();
}

/** Opens a link in a new tab; asks first when its text names another host. */
function onClick(event: MouseEvent): void {
  const link = (event.target as Element | null)?.closest?.('a[href]');
  if (link === null || link === undefined) return;
  event.preventDefault();
  const href = link.getAttribute('href') ?? '';
  if (/^mailto:/i.test(href)) composeMailto(href);
  else if (isMisleading(link.textContent ?? '', href)) askBeforeLink(href);
  else open(href, '_blank', 'noopener,noreferrer');
}
