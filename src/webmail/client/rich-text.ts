import { useEffect, useRef } from 'preact/hooks';
import { EditorBar } from './editor-bar.ts';
import { closeEditor, editText, imagesOf, openEditor } from './editor.ts';
import { prepareEditor } from './editor-html.ts';
import { plainTextOf } from './editor-text.ts';
import { attempt } from './notices.ts';
import { t } from './translate.ts';
import { html } from './view.ts';

/** Formatted text and its plain form. */
export interface EditedText {
  markup: string;
  text: string;
}

interface RichTextProps {
  markup: string;
  /** Called with each change; `typed` is false for the text as it was opened. */
  onText: (edited: EditedText, typed: boolean) => void;
  /** Called with images that are pasted or chosen, to be shown at the cursor. */
  onImages: (files: readonly File[]) => Promise<void>;
  focus: boolean;
}

/** A field for formatted text. What is pasted or dropped is sanitized first. */
export function RichText({ markup, onText, onImages, focus }: RichTextProps) {
  const field = useRef<HTMLDivElement>(null);
  const report = (typed: boolean): void => {
    if (field.current !== null) onText({ markup: field.current.innerHTML, text: plainTextOf(field.current) }, typed);
  };
  useEffect(() => {
    void attempt(async () => {
      await prepareEditor();
      if (field.current === null) return;
      openEditor(field.current, markup, focus);
      report(false);
    });
    return closeEditor;
  }, []);
  const take = (event: Event, given: DataTransfer | null): void => {
    const images = imagesOf(given?.files);
    event.preventDefault();
    event.stopPropagation();
    if (images.length > 0) void attempt(() => onImages(images));
    else editText.paste(given?.getData('text/html') ?? '', given?.getData('text/plain') ?? '');
  };
  const onDrop = (event: DragEvent): void => {
    if (event.dataTransfer?.files.length === 0) take(event, event.dataTransfer);
  };
  return html`<${EditorBar} onImages=${onImages} />
    <div
      class="rich-text"
      ref=${field}
      role="textbox"
      aria-multiline="true"
      aria-label=${t('reader.message')}
      tabindex="0"
      onInput=${() => report(true)}
      onPaste=${(event: ClipboardEvent) => take(event, event.clipboardData)}
      onDrop=${onDrop}
    ></div>`;
}
