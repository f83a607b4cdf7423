import type { listEmailDomains } from '../../operations/domains/list.ts';
import type { createApiKey, listKeys } from '../../operations/sending/api-keys.ts';
import { checkboxes, field } from '../forms.ts';
import { html, type HtmlPart } from '../html.ts';
import { operationAction, formStateFor, type Page, actionForm, type PageState, confirmedAction } from '../page.ts';
import { cursorOf, dateOnly, emptyState, pageHead, nextPage, secret, table, tag } from '../components.ts';
import { type OutputOf, isAllowed, readOperation, type Visit } from '../visit.ts';
import { endOfDay, expiryField } from './expiry.ts';

type Key = OutputOf<typeof listKeys>['keys'][number];

export const apiKeys: Page = {
  path: '/api-keys',
  name: 'Email API keys',
  menu: 'Programs',
  needs: 'list_email_api_keys',
  notices: { revoked: 'Key revoked. Mail that it queued is still sent.' },
  actions: {
    create: operationAction(
      'create_email_api_key',
      (result) => {
        const { key, secret: value } = result as OutputOf<typeof createApiKey>;
        const about = 'Shown only once. Send it as a bearer token to POST /api/email/send.';
        return { kind: 'shown', panel: secret(`The key ${key.name}`, [['Key', value]], about) };
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
    return html`${pageHead('Email API keys', 'Keys for programs that send mail over HTTP, with no other permission.')}
    ${all.length === 0 ? NONE : keyTable(visit, all)} ${nextPage(`${visit.base}/api-keys`, listed?.nextCursor)}
    ${isAllowed(visit, 'create_email_api_key') && (await createForm(visit, state))}`;
  },
};

const NONE = emptyState('No keys', 'Create one for each program, so that each can be revoked separately.');

function keyTable(visit: Visit, all: readonly Key[]): HtmlPart {
  return table(
    'Email API keys',
    ['Name', 'Sends from', 'Last used', 'Expires', ''],
    all.map(({ id, name, prefix, allowedDomains, lastUsedAt, expiresAt, revoked }) => [
      [name, html` <span class="soft"><code>${prefix}...</code></span>`],
      allowedDomains === null ? 'All verified domains' : allowedDomains.join(', '),
      lastUsedAt === null ? html`<span>Never</span>` : dateOnly(lastUsedAt),
      expiresAt === null ? '' : dateOnly(expiresAt),
      revoked
        ? tag('Revoked')
        : isAllowed(visit, 'revoke_email_api_key') &&
          confirmedAction(visit, 'revoke', {
            label: 'Revoke',
            question: `Programs that use ${name} are refused at once.`,
            yes: 'Revoke',
            values: { keyId: id },
          }),
    ]),
  );
}

async function createForm(visit: Visit, state: PageState): Promise<HtmlPart> {
  const formState = formStateFor(state, 'create');
  const domains =
    (await readOperation<typeof listEmailDomains>(visit, 'list_email_domains', { limit: 100 }))?.domains ?? [];
  const choices = domains.map((one) => ({ value: one.domain, label: one.domain }));
  const which = { name: 'allowedDomains', label: 'Allowed domains', hint: 'None selected: all domains.', choices };
  const body = html`${field({ name: 'name', label: 'Name', hint: 'The program that uses it.' }, formState)}
  ${choices.length > 0 && checkboxes(which, formState)} ${expiryField('key-expires', formState)}`;
  return html`<section>
    <h2>Create a key</h2>
    ${actionForm(visit, 'create', 'Create key', body)}
  </section>`;
}
