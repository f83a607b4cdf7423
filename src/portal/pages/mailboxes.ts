import type { listEmailDomains } from '../../operations/domains/list.ts';
import type { listEmails } from '../../operations/mailboxes/list.ts';
import type { provisionEmail } from '../../operations/mailboxes/provision.ts';
import { field, select } from '../forms.ts';
import { html, type HtmlPart } from '../html.ts';
import { operationAction, formStateFor, type Page, actionForm, type PageState } from '../page.ts';
import { DELETED_MAILBOX_ACTIONS, deletedMailboxTable } from './deleted.ts';
import { address, buttonRow, bytes, cursorOf, emptyState, pageHead, nextPage, table, tag } from '../components.ts';
import { ENGLISH, type Translator, translatorOf } from '../translator.ts';
import { type OutputOf, isAllowed, readOperation, type Visit } from '../visit.ts';

export type MailboxRow = OutputOf<typeof listEmails>['mailboxes'][number];

export const mailboxes: Page = {
  path: '/mailboxes',
  name: 'Mailboxes',
  translated: true,
  menu: 'Mail',
  needs: 'list_emails',
  notices: {
    deleted: { message: 'mailboxes.deleted' },
    purged: { message: 'mailboxes.purged' },
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
    const t = translatorOf(visit.request);
    return html`${pageHead(t('page.Mailboxes'), t('mailboxes.about'), csvLinks(t, visit))}
    ${all.length === 0 && !('cursor' in page) ? none(t, visit) : mailboxTable(visit, all)}
    ${nextPage(`${visit.base}/mailboxes`, listed?.nextCursor, t)}
    ${isAllowed(visit, 'provision_email') && (await makeForm(t, visit, state))}
    ${await deletedMailboxTable(visit, state)}`;
  },
};

function csvLinks(t: Translator, visit: Visit): HtmlPart {
  return buttonRow(
    isAllowed(visit, 'provision_email') &&
      html`<a class="button quiet" href="${visit.base}/mailboxes/import">${t('mailboxes.import')}</a>`,
    html`<a class="button quiet" href="${visit.base}/mailboxes.csv">${t('mailboxes.export')}</a>`,
  );
}

function none(t: Translator, visit: Visit): HtmlPart {
  if (!isAllowed(visit, 'provision_email')) {
    return emptyState(t('mailboxes.none'), t('mailboxes.ask-here'));
  }
  return emptyState(t('mailboxes.none'), t('mailboxes.none-text'));
}

async function makeForm(t: Translator, visit: Visit, state: PageState): Promise<HtmlPart> {
  const domains =
    (await readOperation<typeof listEmailDomains>(visit, 'list_email_domains', { limit: 100 }))?.domains ?? [];
  const heading = html`<h2>${t('mailboxes.create-title')}</h2>`;
  if (domains.length === 0) {
    const first = html`<p>
      ${t('mailboxes.needs-domain')}
      ${t.rich('mailboxes.add-first', { link: html`<a href="${visit.base}/domains">${t('domains.add')}</a>` })}
    </p>`;
    return html`<section>${heading}${first}</section>`;
  }
  const formState = formStateFor(state, 'make');
  // A mailbox of a verified domain works at once: such a domain is chosen when there is one.
  const verifiedFirst = domains.toSorted((a, b) => Number(b.status === 'verified') - Number(a.status === 'verified'));
  const choices = verifiedFirst.map(({ id, domain, status }) => ({
    value: id,
    label: status === 'verified' ? `@${domain}` : t('mailboxes.unverified-domain', { domain: `@${domain}` }),
  }));
  const optional = t('field.optional');
  const name = { name: 'displayName', label: t('account.name'), optional, hint: t('mailboxes.name-hint') };
  return html`<section>
    ${heading}
    ${actionForm(
      visit,
      'make',
      t('mailboxes.create'),
      html`<div class="row">
          ${field({ name: 'localPart', label: t('devices.address'), placeholder: 'anna' }, formState)}
          ${select({ name: 'domainId', label: t('page.Domain'), choices }, formState)}
        </div>
        ${field(name, formState)}`,
    )}
  </section>`;
}

export function mailboxTable({ base, request }: Visit, all: readonly MailboxRow[]): HtmlPart {
  const t = translatorOf(request);
  return table(
    t('page.Mailboxes'),
    [t('devices.address'), t('domains.status'), t('mailboxes.size'), t('page.Services')],
    all.map((one) => [
      [
        html`<a href="${base}/mailboxes/${one.id}">${address(one.address)}</a>`,
        one.displayName !== null && html` <span class="soft">${one.displayName}</span>`,
      ],
      mailboxStatus(one, t),
      sizeOf(t, one),
      one.attachedServiceIds.length === 0 ? '' : one.attachedServiceIds.length,
    ]),
    t,
  );
}

/** Size of a mailbox, with its limit. */
function sizeOf(t: Translator, { usedBytes, quotaBytes }: MailboxRow): string {
  const used = bytes(usedBytes, t);
  return quotaBytes === null ? used : t('mailboxes.used-of', { used, quota: bytes(quotaBytes, t) });
}

export function mailboxStatus(one: MailboxRow, t: Translator = ENGLISH): HtmlPart {
  if (one.sendingPaused) return tag(t('mailboxes.paused'), 'bad');
  return one.dnsStatus === 'verified' ? tag(t('state.active'), 'ok') : tag(t('mailboxes.domain-unverified'), 'warn');
}
