import type { addEmailDomain } from '../../operations/domains/add.ts';
import type { listEmailDomains, getEmailDomain } from '../../operations/domains/list.ts';
import { field } from '../forms.ts';
import { type Html, html, type HtmlPart } from '../html.ts';
import {
  operationAction,
  formStateFor,
  type Page,
  actionForm,
  type PageState,
  actionButton,
  confirmedAction,
} from '../page.ts';
import { cursorOf, dateOnly, emptyState, pageHead, nextPage, table, tag, backLink, timestamp } from '../components.ts';
import { DNS_ACTIONS, DNS_NOTICES, dnsProviderSection } from './domain-dns.ts';
import { type OutputOf, isAllowed, readOperation, type Visit } from '../visit.ts';
import type { exportZone } from '../../operations/domains/dns.ts';
import type { verifyEmailDomain } from '../../operations/domains/verify.ts';

export type Domain = OutputOf<typeof listEmailDomains>['domains'][number];

export const domains: Page = {
  path: '/domains',
  name: 'Domains',
  menu: 'Mail',
  needs: 'list_email_domains',
  notices: { removed: 'Domain deleted.' },
  actions: {
    add: operationAction(
      'add_email_domain',
      (result, visit) => {
        const { domain } = result as OutputOf<typeof addEmailDomain>;
        return { kind: 'done', notice: 'added', to: `${visit.base}/domains/${domain.id}` };
      },
      (fields) => ({ domain: fields.line('domain') ?? '' }),
    ),
  },
  async show(visit, state) {
    const page = cursorOf(state.query);
    const listed = await readOperation<typeof listEmailDomains>(visit, 'list_email_domains', page);
    const all = listed?.domains ?? [];
    return html`${pageHead('Domains', 'Domains of this organization. A domain works once its DNS records are verified.')}
    ${all.length === 0 && !('cursor' in page) ? NONE : domainTable(visit, all)}
    ${nextPage(`${visit.base}/domains`, listed?.nextCursor)}
    ${isAllowed(visit, 'add_email_domain') && addForm(visit, state)}`;
  },
};

const NONE = emptyState('No domains', 'Add a domain that you own, then publish its DNS records.');

function addForm(visit: Visit, state: PageState): Html {
  const one = { name: 'domain', label: 'Domain', placeholder: 'example.com', hint: 'A domain whose DNS you control.' };
  return html`<section>
    <h2>Add a domain</h2>
    ${actionForm(visit, 'add', 'Add domain', field(one, formStateFor(state, 'add')))}
  </section>`;
}

export function domainTable({ base }: Visit, all: readonly Domain[]): Html {
  return table(
    'Domains',
    ['Domain', 'Status', 'Mailboxes', 'Last checked'],
    all.map((one) => [
      html`<a href="${base}/domains/${one.id}">${one.domain}</a>`,
      domainStatus(one),
      one.mailboxCount,
      one.lastCheckedAt === null ? html`<span>Never</span>` : dateOnly(one.lastCheckedAt),
    ]),
  );
}

/** Status tags of a domain. */
export function domainStatus(one: Domain): HtmlPart {
  if (one.status === 'unverified') return [tag('Unverified', 'warn'), ' ', one.dnsManaged && tag('Managed DNS')];
  if (one.sendingPaused) return tag('Sending paused', 'bad');
  if (one.failingSince !== null) return tag('Failing', 'warn');
  return [tag('Verified', 'ok'), ' ', one.dnsManaged && tag('Managed DNS')];
}

type DomainDetails = OutputOf<typeof getEmailDomain>;

const which = (params: Readonly<Record<string, string>>) => ({ domainId: params['id'] });

