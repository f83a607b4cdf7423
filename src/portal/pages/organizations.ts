import type { listOrganizations } from '../../operations/organization/box.ts';
import { field } from '../forms.ts';
import { html, type Part } from '../html.ts';
import { acting, type Page, press, sure } from '../page.ts';
import { acts, bytes, cursorOf, day, head, nextPage, table, tag } from '../parts.ts';
import { type Answer, can, read, type Visit } from '../visit.ts';

type Line = Answer<typeof listOrganizations>['organizations'][number];

/** For the operator of the box. */
export const organizations: Page = {
  path: '/organizations',
  name: 'Organizations',
  menu: 'This box',
  needs: 'list_organizations',
  done: {
    frozen: 'The organization is frozen: its tokens, sign-ins and mail logins are refused.',
    unfrozen: 'The organization works again.',
    removed: 'The organization is removed, with everything that it had.',
  },
  acts: {
    freeze: acting(
      'freeze_organization',
      (fields) => ({ targetOrganizationId: fields.text('organization') }),
      () => ({ kind: 'done', said: 'frozen' }),
    ),
    unfreeze: acting(
      'unfreeze_organization',
      (fields) => ({ targetOrganizationId: fields.text('organization') }),
      () => ({ kind: 'done', said: 'unfrozen' }),
    ),
    remove: acting(
      'remove_organization',
      (fields) => ({ targetOrganizationId: fields.text('organization'), confirm: fields.text('confirm').trim() }),
      () => ({ kind: 'done', said: 'removed' }),
    ),
  },
  async show(visit, state) {
    const page = cursorOf(state.query);
    const listed = await read<typeof listOrganizations>(visit, 'list_organizations', page);
    return html`${head('Organizations', 'Every organization of this box, with its size and last use.')}
    ${lineTable(visit, listed?.organizations ?? [])} ${nextPage(`${visit.base}/organizations`, listed?.nextCursor)}`;
  },
};

function lineTable(visit: Visit, all: readonly Line[]): Part {
  return table(
    'Organizations',
    ['Name', 'State', 'Size', 'Last used', ''],
    all.map((one) => [
      [one.name, html` <span class="soft"><code>${one.id}</code> since ${day(one.createdAt)}</span>`],
      state(one),
      size(one),
      one.lastUsedAt === null ? html`<span>never</span>` : day(one.lastUsedAt),
      one.origin !== 'operator' && can(visit, 'freeze_organization') && steer(visit, one),
    ]),
  );
}

function size({ domains, mailboxes, usedBytes }: Line): Part {
  const counted = (count: number, name: string, more: string): string => `${count} ${count === 1 ? name : more}`;
  const what = `${counted(domains, 'domain', 'domains')}, ${counted(mailboxes, 'mailbox', 'mailboxes')}`;
  return [what, html` <span class="soft">${bytes(usedBytes)}</span>`];
}

function state({ frozen, claimed, origin }: Line): Part {
  if (frozen) return tag('frozen', 'bad');
  if (origin === 'operator') return tag('runs this box', 'ok');
  return claimed ? tag('claimed', 'ok') : tag(origin === 'own' ? 'an agent’s own' : 'not claimed', 'warn');
}

function steer(visit: Visit, one: Line): Part {
  const { id, name, frozen } = one;
  const values = { organization: id };
  const freeze = {
    label: 'Freeze',
    question: `Tokens, sign-ins and mail logins of ${name} are refused until you unfreeze it. Mail for it is still taken in.`,
    yes: 'Freeze it',
    values,
  };
  return acts(
    frozen ? press(visit, 'unfreeze', 'Unfreeze', values) : sure(visit, 'freeze', freeze),
    can(visit, 'remove_organization') && removing(visit, one),
  );
}

function removing(visit: Visit, { id, name, slug }: Line): Part {
  const confirm = { name: 'confirm', id: `confirm-${id}`, label: `Its slug, ${slug}, to be sure`, autocomplete: 'off' };
  return sure(visit, 'remove', {
    label: 'Remove',
    question: `${name} is gone with all mail, domains and tokens. There is no undo.`,
    yes: 'Remove it for good',
    values: { organization: id },
    body: field(confirm),
  });
}
