import { Icon } from './icons.ts';
import { accounts, currentAccount, type OpenAccount } from './jmap.ts';
import { t } from './translate.ts';
import { html } from './view.ts';

/** The accounts of this sign-in, if there are several. Each has an address of its own, so two of them fit side by side. */
export function AccountNav() {
  const all = accounts();
  if (all.length < 2) return null;
  return html`<section class="accounts" aria-labelledby="accounts-title">
    <h2 id="accounts-title">${t('app.accounts')}</h2>
    <ul>
      ${all.map((one) => html`<li key=${one.id}><${AccountLink} account=${one} /></li>`)}
    </ul>
  </section>`;
}

function AccountLink({ account }: { account: OpenAccount }) {
  const { id, address, isPersonal, readOnly } = account;
  const isOpen = id === currentAccount().id;
  const href = isPersonal ? '/mail' : `/mail?account=${encodeURIComponent(id)}`;
  const state = isPersonal ? '' : readOnly ? t('app.read-only') : t('app.shared');
  return html`<a href=${href} aria-current=${isOpen ? 'page' : undefined} title=${address}>
    <${Icon} name=${isPersonal ? 'account' : 'shared'} />
    <span class="name">${address} ${state !== '' && html`<span class="soft">${state}</span>`}</span>
  </a>`;
}
