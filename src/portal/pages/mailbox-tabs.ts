import type { listEmails } from '../../operations/mailboxes/list.ts';
import { backLink, pageHead } from '../components.ts';
import { type Html, html, type HtmlPart } from '../html.ts';
import type { Page, PageState } from '../page.ts';
import { ENGLISH, type Translator, translatorOf } from '../translator.ts';
import { isAllowed, readOperation, type Visit } from '../visit.ts';
import { DELIVERY_NOTICES } from './webhooks.ts';
import type { MailboxRow } from './mailboxes.ts';

/** Pages of a mailbox, in the order of their tabs: last word of the path, name, operation that the visitor needs. */
const TABS = [
  ['', 'Overview', 'list_emails'],
  ['access', 'Access', 'list_app_passwords'],
  ['addresses', 'Addresses', 'list_aliases'],
  ['connections', 'Connections', 'set_email_inbound_webhook'],
  ['junk', 'Junk', 'list_messages'],
  ['quarantine', 'Quarantine', 'list_quarantine'],
  ['deleted', 'Deleted', 'list_deleted_messages'],
  ['canaries', 'Canaries', 'list_canaries'],
] as const;
type MailboxTab = (typeof TABS)[number][0];

/** Notices of the pages that share actions. */
const NOTICES = {
  ...DELIVERY_NOTICES,
  rotated: { message: 'access.rotated' },
  revoked: { message: 'account.done-revoked' },
  hooked: { message: 'connection.unhooked' },
  attached: { message: 'connection.attached' },
  detached: { message: 'connection.detached' },
  aliased: { message: 'alias.created' },
  unaliased: { message: 'alias.deleted' },
  ruled: { message: 'rule.added' },
  unruled: { message: 'rule.deleted' },
} as const satisfies Page['notices'];

interface MailboxPageParts {
  /** True for a page whose words are messages. */
  readonly translated?: true;
  readonly notices?: Page['notices'];
  readonly actions: Page['actions'];
  readonly show: (visit: Visit, state: PageState, found: MailboxRow) => Promise<HtmlPart>;
}

/** Declares a page of a mailbox, with its tabs. */
export function mailboxPage(tab: MailboxTab, { translated, notices = {}, actions, show }: MailboxPageParts): Page {
  const [, name, needs] = TABS.find(([one]) => one === tab) ?? TABS[0];
  return {
    path: tab === '' ? '/mailboxes/:id' : `/mailboxes/:id/${tab}`,
    name: tab === '' ? 'Mailbox' : name,
    menu: null,
    ...(translated === true && { translated }),
    needs,
    notices: { ...NOTICES, ...notices },
    actions,
    async show(visit, state) {
      const found = await mailboxById(visit, state.params['id'] ?? '');
      if (found === undefined) return undefined;
      return html`${mailboxHead(translated === true ? translatorOf(visit.request) : ENGLISH, visit, tab, found)}
      ${await show(visit, state, found)}`;
    },
  };
}

function mailboxHead(t: Translator, visit: Visit, tab: MailboxTab, found: MailboxRow): Html {
  return html`${backLink(`${visit.base}/mailboxes`, t('page.Mailboxes'))}
  ${pageHead(found.address, found.displayName ?? undefined)} ${mailboxTabs(t, visit, tab, found.id)}`;
}

const CURRENT = html`aria-current="page"`;

/** Links to the pages of a mailbox that the visitor may open. */
function mailboxTabs(t: Translator, visit: Visit, here: MailboxTab, id: string): Html {
  const base = `${visit.base}/mailboxes/${id}`;
  return html`<nav class="tabs" aria-label="${t('page.Mailbox')}">
    <ul>
      ${TABS.filter(([, , needs]) => isAllowed(visit, needs)).map(
        ([tab, name]) =>
          html`<li>
            <a href="${tab === '' ? base : `${base}/${tab}`}" ${tab === here && CURRENT}>${t(`page.${name}`)}</a>
          </li>`,
      )}
    </ul>
  </nav>`;
}

/** Addresses of mailboxes by id; those that the visitor may not see are left out. */
export async function mailboxAddresses(visit: Visit, ids: ReadonlySet<string>): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for (let cursor: string | null | undefined; found.size < ids.size && cursor !== null;) {
    const page = cursor === undefined ? { limit: 100 } : { limit: 100, cursor };
    const listed = await readOperation<typeof listEmails>(visit, 'list_emails', page);
    for (const { id, address } of listed?.mailboxes ?? []) if (ids.has(id)) found.set(id, address);
    cursor = listed?.nextCursor ?? null;
  }
  return found;
}

/** Finds a mailbox by id in the paginated list. */
export async function mailboxById(visit: Visit, id: string): Promise<MailboxRow | undefined> {
  let cursor: string | undefined;
  do {
    const page = cursor === undefined ? { limit: 100 } : { limit: 100, cursor };
    const listed = await readOperation<typeof listEmails>(visit, 'list_emails', page);
    const found = listed?.mailboxes.find((one) => one.id === id);
    if (found !== undefined) return found;
    cursor = listed?.nextCursor ?? undefined;
  } while (cursor !== undefined);
  return undefined;
}
