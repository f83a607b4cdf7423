import type { listOrganizations } from '../../operations/organization/box.ts';
import { field } from '../forms.ts';
import { html, type HtmlPart } from '../html.ts';
import { operationAction, type Page, actionButton, confirmedAction } from '../page.ts';
import { buttonRow, bytes, cursorOf, dateOnly, pageHead, nextPage, table, tag } from '../components.ts';
import { type OutputOf, isAllowed, readOperation, type Visit } from '../visit.ts';

type OrganizationRow = OutputOf<typeof listOrganizations>['organizations'][number];

/** All organizations of the server, for the operator. */
export const organizations: Page = {
  path: '/organizations',
  name: 'Organizations',
  menu: 'This server',
  needs: 'list_organizations',
  notices: {
    frozen: 'Organization frozen. Its tokens, sign-ins and mail logins are refused.',
    unfrozen: 'Organization active again.',
    removed: 'Organization deleted. It can be restored for 30 days.',
    purged: 'Organization deleted with all its data.',
    restored: 'Organization restored.',
  },
  actions: {
    freeze: operationAction('freeze_organization', 'frozen', (fields) => ({
      targetOrganizationId: fields.text('organization'),
    })),
    unfreeze: operationAction('unfreeze_organization', 'unfrozen', (fields) => ({
      targetOrganizationId: fields.text('organization'),
    })),
    remove: operationAction('remove_organization', 'removed', (fields) => ({
      targetOrganizationId: fields.text('organization'),
      confirm: fields.text('confirm').trim(),
    })),
    purge: operationAction('remove_organization', 'purged', (fields) => ({
      targetOrganizationId: fields.text('organization'),
      confirm: fields.text('confirm').trim(),
      permanently: true,
    })),
    restore: operationAction('restore_organization', 'restored', (fields) => ({
      targetOrganizationId: fields.text('organization'),
    })),
  },
  async show(visit, state) {
    const page = cursorOf(state.query);
    const listed = await readOperation<typeof listOrganizations>(visit, 'list_organizations', page);
    return html`${pageHead('Organizations', 'All organizations of this server, with size and last use.')}
    ${organizationTable(visit, listed?.organizations ?? [])}
    ${nextPage(`${visit.base}/organizations`, listed?.nextCursor)}`;
  },
};

function organizationTable(visit: Visit, all: readonly OrganizationRow[]): HtmlPart {
  return table(
    'Organizations',
    ['Name', 'Status', 'Size', 'Last used', ''],
    all.map((one) => [
      [one.name, html` <span class="soft"><code>${one.id}</code> since ${dateOnly(one.createdAt)}</span>`],
      state(one),
      size(one),
      one.lastUsedAt === null ? html`<span>Never</span>` : dateOnly(one.lastUsedAt),
      one.origin !== 'operator' && isAllowed(visit, 'freeze_organization') && organizationButtons(visit, one),
    ]),
  );
}

function size({ domains, mailboxes, usedBytes }: OrganizationRow): HtmlPart {
  const counted = (count: number, name: string, more: string): string => `${count} ${count === 1 ? name : more}`;
  const what = `${counted(domains, 'domain', 'domains')}, ${counted(mailboxes, 'mailbox', 'mailboxes')}`;
  return [what, html` <span class="soft">${bytes(usedBytes)}</span>`];
}

function state({ frozen, claimed, origin, restorableUntil }: OrganizationRow): HtmlPart {
  if (restorableUntil !== null)
    return [
      tag('Deleted', 'bad'),
      html` <span class="soft">Removed for good after ${dateOnly(restorableUntil)}</span>`,
    ];
  if (frozen) return tag('Frozen', 'bad');
  if (origin === 'operator') return tag('Operator', 'ok');
  return claimed ? tag('Claimed', 'ok') : tag(origin === 'own' ? 'Agent-owned' : 'Unclaimed', 'warn');
}

function organizationButtons(visit: Visit, one: OrganizationRow): HtmlPart {
  const { id, name, frozen, restorableUntil } = one;
  const values = { organization: id };
  if (restorableUntil !== null) {
    return buttonRow(
      isAllowed(visit, 'restore_organization') && actionButton(visit, 'restore', 'Restore', values),
      isAllowed(visit, 'remove_organization') && deleteForm(visit, one, 'purge'),
    );
  }
  const freeze = {
    label: 'Freeze',
    question: `Tokens, sign-ins and mail logins of ${name} are refused until you unfreeze it. It still receives mail.`,
    yes: 'Freeze',
    values,
  };
  return buttonRow(
    frozen ? actionButton(visit, 'unfreeze', 'Unfreeze', values) : confirmedAction(visit, 'freeze', freeze),
    isAllowed(visit, 'remove_organization') && deleteForm(visit, one, 'remove'),
  );
}

function deleteForm(visit: Visit, { id, name, slug }: OrganizationRow, action: 'remove' | 'purge'): HtmlPart {
  const texts = DELETE_TEXTS[action];
  const confirm = {
    name: 'confirm',
    id: `confirm-${id}`,
    label: `Enter its slug, ${slug}, to confirm`,
    autocomplete: 'off',
  };
  return confirmedAction(visit, action, {
    label: texts.button,
    question: `Deletes ${name} with all mail, domains and tokens. ${texts.question}`,
    yes: texts.button,
    values: { organization: id },
    body: field(confirm),
  });
}

const DELETE_TEXTS = {
  remove: {
    button: 'Delete',
    question: 'It can be restored for 30 days. Mail for it is accepted meanwhile.',
  },
  purge: { button: 'Delete permanently', question: 'This cannot be undone.' },
} as const;