export const domain: Page = {
  path: '/domains/:id',
  name: 'Domain',
  menu: null,
  needs: 'get_email_domain',
  notices: {
    added: 'Domain added. Publish the records below, then check them.',
    verified: 'Domain verified. It can send and receive mail.',
    checked: 'Records checked. Missing or wrong ones are marked below.',
    sts: 'MTA-STS policy changed. Publish its TXT record: senders then read the new policy.',
    rotated: 'New DKIM keys created. They are used once their records are published.',
    ...DNS_NOTICES,
  },
  actions: {
    verify: operationAction(
      'verify_email_domain',
      (result) => {
        const { verified } = result as OutputOf<typeof verifyEmailDomain>;
        return { kind: 'done', notice: verified ? 'verified' : 'checked' };
      },
      (_fields, params) => which(params),
    ),
    ...DNS_ACTIONS,
    rotate: operationAction('rotate_dkim_keys', 'rotated', (_fields, params) => which(params)),
    sts: operationAction('set_mta_sts', 'sts', (fields, params) => ({ ...which(params), mode: fields.text('mode') })),
    remove: operationAction(
      'remove_email_domain',
      (_result, visit) => ({
        kind: 'done',
        notice: 'removed',
        to: `${visit.base}/domains`,
      }),
      (_fields, params) => which(params),
    ),
  },
  async show(visit, state) {
    const { params } = state;
    const found = await readOperation<typeof getEmailDomain>(visit, 'get_email_domain', which(params));
    if (found === undefined) return undefined;
    const zone = await readOperation<typeof exportZone>(visit, 'export_zone', which(params));
    const verify = isAllowed(visit, 'verify_email_domain') && actionButton(visit, 'verify', 'Check DNS', {}, '');
    return html`${backLink(`${visit.base}/domains`, 'Domains')}
    ${pageHead(found.domain.domain, domainStatus(found.domain), verify)} ${warning(found.domain)}
    ${checkList(found.domain)} ${reportsLink(visit, found.domain)} ${records(found)}
    ${!found.domain.dnsManaged && (await dnsProviderSection(visit, state))} ${stsPolicy(visit, found.domain)}
    ${zone !== undefined && zoneText(zone.zone)} ${changes(visit, found.domain)}`;
  },
};

function reportsLink(visit: Visit, one: Domain): HtmlPart {
  if (one.status !== 'verified' || !isAllowed(visit, 'get_dmarc_report')) return undefined;
  return html`<p>
    <a href="${visit.base}/domains/${one.id}/reports">Reports of other servers about ${one.domain}</a>
  </p>`;
}

function warning(one: Domain): HtmlPart {
  if (one.sendingPaused) {
    return html`<div class="note bad">
      <p>
        <strong>Sending from this domain is paused.</strong> Its checks have failed since
        ${one.failingSince !== null && timestamp(one.failingSince)}. It still receives mail. Correct the records, then
        check again.
      </p>
    </div>`;
  }
  if (one.failingSince !== null) {
    return html`<div class="note warn">
      <p>Checks have failed since ${timestamp(one.failingSince)}. After 72 hours, sending is paused.</p>
    </div>`;
  }
  return (
    one.status === 'unverified' &&
    html`<div class="note warn">
      <p>Until the domain is verified, mail for it is deferred and it cannot send.</p>
    </div>`
  );
}

const CHECKS = {
  inboundMx: 'Receiving (MX)',
  sendingIdentity: 'Sending (SPF)',
  dkim: 'Signatures (DKIM)',
  dmarc: 'Policy (DMARC)',
} as const;
const LOOKS = { pass: 'ok', fail: 'bad', pending: '' } as const;
const WORDS = { pass: 'Passed', fail: 'Failed', pending: 'Pending' } as const;

function checkList({ checks, lastCheckedAt }: Domain): Html {
  const names = Object.keys(CHECKS) as (keyof typeof CHECKS)[];
  return html`<section>
    <h2>Checks</h2>
    <p>${lastCheckedAt === null ? 'Not checked yet.' : ['Last checked ', timestamp(lastCheckedAt), '.']}</p>
    ${table(
      'Checks',
      ['Check', 'Result', 'Details'],
      names.map((name) => {
        const { status, detail } = checks[name];
        const details = lastCheckedAt === null ? '' : (detail ?? '');
        return [CHECKS[name], tag(WORDS[status], LOOKS[status]), details];
      }),
    )}
  </section>`;
}

