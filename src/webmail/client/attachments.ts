import { useState } from 'preact/hooks';
import { fileSize, withoutMarks } from './format.ts';
import { Icon } from './icons.ts';
import type { MessagePart } from './jmap-types.ts';
import { blobOf, blobUrl } from './jmap.ts';
import { attempt } from './notices.ts';
import { t } from './translate.ts';
import { html } from './view.ts';

/** Types that are previewed as images. SVG is not: it is a document. */
const IMAGES = /^image\/(?:png|jpeg|gif|webp|bmp)$/;

/** Names of parts without one. */
const UNNAMED: Partial<Record<string, string>> = {
  'message/rfc822': 'message.eml',
  'text/calendar': 'invitation.ics',
};

/** The files of a message. */
export function Attachments({ parts }: { parts: readonly MessagePart[] }) {
  if (parts.length === 0) return null;
  return html`<ul class="attachments" aria-label=${t('reader.attachments')}>
    ${parts.map((part) => html`<li key=${part.blobId}><${AttachmentLine} part=${part} /></li>`)}
  </ul>`;
}

function AttachmentLine({ part }: { part: MessagePart }) {
  const [preview, setPreview] = useState('');
  const { blobId, type, size } = part;
  const name = withoutMarks(part.name ?? '') || (UNNAMED[type] ?? t('reader.file'));
  if (blobId === null) return html`<span>${name}</span>`;
  const show = (): Promise<void> =>
    attempt(async () => {
      setPreview(preview === '' ? URL.createObjectURL(await blobOf(blobId, type)) : '');
    });
  return html`<div class="attachment">
      <${Icon} name="attach" />
      <span class="name" title=${type}>${name}</span> <span class="soft">${fileSize(size)}</span>
      ${IMAGES.test(type) && html`<button type="button" class="link" aria-expanded=${preview !== ''} onClick=${() => void show()}>${preview === '' ? t('reader.preview') : t('reader.hide')}</button>`}
      <a href=${blobUrl(blobId, name, type)} download=${name} aria-label=${t('reader.download-file', { file: name })}
        >${t('reader.download')}</a
      >
    </div>
    ${preview !== '' && html`<img class="preview-image" src=${preview} alt=${name} />`}`;
}
