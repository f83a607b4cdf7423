import type { listEmailDomains } from '../../operations/domains/list.ts';
import type { listEmails } from '../../operations/mailboxes/list.ts';
import type { provisionEmail } from '../../operations/mailboxes/provision.ts';
import { field, select } from '../forms.ts';
import { html, type Part } from '../html.ts';
import { acting, filledFor, type Page, sheet, type State } from '../page.ts';
import { address, bytes, cursorOf, empty, head, nextPage, table, tag } from '../parts.ts';
import { type Answer, can, read, type Visit } from '../visit.ts';

export type Mailbox = Answer<typeof listEmails>['mailboxes'][number];

export const mailboxes: Page = {
  path: '/mailboxes',
  name: 'Mailboxes',
  menu: 'Mail',
  needs: 'list_emails',
  done: { deleted: 'The mailbox is deleted, with all mail in it.' },
  acts: {
    make: acting(
      'provision_email',
      (fields) => ({
        localPart: fields.line('localPart') ?? '',
        domainId: fields.line('domainId'),
        displayName: fields.line('displayName'),
      }),
      (result, visit) => {
        const { mailbox } = result as Answer<typeof provisionEmail>;
        return { kind: 'done', said: 'made', to: `${visit.base}/mailboxes/${mailbox.id}` };
      },
    ),
  },
  async show(visit, state) {
    const page = cursorOf(state.query);
    const listed = await read<typeof listEmails>(visit, 'list_emails', page);
    const all = listed?.mailboxes ?? [];
    const about = 'Real mailboxes: IMAP, SMTP and JMAP, for people and programs alike.';
    return html`${head('Mailboxes', about)}
    ${all.length === 0 && !('cursor' in page) ? none(visit) : mailboxTable(visit, all)}
    ${nextPage(`${visit.base}/mailboxes`, listed?.nextCursor)}
    ${can(visit, 'provision_email') && (await makeForm(visit, state))}`;
  },
};

function none(visit: Visit): Part {
  if (!can(visit, 'provision_email')) {
    return empty('No mailbox yet', 'An administrator of this organization gives you mailboxes of your own.');
  }
  return empty('No mailbox yet', 'Make one below; its password is made for you and can be shown at any time.');
}

async function makeForm(visit: Visit, state: State): Promise<Part> {
  const domains = (await read<typeof listEmailDomains>(visit, 'list_email_domains', { limit: 100 }))?.domains ?? [];
  const heading = html`<h2>Make a mailbox</h2>`;
  if (domains.length === 0) {
    const first = html`<p>Every mailbox lives on a domain: <a href="${visit.base}/domains">add a domain</a> first.</p>`;
    return html`<section>${heading}${first}</section>`;
  }
  const filled = filledFor(state, 'make');
  const choices = domains.map(({ id, domain, status }) => ({
    value: id,
    label: `@${domain}${status === 'verified' ? '' : ' (not verified yet)'}`,
  }));
  const name = { name: 'displayName', label: 'Name', optional: true, hint: 'Who or what it is of.' };
  return html`<section>
    ${heading}
    ${sheet(
      visit,
      'make',
      'Make the mailbox',
      html`<div class="row">
          ${field({ name: 'localPart', label: 'Address', placeholder: 'anna' }, filled)}
          ${select({ name: 'domainId', label: 'Domain', choices }, filled)}
        </div>
        ${field(name, filled)}`,
    )}
  </section>`;
}

export function mailboxTable({ base }: Visit, all: readonly Mailbox[]): Part {
  return table(
    'Mailboxes',
    ['Address', 'Mail', 'Size', 'Services'],
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

export function mailboxStatus(one: Mailbox): Part {
  if (one.sendingPaused) return tag('sending paused', 'bad');
  return one.dnsStatus === 'verified' ? tag('flows', 'ok') : tag('domain not verified', 'warn');
}
