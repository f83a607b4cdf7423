import type { listEmailDomains } from '../../operations/domains/list.ts';
import type { listEmails } from '../../operations/mailboxes/list.ts';
import type { listQueueItems } from '../../operations/queue/list.ts';
import type { listEmailForwarders } from '../../operations/sending/forwarders.ts';
import type { listServicesOf } from '../../operations/services/services.ts';
import { pendingProposals } from '../../agents/proposal-queries.ts';
import { type Html, html, type Part } from '../html.ts';
import type { Page } from '../page.ts';
import { address, empty, head, table } from '../parts.ts';
import { can, read, type Visit } from '../visit.ts';
import { tripped } from './canaries.ts';
import { eventTable, newest } from './audit.ts';
import { domainTable } from './domains.ts';
import { mailboxTable } from './mailboxes.ts';
import { serviceTable } from './services.ts';

const FEW = { limit: 6 };

/** The organization at a glance: what there is, what waits, what happened last. */
export const overview: Page = {
  path: '',
  name: 'Overview',
  menu: 'Mail',
  needs: 'list_emails',
  done: {
    claimed: 'The organization is yours. Look through it below; the audit log says what was done before you came.',
    proven:
      'Your address is proved: what owners are told comes to it, and a forgotten password can be replaced by mail.',
    joined: 'Welcome: you belong to this organization now.',
  },
  acts: {},
  async show(visit) {
    return html`${head(visit.membership.name)} ${noPassword(visit)} ${unproven(visit)} ${await tripped(visit)}
    ${await proposed(visit)} ${await waiting(visit)} ${await domains(visit)} ${await mailboxes(visit)}
    ${await services(visit)} ${await forwards(visit)} ${await activity(visit)}`;
  },
};

/** Who came by a link that signs in once would not get in again. */
function noPassword({ visitor: { person } }: Visit): Part {
  return (
    person.password === null &&
    html`<div class="note">
      <p><strong>You have no password yet.</strong> <a href="/account">Set one</a>, to sign in again without a link.</p>
    </div>`
  );
}

function unproven({ visitor: { person }, membership: { role } }: Visit): Part {
  const owned =
    role === 'owner' && 'you are told nothing of this organization by mail, not even what waits for you, and ';
  return (
    !person.addressProven &&
    html`<div class="note warn">
      <p>
        <strong>${person.email} is not proved yet.</strong> Until it is, ${owned}a forgotten password cannot be replaced
        by mail. <a href="/account">Prove it</a>
      </p>
    </div>`
  );
}

async function proposed(visit: Visit): Promise<Part> {
  const { world, membership } = visit;
  if (!can(visit, 'decide_proposal')) return undefined;
  const asked = { organization: membership.organization, now: world.clock() };
  const count = await world.store.read(pendingProposals, asked);
  return (
    count > 0 &&
    html`<div class="note">
      <p>
        ${count} ${count === 1 ? 'proposal of an agent waits' : 'proposals of agents wait'} for you.
        <a href="${visit.base}/proposals">Look at what they ask for</a>
      </p>
    </div>`
  );
}

async function waiting(visit: Visit): Promise<Part> {
  const held = await read<typeof listQueueItems>(visit, 'list_queue', { state: 'held', limit: 25 });
  const count = held?.items.length ?? 0;
  const many = held?.nextCursor === null ? String(count) : `More than ${count}`;
  return (
    count > 0 &&
    html`<div class="note">
      <p>
        ${many} ${count === 1 ? 'mail is' : 'mails are'} held back. <a href="${visit.base}/queue">Look at the queue</a>
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

async function domains(visit: Visit): Promise<Part> {
  const listed = await read<typeof listEmailDomains>(visit, 'list_email_domains', FEW);
  if (listed === undefined) return undefined;
  const none = empty(
    'No domain yet',
    html`Every address lives on a domain of yours. <a href="${visit.base}/domains">Add the first one</a>.`,
  );
  return part(visit, 'Domains', '/domains', listed.domains.length === 0 ? none : domainTable(visit, listed.domains));
}

async function mailboxes(visit: Visit): Promise<Part> {
  const listed = await read<typeof listEmails>(visit, 'list_emails', FEW);
  if (listed === undefined) return undefined;
  const make = html`<a href="${visit.base}/mailboxes">Make the first one</a>.`;
  const none = empty('No mailbox yet', visit.caller.mailboxes === null ? make : 'An administrator gives you yours.');
  const body = listed.mailboxes.length === 0 ? none : html`${mailboxTable(visit, listed.mailboxes)}`;
  return part(visit, 'Mailboxes', '/mailboxes', body);
}

async function services(visit: Visit): Promise<Part> {
  const listed = await read<typeof listServicesOf>(visit, 'list_services', FEW);
  if (listed === undefined || listed.services.length === 0) return undefined;
  return part(visit, 'Services', '/services', html`${serviceTable(visit, listed.services)}`);
}

async function forwards(visit: Visit): Promise<Part> {
  const listed = await read<typeof listEmailForwarders>(visit, 'list_email_forwarders', FEW);
  if (listed === undefined || listed.forwarders.length === 0) return undefined;
  const rows = listed.forwarders.map((one) => [address(one.sourceAddress), address(one.destinationAddress)]);
  return part(visit, 'Forwarding', '/forwarding', table('Forwards', ['Mail for', 'Goes to'], rows));
}

async function activity(visit: Visit): Promise<Part> {
  const events = await newest(visit);
  return (
    events !== undefined &&
    events.length > 0 &&
    part(visit, 'What happened last', '/audit', html`${eventTable(events)}`)
  );
}
