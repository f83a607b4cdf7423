import type { listEmailDomains } from '../../operations/domains/list.ts';
import type { createApiKey, listKeys } from '../../operations/sending/api-keys.ts';
import { checks, field } from '../forms.ts';
import { html, type Part } from '../html.ts';
import { acting, filledFor, type Page, sheet, type State, sure } from '../page.ts';
import { cursorOf, day, empty, head, nextPage, secret, table, tag } from '../parts.ts';
import { type Answer, can, read, type Visit } from '../visit.ts';
import { endOf, expiryField } from './shared.ts';

type Key = Answer<typeof listKeys>['keys'][number];

export const apiKeys: Page = {
  path: '/api-keys',
  name: 'Email API keys',
  menu: 'Programs',
  needs: 'list_email_api_keys',
  done: { revoked: 'The key is revoked. Mail that it had queued still goes out.' },
  acts: {
    create: acting(
      'create_email_api_key',
      (fields) => ({
        name: fields.line('name') ?? '',
        allowedDomains: fields.list('allowedDomains'),
        expiresAt: endOf(fields.line('expiresAt')),
      }),
      (result) => {
        const { key, secret: value } = result as Answer<typeof createApiKey>;
        const about = 'It is shown this once. Send it as a bearer token to POST /api/email/send.';
        return { kind: 'shown', panel: secret(`The key ${key.name}`, [['Key', value]], about) };
      },
    ),
    revoke: acting(
      'revoke_email_api_key',
      (fields) => ({ keyId: fields.text('keyId') }),
      () => ({ kind: 'done', said: 'revoked' }),
    ),
  },
  async show(visit, state) {
    const page = cursorOf(state.query);
    const listed = await read<typeof listKeys>(visit, 'list_email_api_keys', page);
    const all = listed?.keys ?? [];
    return html`${head('Email API keys', 'With a key a program sends mail over HTTP, and can do nothing else.')}
    ${all.length === 0 ? NONE : keyTable(visit, all)} ${nextPage(`${visit.base}/api-keys`, listed?.nextCursor)}
    ${can(visit, 'create_email_api_key') && (await createForm(visit, state))}`;
  },
};

const NONE = empty('No key yet', 'Make one for each program that sends, so that it can be revoked alone.');

function keyTable(visit: Visit, all: readonly Key[]): Part {
  return table(
    'Email API keys',
    ['Name', 'Sends from', 'Last used', 'Ends', ''],
    all.map(({ id, name, prefix, allowedDomains, lastUsedAt, expiresAt, revoked }) => [
      [name, html` <span class="soft"><code>${prefix}...</code></span>`],
      allowedDomains === null ? 'every verified domain' : allowedDomains.join(', '),
      lastUsedAt === null ? html`<span>never</span>` : day(lastUsedAt),
      expiresAt === null ? '' : day(expiresAt),
      revoked
        ? tag('revoked')
        : can(visit, 'revoke_email_api_key') &&
          sure(visit, 'revoke', {
            label: 'Revoke',
            question: `Programs that send with ${name} are refused from this moment on.`,
            yes: 'Revoke it',
            values: { keyId: id },
          }),
    ]),
  );
}

async function createForm(visit: Visit, state: State): Promise<Part> {
  const filled = filledFor(state, 'create');
  const domains = (await read<typeof listEmailDomains>(visit, 'list_email_domains', { limit: 100 }))?.domains ?? [];
  const choices = domains.map((one) => ({ value: one.domain, label: one.domain }));
  const which = { name: 'allowedDomains', label: 'Only from these domains', hint: 'None ticked: from all.', choices };
  const body = html`${field({ name: 'name', label: 'Name', hint: 'The program that will use it.' }, filled)}
  ${choices.length > 0 && checks(which, filled)} ${expiryField('key-expires', filled)}`;
  return html`<section>
    <h2>Make a key</h2>
    ${sheet(visit, 'create', 'Make the key', body)}
  </section>`;
}
