import type { listEmailDomains } from '../../operations/domains/list.ts';
import type { createApiKey, listKeys } from '../../operations/sending/api-keys.ts';
import { checkboxes, field } from '../forms.ts';
import { html, type HtmlPart } from '../html.ts';
import { operationAction, formStateFor, type Page, actionForm, type PageState, confirmedAction } from '../page.ts';
import { cursorOf, dateOnly, emptyState, pageHead, nextPage, secret, table, tag } from '../components.ts';
import { type Translator, translatorOf } from '../translator.ts';
import { type OutputOf, isAllowed, readOperation, type Visit } from '../visit.ts';
import { endOfDay, expiryField } from './expiry.ts';

type Key = OutputOf<typeof listKeys>['keys'][number];

export const apiKeys: Page = {
  path: '/api-keys',
  name: 'Email API keys',
  translated: true,
  menu: 'Programs',
  needs: 'list_email_api_keys',
  notices: { revoked: { message: 'key.revoked' } },
  actions: {
    create: operationAction(
      'create_email_api_key',
      (result, { request }) => {
        const { key, secret: value } = result as OutputOf<typeof createApiKey>;
        const t = translatorOf(request);
        const title = t('key.made', { name: key.name });
        return { kind: 'shown', panel: secret(title, [[t('key.name'), value]], t('key.once')) };
      },
      (fields) => ({
        name: fields.line('name') ?? '',
        allowedDomains: fields.list('allowedDomains'),
        expiresAt: endOfDay(fields.line('expiresAt')),
      }),
    ),
    revoke: operationAction('revoke_email_api_key', 'revoked', ['keyId']),
  },
  async show(visit, state) {
    const page = cursorOf(state.query);
    const listed = await readOperation<typeof listKeys>(visit, 'list_email_api_keys', page);
    const all = listed?.keys ?? [];
    const t = translatorOf(visit.request);
    return html`${pageHead(t('page.Email API keys'), t('key.about'))}
    ${all.length === 0 ? emptyState(t('key.none'), t('key.none-text')) : keyTable(t, visit, all)}
    ${nextPage(`${visit.base}/api-keys`, listed?.nextCursor, t)}
    ${isAllowed(visit, 'create_email_api_key') && (await createForm(t, visit, state))}`;
  },
};

function keyTable(t: Translator, visit: Visit, all: readonly Key[]): HtmlPart {
  return table(
    t('page.Email API keys'),
    [t('account.name'), t('key.sends-from'), t('devices.last-used'), t('access.expires'), ''],
    all.map(({ id, name, prefix, allowedDomains, lastUsedAt, expiresAt, revoked }) => [
      [name, html` <span class="soft"><code>${prefix}...</code></span>`],
      allowedDomains === null ? t('key.all-verified') : allowedDomains.join(', '),
      lastUsedAt === null ? html`<span>${t('devices.never')}</span>` : dateOnly(lastUsedAt, t),
      expiresAt === null ? t('devices.never') : dateOnly(expiresAt, t),
      revoked
        ? tag(t('key.is-revoked'))
        : isAllowed(visit, 'revoke_email_api_key') &&
          confirmedAction(visit, 'revoke', {
            label: t('devices.revoke'),
            question: t('key.revoke-question', { name }),
            yes: t('devices.revoke'),
            values: { keyId: id },
          }),
    ]),
    t,
  );
}

async function createForm(t: Translator, visit: Visit, state: PageState): Promise<HtmlPart> {
  const formState = formStateFor(state, 'create');
  const domains =
    (await readOperation<typeof listEmailDomains>(visit, 'list_email_domains', { limit: 100 }))?.domains ?? [];
  const choices = domains.map((one) => ({ value: one.domain, label: one.domain }));
  const which = { name: 'allowedDomains', label: t('key.allowed'), hint: t('key.all-domains'), choices };
  const body = html`${field({ name: 'name', label: t('account.name'), hint: t('key.hint') }, formState)}
  ${choices.length > 0 && checkboxes(which, formState)} ${expiryField('key-expires', formState, t)}`;
  return html`<section>
    <h2>${t('key.create-title')}</h2>
    ${actionForm(visit, 'create', t('key.create'), body)}
  </section>`;
}