const PURPOSES = {
  inbound_mx: 'Receiving',
  dkim: 'Signature',
  spf: 'Sending',
  dmarc: 'Policy',
  mta_sts: 'Encryption (MTA-STS)',
  tls_reports: 'Reports (TLS-RPT)',
  client_setup: 'Mail programs',
} as const;
const STATES = { ok: 'ok', missing: 'bad', mismatch: 'bad', unknown: '' } as const;
const SEEN = { ok: 'Published', missing: 'Missing', mismatch: 'Mismatch', unknown: 'Unknown' } as const;

function records({ records: all, domain: { dnsManaged } }: DomainDetails): Html {
  const about = dnsManaged
    ? 'This server is the name server of the domain. Nothing to publish.'
    : 'Publish these records at the DNS provider of the domain.';
  return html`<section>
    <h2>DNS records</h2>
    <p>${about}</p>
    ${table(
      'DNS records',
      ['Purpose', 'Name', 'Type', 'Value', 'Status'],
      all.map((one) => [
        [PURPOSES[one.purpose], !one.required && html` <span class="soft">recommended</span>`],
        html`<code>${one.name}</code>`,
        one.type,
        html`<code>${one.priority !== undefined && `${one.priority} `}${one.value}</code>`,
        [
          tag(SEEN[one.status], STATES[one.status]),
          one.status === 'mismatch' && html`<span class="soft">${one.observed.join(', ')}</span>`,
        ],
      ]),
    )}
  </section>`;
}

const STS_WORDS = {
  none: 'Published without demands: senders use encryption where they can.',
  testing: 'In testing: senders report failed encryption, and deliver anyway.',
  enforce: 'Enforced: senders deliver only over verified encryption.',
} as const;

/** MTA-STS: whether senders may deliver without verified TLS. */
function stsPolicy(visit: Visit, { mtaSts, status }: Domain): HtmlPart {
  if (status !== 'verified' || !isAllowed(visit, 'set_mta_sts')) return undefined;
  const steps = { none: 'testing', testing: 'enforce', enforce: 'testing' } as const;
  const [next, label] =
    mtaSts === null ? (['testing', 'Begin testing'] as const) : [steps[mtaSts], `Change to ${steps[mtaSts]}`];
  return html`<section>
    <h2>Encryption of incoming mail (MTA-STS)</h2>
    <p>${mtaSts === null ? 'No policy: an attacker in the network can prevent encryption.' : STS_WORDS[mtaSts]}</p>
    ${actionButton(visit, 'sts', label, { mode: next }, '')}
  </section>`;
}

function zoneText(zone: string): Html {
  return html`<details class="more">
    <summary>Zone file format</summary>
    <pre class="copy" tabindex="0">${zone}</pre>
  </details>`;
}

function changes(visit: Visit, one: Domain): HtmlPart {
  const rotate = {
    label: 'Rotate DKIM keys',
    calm: true as const,
    question: 'Creates keys under new selectors. The old ones stay published for a week.',
    yes: 'Rotate keys',
  };
  const remove = {
    label: 'Delete domain',
    question: `Deletes ${one.domain} with its keys and forwards. If added again, it must be verified again.`,
    yes: 'Delete',
  };
  return html`<section>
    <h2>Changes</h2>
    <div class="stack">
      ${isAllowed(visit, 'rotate_dkim_keys') && html`<div>${confirmedAction(visit, 'rotate', rotate)}</div>`}
      ${isAllowed(visit, 'remove_email_domain') && html`<div>${confirmedAction(visit, 'remove', remove)}</div>`}
      ${
        one.mailboxCount > 0 &&
        html`<p class="small soft">
          Delete its ${one.mailboxCount} ${one.mailboxCount === 1 ? 'mailbox' : 'mailboxes'} first.
        </p>`
      }
    </div>
  </section>`;
}
