import { signal } from '@preact/signals';
import { t } from './translate.ts';
import { html } from './view.ts';

const pendingLink = signal<string | undefined>(undefined);

/** Asks whether to open a link whose text names another host. */
export function askBeforeLink(href: string): void {
  pendingLink.value = href;
}

const close = (): void => {
  pendingLink.value = undefined;
};

export function LinkQuestion() {
  const href = pendingLink.value;
  if (href === undefined) return null;
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
      <p>${t('link.names-another')}</p>
      <p class="address">${href}</p>
      <div class="buttons">
        <button class="primary" onClick=${close} autofocus>${t('link.cancel')}</button>
        <button onClick=${confirm}>${t('link.open', { host })}</button>
      </div>
    </div>
  </div>`;
}
