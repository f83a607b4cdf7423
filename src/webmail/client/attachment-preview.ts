import type { ComponentChild } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { MessagePart } from './jmap-types.ts';
import { blobOf } from './jmap.ts';
import { attempt } from './notices.ts';
import { PdfPreview } from './pdf-preview.ts';
import { t } from './translate.ts';
import { html } from './view.ts';

/** Types that are shown as images. SVG is not: it is a document. */
const IMAGES = /^image\/(?:png|jpeg|gif|webp|bmp)$/;
/** Types that are shown as text. HTML is its source. */
const TEXTS =
  /^(?:text\/[\w.+-]{1,60}|message\/delivery-status|application\/(?:json|xml|ics|yaml|x-yaml|[\w.-]{1,60}\+(?:json|xml)))$/;
const TEXT_NAMES = /\.(?:txt|csv|tsv|md|json|xml|ics|log|ya?ml)$/i;

const PDF = /^application\/(?:x-)?pdf$/;
const MAX_PDF_OCTETS = 30_000_000;

/** Larger text files are not loaded, and of the others so many characters are shown. */
const MAX_TEXT_OCTETS = 1_000_000;
const MAX_TEXT_CHARS = 50_000;

export type PreviewKind = 'image' | 'text' | 'pdf';

/** The preview that a part has, by its declared type; for unknown types, by its file extension. */
export function previewKind({ type, name, size }: MessagePart): PreviewKind | undefined {
  if (IMAGES.test(type)) return 'image';
  const isUnknown = type === 'application/octet-stream';
  if (PDF.test(type) || (isUnknown && /\.pdf$/i.test(name ?? ''))) return size <= MAX_PDF_OCTETS ? 'pdf' : undefined;
  const isText = TEXTS.test(type) || (isUnknown && TEXT_NAMES.test(name ?? ''));
  return isText && size <= MAX_TEXT_OCTETS ? 'text' : undefined;
}

interface PreviewProps {
  part: MessagePart;
  name: string;
  kind: PreviewKind;
}

/** A part of a message, in the page: an image, text that nothing interprets, or a PDF document in a frame of its own. */
export function AttachmentPreview({ part, name, kind }: PreviewProps) {
  return html`<${PREVIEWS[kind]} part=${part} name=${name} />`;
}

function ImagePreview({ part, name }: Omit<PreviewProps, 'kind'>): ComponentChild {
  const [url, setUrl] = useState('');
  useEffect(() => {
    let made = '';
    void attempt(async () => {
      made = URL.createObjectURL(await blobOf(part.blobId ?? '', part.type));
      setUrl(made);
    });
    return () => URL.revokeObjectURL(made);
  }, [part.blobId]);
  return url !== '' && html`<img class="preview-image" src=${url} alt=${name} />`;
}

function TextPreview({ part, name }: Omit<PreviewProps, 'kind'>): ComponentChild {
  const [text, setText] = useState<string>();
  useEffect(() => {
    void attempt(async () => {
      const blob = await blobOf(part.blobId ?? '', part.type);
      setText(decoded(await blob.arrayBuffer(), part.charset));
    });
  }, [part.blobId]);
  if (text === undefined) return html`<p class="soft" role="status">${t('list.loading')}</p>`;
  return html`<pre class="preview-text" tabindex="0" role="region" aria-label=${name} dir="auto">
${text.slice(0, MAX_TEXT_CHARS)}</pre>
    ${text.length > MAX_TEXT_CHARS && html`<p class="soft">${t('reader.preview-cut')}</p>`}`;
}

const PREVIEWS = { image: ImagePreview, text: TextPreview, pdf: PdfPreview };

/** Text by its charset; UTF-8 if that is missing or unknown. */
function decoded(octets: ArrayBuffer, charset: string | null): string {
  try {
    return new TextDecoder(charset === null || /^us-ascii$/i.test(charset) ? 'utf-8' : charset).decode(octets);
  } catch {
    return new TextDecoder().decode(octets);
  }
}
