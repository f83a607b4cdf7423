import { signal } from '@preact/signals';
import { t } from './translate.ts';
import { html } from './view.ts';

/** An address that is opened only after a question, with the reason for it. */
interface PendingLink {
  href: string;
  why: string;
}

const pendingLink = signal<PendingLink | undefined>(undefined);

/** Asks whether to open a link; without a reason, one whose text names another host. */
export function askBeforeLink(href: string, why = t('link.names-another')): void {
  pendingLink.value = { href, why };
}

const close = (): void => {
  pendingLink.value = undefined;
};

export function LinkQuestion() {
  if (pendingLink.value === undefined) return null;
  const { href, why } = pendingLink.value;
  const host = URL.canParse(href) ? new URL(href).hostname : href;
  const confirm = (): void => {
    open(href, '_blank', 'noopener,noreferrer');
    close();
  };
  return html`<div class="backdrop" onClick=${close}>
    <div
      class="dialog"
      role="alertdialog"
      aria-modal="true"
      aria-labelledby="link-title"
      onClick=${(event: Event) => event.stopPropagation()}
    >
      <h2 id="link-title">${t('link.leads-to', { host })}</h2>
      <p>${why}</p>
      <p class="address">${href}</p>
      <div class="buttons">
        <button class="primary" onClick=${close} autofocus>${t('link.cancel')}</button>
        <button onClick=${confirm}>${t('link.open', { host })}</button>
      </div>
    </div>
  </div>`;
}
