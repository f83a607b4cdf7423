import { useState } from 'preact/hooks';
import { AttachmentPreview, previewKind } from './attachment-preview.ts';
import { fileSize, withoutMarks } from './format.ts';
import { Icon } from './icons.ts';
import type { MessagePart } from './jmap-types.ts';
import { blobUrl } from './jmap.ts';
import { t } from './translate.ts';
import { html } from './view.ts';

/** Names of parts without one. */
const UNNAMED: Partial<Record<string, string>> = {
  'message/rfc822': 'message.eml',
  'text/calendar': 'invitation.ics',
};

interface AttachmentsProps {
  parts: readonly MessagePart[];
  /** Parts whose preview is open at first. */
  shown: readonly MessagePart[];
}

/** The files of a message. */
export function Attachments({ parts, shown }: AttachmentsProps) {
  if (parts.length === 0) return null;
  return html`<ul class="attachments" aria-label=${t('reader.attachments')}>
    ${parts.map((part) => html`<li key=${part.blobId}><${AttachmentLine} part=${part} isShown=${shown.includes(part)} /></li>`)}
  </ul>`;
}

function AttachmentLine({ part, isShown }: { part: MessagePart; isShown: boolean }) {
  const [isOpen, setIsOpen] = useState(isShown);
  const { blobId, type, size } = part;
  const name = withoutMarks(part.name ?? '') || (UNNAMED[type] ?? t('reader.file'));
  if (blobId === null) return html`<span>${name}</span>`;
  const kind = previewKind(part);
  return html`<div class="attachment">
      <${Icon} name="attach" />
      <span class="name" title=${type}>${name}</span> <span class="soft">${fileSize(size)}</span>
      ${
        kind !== undefined &&
        html`<button
          type="button"
          class="link"
          aria-expanded=${isOpen ? 'true' : 'false'}
          aria-label=${isOpen ? t('reader.hide-file', { file: name }) : t('reader.preview-file', { file: name })}
          onClick=${() => setIsOpen(!isOpen)}
        >
          ${isOpen ? t('reader.hide') : t('reader.preview')}
        </button>`
      }
      <a href=${blobUrl(blobId, name, type)} download=${name} aria-label=${t('reader.download-file', { file: name })}
        >${t('reader.download')}</a
      >
    </div>
    ${isOpen && kind !== undefined && html`<${AttachmentPreview} part=${part} name=${name} kind=${kind} />`}`;
}
