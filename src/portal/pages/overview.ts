import type { listEmailDomains } from '../../operations/domains/list.ts';
import type { listEmails } from '../../operations/mailboxes/list.ts';
import type { listEmailForwarders } from '../../operations/sending/forwarders.ts';
import type { listServicesOf } from '../../operations/services/services.ts';
import { OPERATOR } from '../../../mail/store/account/account.ts';
import { type Html, html, type HtmlPart } from '../html.ts';
import type { Page } from '../page.ts';
import { address, emptyState, pageHead, table } from '../components.ts';
import { readOperation, type Visit } from '../visit.ts';
import { attention } from './attention.ts';
import { overviewCharts } from './overview-charts.ts';
import { canaryAlerts } from './canaries.ts';
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
  menu: 'Mail',
  needs: 'list_emails',
  notices: {
    claimed: 'Organization claimed. Review it below; the audit log lists earlier changes.',
    proven: 'Address verified. You now receive owner notices and can reset your password by email.',
    joined: 'Welcome. You joined this organization.',
  },
  actions: {},
  calls: () => [
    { name: 'get_email_stats', arguments: { from: '2030-01-01T00:00:00Z', bucket: 'hour' } },
    { name: 'get_server_history', arguments: { hours: 24 } },
  ],
  async show(visit, { query }) {
    return html`${pageHead(visit.membership.name)} ${noPassword(visit)} ${unproven(visit)} ${closed(visit)}
    ${await setupNote(visit)} ${await canaryAlerts(visit)} ${await attention(visit)}
    ${await overviewCharts(visit, query)} ${await domains(visit)} ${await mailboxes(visit)} ${await services(visit)}
    ${await forwards(visit)} ${await activity(visit)}`;
  },
};

/** Warns visitors without a password: their sign-in link worked only once. */
function noPassword({ visitor: { person } }: Visit): HtmlPart {
  return (
    person.password === null &&
    html`<div class="note">
      <p><strong>You have no password.</strong> <a href="/account">Set one</a> to sign in without a link.</p>
    </div>`
  );
}

/** Informs the operator that nobody else can create an organization, and how to change that. */
function closed({ context: { settings }, membership }: Visit): HtmlPart {
  return (
    membership.organization === OPERATOR &&
    settings.bootstrap === 'off' &&
    html`<div class="note">
      <p>
        <strong>Only you can create organizations on this server.</strong> Set <code>MAILSTEAD_BOOTSTRAP</code> to
        <code>open</code> for anybody and their agents, or to <code>invite</code> for token holders.
      </p>
    </div>`
  );
}

function unproven({ visitor: { person }, membership: { role } }: Visit): HtmlPart {
  const owned = role === 'owner' && 'you receive no notices of this organization, including approval requests, and ';
  return (
    !person.addressProven &&
    html`<div class="note warn">
      <p>
        <strong>${person.email} is not verified.</strong> Until it is, ${owned}you cannot reset your password by email.
        <a href="/account">Verify it</a>
      </p>
    </div>`
  );
}

function part(visit: Visit, name: string, path: string, body: Html): Html {
  return html`<section>
    <div class="titled">
      <h2>${name}</h2>
      <a class="small" href="${visit.base}${path}">All${html`<span class="hidden"> of ${name}</span>`}</a>
    </div>
    ${body}
  </section>`;
}

async function domains(visit: Visit): Promise<HtmlPart> {
  const listed = await readOperation<typeof listEmailDomains>(visit, 'list_email_domains', FEW);
  if (listed === undefined) return undefined;
  const none = emptyState(
    'No domains',
    html`A mailbox needs a domain. <a href="${visit.base}/domains">Add a domain</a>.`,
  );
  return part(visit, 'Domains', '/domains', listed.domains.length === 0 ? none : domainTable(visit, listed.domains));
}

async function mailboxes(visit: Visit): Promise<HtmlPart> {
  const listed = await readOperation<typeof listEmails>(visit, 'list_emails', FEW);
  if (listed === undefined) return undefined;
  const make = html`<a href="${visit.base}/mailboxes">Create a mailbox</a>.`;
  const none = emptyState(
    'No mailboxes',
    visit.caller.mailboxes === null ? make : 'Ask an administrator for a mailbox.',
  );
  const body = listed.mailboxes.length === 0 ? none : html`${mailboxTable(visit, listed.mailboxes)}`;
  return part(visit, 'Mailboxes', '/mailboxes', body);
}

async function services(visit: Visit): Promise<HtmlPart> {
  const listed = await readOperation<typeof listServicesOf>(visit, 'list_services', FEW);
  if (listed === undefined || listed.services.length === 0) return undefined;
  return part(visit, 'Services', '/services', html`${serviceTable(visit, listed.services)}`);
}

async function forwards(visit: Visit): Promise<HtmlPart> {
  const listed = await readOperation<typeof listEmailForwarders>(visit, 'list_email_forwarders', FEW);
  if (listed === undefined || listed.forwarders.length === 0) return undefined;
  const rows = listed.forwarders.map((one) => [address(one.sourceAddress), address(one.destinationAddress)]);
  return part(visit, 'Forwarding', '/forwarding', table('Forwards', ['Address', 'Destination'], rows));
}

async function activity(visit: Visit): Promise<HtmlPart> {
  const events = await recentEvents(visit);
  return (
    events !== undefined && events.length > 0 && part(visit, 'Recent activity', '/audit', html`${eventTable(events)}`)
  );
}
