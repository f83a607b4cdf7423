import { signal } from '@preact/signals';
import { aroundCursor, editText, imagesOf } from './editor.ts';
import { Icon, IconButton, type IconName } from './icons.ts';
import type { PlainKey } from './message-types.ts';
import { attempt } from './notices.ts';
import { t } from './translate.ts';
import { html } from './view.ts';

interface FormatButton {
  icon: IconName;
  label: PlainKey;
  /** Elements that show that the format is on at the cursor. */
  tags: readonly string[];
  on: Parameters<typeof editText.run>[0];
  off?: Parameters<typeof editText.run>[0];
}

const FORMATS: readonly FormatButton[] = [
  { icon: 'bold', label: 'format.bold', tags: ['B', 'STRONG'], on: 'bold' },
  { icon: 'italic', label: 'format.italic', tags: ['I', 'EM'], on: 'italic' },
  { icon: 'underline', label: 'format.underline', tags: ['U'], on: 'underline' },
  { icon: 'bullets', label: 'format.bullets', tags: ['UL'], on: 'insertUnorderedList' },
  { icon: 'numbers', label: 'format.numbers', tags: ['OL'], on: 'insertOrderedList' },
  { icon: 'quote', label: 'format.quote', tags: ['BLOCKQUOTE'], on: 'indent', off: 'outdent' },
];

const asksLink = signal(false);
const isInside = (tags: readonly string[]): boolean => tags.some((tag) => aroundCursor.value.has(tag));

/** Buttons of the editor for formatted text. */
export function EditorBar({ onImages }: { onImages: (files: readonly File[]) => Promise<void> }) {
  const choose = (event: Event): void => {
    const input = event.target as HTMLInputElement;
    const chosen = imagesOf(input.files ?? undefined);
    void attempt(() => onImages(chosen));
    input.value = '';
  };
  return html`<div class="editor-bar" role="toolbar" aria-label=${t('format.bar')}>
    ${FORMATS.map(({ icon, label, tags, on, off = on }) => {
      const isOn = isInside(tags);
      return html`<${IconButton}
        icon=${icon}
        label=${t(label)}
        pressed=${isOn}
        onClick=${() => editText.run(isOn ? off : on)}
      />`;
    })}
    <${IconButton} icon="link" label=${t('format.link')} pressed=${isInside(['A'])} onClick=${toggleLink} />
    <label class="icon-button" title=${t('format.image')}>
      <${Icon} name="image" /><span class="hidden">${t('format.image')}</span>
      <input
        type="file"
        accept="image/png,image/jpeg,image/gif,image/webp"
        multiple
        class="hidden"
        onChange=${choose}
      />
    </label>
    <${IconButton} icon="clear" label=${t('format.clear')} onClick=${() => editText.run('removeFormat')} />
    ${asksLink.value && html`<${LinkForm} />`}
  </div>`;
}

function toggleLink(): void {
  if (isInside(['A'])) editText.run('unlink');
  else asksLink.value = !asksLink.value;
}

function LinkForm() {
  const submit = (event: Event): void => {
    event.preventDefault();
    const typed = new FormData(event.target as HTMLFormElement).get('link');
    const href = linkOf(typeof typed === 'string' ? typed.trim() : '');
    asksLink.value = false;
    if (href !== undefined) editText.link(href);
  };
  return html`<form class="link-form" onSubmit=${submit}>
    <input
      name="link"
      aria-label=${t('format.link-address')}
      placeholder="https://"
      autofocus
      ref=${(one: HTMLInputElement | null) => one?.focus()}
    />
    <button class="small">${t('button.insert')}</button>
  </form>`;
}

/** A web or mail address that was typed, in full. */
function linkOf(typed: string): string | undefined {
  if (/^[^\s@:/]{1,64}@[^\s@:/]{1,255}$/.test(typed)) return `mailto:${typed}`;
  const href = /^[a-z][a-z0-9+.-]*:/i.test(typed) ? typed : `https://${typed}`;
  return typed !== '' && /^(?:https?|mailto):/i.test(href) && URL.canParse(href) ? href : undefined;
}
