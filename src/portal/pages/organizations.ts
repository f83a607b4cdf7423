import type { listOrganizations } from '../../operations/organization/box.ts';
import { field } from '../forms.ts';
import { html, type HtmlPart } from '../html.ts';
import { operationAction, type Page, actionButton, confirmedAction } from '../page.ts';
import { buttonRow, bytes, cursorOf, dateOnly, pageHead, nextPage, table, tag } from '../components.ts';
import { type Translator, translatorOf } from '../translator.ts';
import { type OutputOf, isAllowed, readOperation, type Visit } from '../visit.ts';

type OrganizationRow = OutputOf<typeof listOrganizations>['organizations'][number];

/** All organizations of the server, for the operator. */
export const organizations: Page = {
  path: '/organizations',
  name: 'Organizations',
  translated: true,
  menu: 'This server',
  needs: 'list_organizations',
  notices: {
    frozen: { message: 'organizations.frozen' },
    unfrozen: { message: 'organizations.unfrozen' },
    removed: { message: 'organizations.removed' },
    purged: { message: 'organizations.purged' },
    restored: { message: 'organizations.restored' },
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
    const t = translatorOf(visit.request);
    return html`${pageHead(t('page.Organizations'), t('organizations.about'))}
    ${organizationTable(t, visit, listed?.organizations ?? [])}
    ${nextPage(`${visit.base}/organizations`, listed?.nextCursor, t)}`;
  },
};

function organizationTable(t: Translator, visit: Visit, all: readonly OrganizationRow[]): HtmlPart {
  return table(
    t('page.Organizations'),
    [t('account.name'), t('domains.status'), t('mailboxes.size'), t('devices.last-used'), ''],
    all.map((one) => [
      [one.name, html` <span class="soft">${since(t, one)}</span>`],
      state(t, one),
      size(t, one),
      one.lastUsedAt === null ? html`<span>${t('devices.never')}</span>` : dateOnly(one.lastUsedAt, t),
      one.origin !== 'operator' && isAllowed(visit, 'freeze_organization') && organizationButtons(t, visit, one),
    ]),
    t,
  );
}

function since(t: Translator, { id, createdAt }: OrganizationRow): HtmlPart {
  return t.rich('organizations.since', { id: html`<code>${id}</code>`, time: dateOnly(createdAt, t) });
}

function size(t: Translator, { domains, mailboxes, usedBytes }: OrganizationRow): HtmlPart {
  const counted = [t('organizations.domains', { count: domains }), t('csv.mailboxes', { count: mailboxes })];
  return [counted.join(', '), html` <span class="soft">${bytes(usedBytes, t)}</span>`];
}

function state(t: Translator, { frozen, claimed, origin, restorableUntil }: OrganizationRow): HtmlPart {
  if (restorableUntil !== null) {
    const until = t.rich('organizations.purged-after', { time: dateOnly(restorableUntil, t) });
    return [tag(t('organizations.is-deleted'), 'bad'), html` <span class="soft">${until}</span>`];
  }
  if (frozen) return tag(t('organizations.is-frozen'), 'bad');
  if (origin === 'operator') return tag(t('organizations.operator'), 'ok');
  if (claimed) return tag(t('organizations.claimed'), 'ok');
  return tag(t(origin === 'own' ? 'organizations.own' : 'organizations.unclaimed'), 'warn');
}

function organizationButtons(t: Translator, visit: Visit, one: OrganizationRow): HtmlPart {
  const { id, name, frozen, restorableUntil } = one;
  const values = { organization: id };
  if (restorableUntil !== null) {
    return buttonRow(
      isAllowed(visit, 'restore_organization') && actionButton(visit, 'restore', t('deleted.restore'), values),
      isAllowed(visit, 'remove_organization') && deleteForm(t, visit, one, 'purge'),
    );
  }
  const freeze = {
    label: t('organizations.freeze'),
    question: t('organizations.freeze-question', { name }),
    yes: t('organizations.freeze'),
    values,
  };
  return buttonRow(
    frozen
      ? actionButton(visit, 'unfreeze', t('organizations.unfreeze'), values)
      : confirmedAction(visit, 'freeze', freeze),
    isAllowed(visit, 'remove_organization') && deleteForm(t, visit, one, 'remove'),
  );
}

function deleteForm(
  t: Translator,
  visit: Visit,
  { id, name, slug }: OrganizationRow,
  action: 'remove' | 'purge',
): HtmlPart {
  const button = t(action === 'remove' ? 'mailbox.delete-button' : 'deleted.purge');
  const label = t('organizations.confirm', { slug });
  return confirmedAction(visit, action, {
    label: button,
    question: t(action === 'remove' ? 'organizations.remove-question' : 'organizations.purge-question', { name }),
    yes: button,
    values: { organization: id },
    body: field({ name: 'confirm', id: `confirm-${id}`, label, autocomplete: 'off' }),
  });
}
