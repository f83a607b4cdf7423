import type { ComponentChild, RefObject } from 'preact';
import { useLayoutEffect } from 'preact/hooks';
import { html } from './view.ts';

interface ModalDialogProps {
  title: string;
  dialog: RefObject<HTMLDialogElement>;
  onClose: () => void;
  children?: ComponentChild;
}

/** A modal dialog with a heading. Escape closes it, and single keys do nothing behind it. */
export function ModalDialog({ title, dialog, onClose, children }: ModalDialogProps) {
  useLayoutEffect(() => dialog.current?.showModal(), []);
  return html`<dialog
    class="dialog folder-dialog"
    ref=${dialog}
    aria-labelledby="modal-title"
    onClose=${onClose}
    onKeyDown=${(event: Event) => event.stopPropagation()}
  >
    <h2 id="modal-title">${title}</h2>
    ${children}
  </dialog>`;
}
