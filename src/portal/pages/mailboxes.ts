import type { listEmailDomains } from '../../operations/domains/list.ts';
import type { listEmails } from '../../operations/mailboxes/list.ts';
import type { provisionEmail } from '../../operations/mailboxes/provision.ts';
import { field, select } from '../forms.ts';
import { html, type HtmlPart } from '../html.ts';
import { operationAction, formStateFor, type Page, actionForm, type PageState } from '../page.ts';
import { DELETED_MAILBOX_ACTIONS, deletedMailboxes } from './deleted.ts';
import { address, buttonRow, bytes, cursorOf, emptyState, pageHead, nextPage, table, tag } from '../components.ts';
import { type OutputOf, isAllowed, readOperation, type Visit } from '../visit.ts';

export type MailboxRow = OutputOf<typeof listEmails>['mailboxes'][number];

export const mailboxes: Page = {
  path: '/mailboxes',
  name: 'Mailboxes',
  menu: 'Mail',
  needs: 'list_emails',
  notices: {
    deleted: 'Mailbox deleted. You can restore it below for 30 days.',
    purged: 'Mailbox deleted permanently with all its mail.',
  },
  actions: {
    ...DELETED_MAILBOX_ACTIONS,
    make: operationAction(
      'provision_email',
      (result, visit) => {
        const { mailbox } = result as OutputOf<typeof provisionEmail>;
        return { kind: 'done', notice: 'made', to: `${visit.base}/mailboxes/${mailbox.id}` };
      },
      (fields) => ({
        localPart: fields.line('localPart') ?? '',
        domainId: fields.line('domainId'),
        displayName: fields.line('displayName'),
      }),
    ),
  },
  async show(visit, state) {
    const page = cursorOf(state.query);
    const listed = await readOperation<typeof listEmails>(visit, 'list_emails', page);
    const all = listed?.mailboxes ?? [];
    const about = 'Mailboxes with IMAP, SMTP and JMAP access, for people and programs.';
    return html`${pageHead('Mailboxes', about, csvLinks(visit))}
    ${all.length === 0 && !('cursor' in page) ? none(visit) : mailboxTable(visit, all)}
    ${nextPage(`${visit.base}/mailboxes`, listed?.nextCursor)}
    ${isAllowed(visit, 'provision_email') && (await makeForm(visit, state))} ${await deletedMailboxes(visit, state)}`;
  },
};

function csvLinks(visit: Visit): HtmlPart {
  return buttonRow(
    isAllowed(visit, 'provision_email') &&
      html`<a class="button quiet" href="${visit.base}/mailboxes/import">Import CSV</a>`,
    html`<a class="button quiet" href="${visit.base}/mailboxes.csv">Export CSV</a>`,
  );
}

function none(visit: Visit): HtmlPart {
  if (!isAllowed(visit, 'provision_email')) {
    return emptyState('No mailboxes', 'Ask an administrator of this organization for a mailbox.');
  }
  return emptyState('No mailboxes', 'Create one below. Its password is created for you and can be shown at any time.');
}

async function makeForm(visit: Visit, state: PageState): Promise<HtmlPart> {
  const domains =
    (await readOperation<typeof listEmailDomains>(visit, 'list_email_domains', { limit: 100 }))?.domains ?? [];
  const heading = html`<h2>Create a mailbox</h2>`;
  if (domains.length === 0) {
    const first = html`<p>A mailbox needs a domain. <a href="${visit.base}/domains">Add a domain</a> first.</p>`;
    return html`<section>${heading}${first}</section>`;
  }
  const formState = formStateFor(state, 'make');
  // A mailbox of a verified domain works at once: such a domain is chosen when there is one.
  const verifiedFirst = domains.toSorted((a, b) => Number(b.status === 'verified') - Number(a.status === 'verified'));
  const choices = verifiedFirst.map(({ id, domain, status }) => ({
    value: id,
    label: `@${domain}${status === 'verified' ? '' : ' (unverified)'}`,
  }));
  const name = { name: 'displayName', label: 'Name', optional: true, hint: 'Display name of its user.' };
  return html`<section>
    ${heading}
    ${actionForm(
      visit,
      'make',
      'Create mailbox',
      html`<div class="row">
          ${field({ name: 'localPart', label: 'Address', placeholder: 'anna' }, formState)}
          ${select({ name: 'domainId', label: 'Domain', choices }, formState)}
        </div>
        ${field(name, formState)}`,
    )}
  </section>`;
}

export function mailboxTable({ base }: Visit, all: readonly MailboxRow[]): HtmlPart {
  return table(
    'Mailboxes',
    ['Address', 'Status', 'Size', 'Services'],
    all.map((one) => [
      [
        html`<a href="${base}/mailboxes/${one.id}">${address(one.address)}</a>`,
        one.displayName !== null && html` <span class="soft">${one.displayName}</span>`,
      ],
      mailboxStatus(one),
      [bytes(one.usedBytes), one.quotaBytes !== null && ` of ${bytes(one.quotaBytes)}`],
      one.attachedServiceIds.length === 0 ? '' : one.attachedServiceIds.length,
    ]),
  );
}

export function mailboxStatus(one: MailboxRow): HtmlPart {
  if (one.sendingPaused) return tag('Sending paused', 'bad');
  return one.dnsStatus === 'verified' ? tag('Active', 'ok') : tag('Domain unverified', 'warn');
}
