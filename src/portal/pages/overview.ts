import type { listEmailDomains } from '../../operations/domains/list.ts';
import type { listEmails } from '../../operations/mailboxes/list.ts';
import type { listEmailForwarders } from '../../operations/sending/forwarders.ts';
import type { listServicesOf } from '../../operations/services/services.ts';
import { OPERATOR } from '../../../mail/store/account/account.ts';
import { type Html, html, type HtmlPart } from '../html.ts';
import type { Page } from '../page.ts';
import { address, emptyState, pageHead, table } from '../components.ts';
import { readOperation, type Visit } from '../visit.ts';
import { type Translator, translatorOf } from '../translator.ts';
import { attention } from './attention.ts';
import { overviewCharts } from './overview-charts.ts';
import { canaryAlertList } from './canaries.ts';
import { eventTable, recentEvents } from './audit.ts';
import { domainTable } from './domains.ts';
import { setupNote } from './setup/setup.ts';
import { mailboxTable } from './mailboxes.ts';
import { serviceTable } from './services.ts';

const FEW = { limit: 6 };

/** Overview of the organization: resources, pending items and recent activity. */
export const overview: Page = {
  path: '',
  name: 'Overview',
  translated: true,
  menu: 'Mail',
  needs: 'list_emails',
  notices: {
    claimed: { message: 'overview.claimed' },
    proven: { message: 'account.done-proven' },
    joined: { message: 'overview.joined' },
  },
  actions: {},
  calls: () => [
    { name: 'get_email_stats', arguments: { from: '2030-01-01T00:00:00Z', bucket: 'hour' } },
    { name: 'get_server_history', arguments: { hours: 24 } },
  ],
  async show(visit, { query }) {
    const t = translatorOf(visit.request);
    return html`${pageHead(visit.membership.name)} ${noPassword(t, visit)} ${unproven(t, visit)} ${closed(t, visit)}
    ${await setupNote(visit)} ${await canaryAlertList(visit, t)} ${await attention(visit)}
    ${await overviewCharts(visit, query)} ${await domains(t, visit)} ${await mailboxes(t, visit)}
    ${await services(t, visit)} ${await forwards(t, visit)} ${await activity(t, visit)}`;
  },
};

/** Warns visitors without a password: their sign-in link worked only once. */
function noPassword(t: Translator, { visitor: { person } }: Visit): HtmlPart {
  return (
    person.password === null &&
    html`<div class="note">
      <p>
        <strong>${t('overview.no-password')}</strong>
        ${t.rich('overview.set-password', { link: html`<a href="/account">${t('overview.set-password-link')}</a>` })}
      </p>
    </div>`
  );
}

/** Informs the operator that nobody else can create an organization, and how to change that. */
function closed(t: Translator, { context: { settings }, membership }: Visit): HtmlPart {
  return (
    membership.organization === OPERATOR &&
    settings.bootstrap === 'off' &&
    html`<div class="note">
      <p>
        <strong>${t('overview.closed')}</strong>
        ${t.rich('overview.bootstrap', { setting: html`<code>MAILSTEAD_BOOTSTRAP</code>`, open: html`<code>open</code>`, invite: html`<code>invite</code>` })}
      </p>
    </div>`
  );
}

function unproven(t: Translator, { visitor: { person }, membership: { role } }: Visit): HtmlPart {
  return (
    !person.addressProven &&
    html`<div class="note warn">
      <p>
        <strong>${t('overview.unverified', { address: person.email })}</strong>
        ${t(role === 'owner' ? 'overview.unverified-owner' : 'overview.unverified-member')}
        <a href="/account">${t('overview.verify')}</a>
      </p>
    </div>`
  );
}

function part(t: Translator, visit: Visit, name: string, path: string, body: Html): Html {
  return html`<section>
    <div class="titled">
      <h2>${name}</h2>
      <a class="small" href="${visit.base}${path}"
        >${t('overview.all')}<span class="hidden"> ${t('overview.of', { name })}</span></a
      >
    </div>
    ${body}
  </section>`;
}

async function domains(t: Translator, visit: Visit): Promise<HtmlPart> {
  const listed = await readOperation<typeof listEmailDomains>(visit, 'list_email_domains', FEW);
  if (listed === undefined) return undefined;
  const add = html`<a href="${visit.base}/domains">${t('domains.add')}</a>`;
  const none = emptyState(t('domains.none'), html`${t('mailboxes.needs-domain')} ${add}.`);
  return part(
    t,
    visit,
    t('page.Domains'),
    '/domains',
    listed.domains.length === 0 ? none : domainTable(visit, listed.domains),
  );
}

async function mailboxes(t: Translator, visit: Visit): Promise<HtmlPart> {
  const listed = await readOperation<typeof listEmails>(visit, 'list_emails', FEW);
  if (listed === undefined) return undefined;
  const make = html`<a href="${visit.base}/mailboxes">${t('mailboxes.create-title')}</a>.`;
  const none = emptyState(t('mailboxes.none'), visit.caller.mailboxes === null ? make : t('mailboxes.ask'));
  const body = listed.mailboxes.length === 0 ? none : html`${mailboxTable(visit, listed.mailboxes)}`;
  return part(t, visit, t('page.Mailboxes'), '/mailboxes', body);
}

async function services(t: Translator, visit: Visit): Promise<HtmlPart> {
  const listed = await readOperation<typeof listServicesOf>(visit, 'list_services', FEW);
  if (listed === undefined || listed.services.length === 0) return undefined;
  return part(t, visit, t('page.Services'), '/services', html`${serviceTable(visit, listed.services)}`);
}

async function forwards(t: Translator, visit: Visit): Promise<HtmlPart> {
  const listed = await readOperation<typeof listEmailForwarders>(visit, 'list_email_forwarders', FEW);
  if (listed === undefined || listed.forwarders.length === 0) return undefined;
  const rows = listed.forwarders.map((one) => [address(one.sourceAddress), address(one.destinationAddress)]);
  const headings = [t('devices.address'), t('overview.destination')];
  return part(t, visit, t('page.Forwarding'), '/forwarding', table(t('page.Forwarding'), headings, rows, t));
}

async function activity(t: Translator, visit: Visit): Promise<HtmlPart> {
  const events = await recentEvents(visit);
  return (
    events !== undefined &&
    events.length > 0 &&
    part(t, visit, t('overview.activity'), '/audit', html`${eventTable(t, events)}`)
  );
}
