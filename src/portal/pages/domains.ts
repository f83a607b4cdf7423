import { impactOf } from '../../doctor/impact.ts';
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
import {
  cursorOf,
  dateOnly,
  emptyState,
  breakableName,
  pageHead,
  nextPage,
  table,
  tag,
  backLink,
  timestamp,
} from '../components.ts';
import { type Translator, translatorOf } from '../translator.ts';
import { DNS_ACTIONS, DNS_NOTICES, dnsProviderSection } from './domain-dns.ts';
import { type OutputOf, isAllowed, readOperation, type Visit } from '../visit.ts';
import type { exportZone } from '../../operations/domains/dns.ts';
import type { verifyEmailDomain } from '../../operations/domains/verify.ts';

export type Domain = OutputOf<typeof listEmailDomains>['domains'][number];

export const domains: Page = {
  path: '/domains',
  name: 'Domains',
  translated: true,
  menu: 'Mail',
  needs: 'list_email_domains',
  notices: { removed: { message: 'domains.removed' } },
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
    const t = translatorOf(visit.request);
    return html`${pageHead(t('page.Domains'), t('domains.about'))}
    ${all.length === 0 && !('cursor' in page) ? emptyState(t('domains.none'), t('domains.none-text')) : domainTable(visit, all)}
    ${nextPage(`${visit.base}/domains`, listed?.nextCursor, t)}
    ${isAllowed(visit, 'add_email_domain') && addForm(t, visit, state)}`;
  },
};

function addForm(t: Translator, visit: Visit, state: PageState): Html {
  const one = { name: 'domain', label: t('page.Domain'), placeholder: 'example.com', hint: t('domains.hint') };
  return html`<section>
    <h2>${t('domains.add')}</h2>
    ${actionForm(visit, 'add', t('domains.add-button'), field(one, formStateFor(state, 'add')))}
  </section>`;
}

export function domainTable({ base, request }: Visit, all: readonly Domain[]): Html {
  const t = translatorOf(request);
  return table(
    t('page.Domains'),
    [t('page.Domain'), t('domains.status'), t('page.Mailboxes'), t('domains.checked')],
    all.map((one) => [
      html`<a href="${base}/domains/${one.id}">${one.domain}</a>`,
      domainStatus(one, t),
      one.mailboxCount,
      one.lastCheckedAt === null ? html`<span>${t('devices.never')}</span>` : dateOnly(one.lastCheckedAt, t),
    ]),
    t,
  );
}

/** Status tags of a domain. */
export function domainStatus(one: Domain, t: Translator): HtmlPart {
  const managed = one.dnsManaged && tag(t('domains.managed'));
  if (one.status === 'unverified') return [tag(t('domains.unverified'), 'warn'), ' ', managed];
  if (one.sendingPaused) return tag(t('mailboxes.paused'), 'bad');
  if (one.failingSince !== null) return tag(t('domains.failing'), 'warn');
  return [tag(t('domains.verified'), 'ok'), ' ', managed];
}

type DomainDetails = OutputOf<typeof getEmailDomain>;

const which = (params: Readonly<Record<string, string>>) => ({ domainId: params['id'] });

export const domain: Page = {
  path: '/domains/:id',
  name: 'Domain',
  translated: true,
  menu: null,
  needs: 'get_email_domain',
  notices: {
    added: { message: 'domain.added' },
    verified: { message: 'domain.verified' },
    checked: { message: 'domain.checked' },
    sts: { message: 'domain.sts-changed' },
    rotated: { message: 'domain.rotated' },
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
    const t = translatorOf(visit.request);
    const verify = isAllowed(visit, 'verify_email_domain') && actionButton(visit, 'verify', t('domain.check'), {}, '');
    return html`${backLink(`${visit.base}/domains`, t('page.Domains'))}
    ${pageHead(found.domain.domain, domainStatus(found.domain, t), verify)} ${warning(t, found.domain)}
    ${checkList(t, found.domain)} ${reportsLink(t, visit, found.domain)} ${records(t, found)}
    ${!found.domain.dnsManaged && (await dnsProviderSection(visit, state))} ${stsPolicy(t, visit, found.domain)}
    ${zone !== undefined && zoneText(t, zone.zone)} ${changes(t, visit, found.domain)}`;
  },
};

function reportsLink(t: Translator, visit: Visit, one: Domain): HtmlPart {
  if (one.status !== 'verified' || !isAllowed(visit, 'get_dmarc_report')) return undefined;
  return html`<p>
    <a href="${visit.base}/domains/${one.id}/reports">${t('domain.reports', { domain: one.domain })}</a>
  </p>`;
}

function warning(t: Translator, one: Domain): HtmlPart {
  if (one.sendingPaused) {
    return html`<div class="note bad">
      <p>
        <strong>${t('domain.paused')}</strong>
        ${t.rich('domain.paused-text', { time: one.failingSince !== null && timestamp(one.failingSince, t) })}
      </p>
    </div>`;
  }
  if (one.failingSince !== null) {
    return html`<div class="note warn">
      <p>${t.rich('domain.failing', { time: timestamp(one.failingSince, t) })}</p>
    </div>`;
  }
  return (
    one.status === 'unverified' &&
    html`<div class="note warn">
      <p>${t('domain.unverified')}</p>
    </div>`
  );
}

/** Checks with the name by which the doctor says why each matters. */
const CHECKS = { inboundMx: 'mx', sendingIdentity: 'spf', dkim: 'dkim', dmarc: 'dmarc' } as const;
const LOOKS = { pass: 'ok', fail: 'bad', pending: '' } as const;

function checkList(t: Translator, domain: Domain): Html {
  const { lastCheckedAt } = domain;
  const names = Object.keys(CHECKS) as (keyof typeof CHECKS)[];
  return html`<section>
    <h2>${t('checks.title')}</h2>
    <p>${lastCheckedAt === null ? t('checks.never') : t.rich('checks.last', { time: timestamp(lastCheckedAt, t) })}</p>
    ${table(
      t('checks.title'),
      [t('checks.check'), t('checks.result'), t('checks.finding'), t('checks.to-do')],
      names.map((name) => checkRow(t, domain, name)),
      t,
    )}
  </section>`;
}

function checkRow(t: Translator, domain: Domain, name: keyof typeof CHECKS): HtmlPart[] {
  const { checks, lastCheckedAt } = domain;
  const label = t(`check.${name}`);
  const { status, detail = '' } = checks[name];
  const result = tag(t(`check.${status}`), LOOKS[status]);
  if (lastCheckedAt === null) return [label, result, '', t('checks.choose')];
  if (status === 'pass') return [label, result, detail === '' ? '' : t.english(detail), t('checks.nothing')];
  const found = detail === '' ? '' : [t.english(`${detail}.`), ' '];
  const impact = html`<span class="soft">${t.english(impactOf(CHECKS[name]))}</span>`;
  return [label, result, [found, impact], adviceFor(t, domain, status, name)];
}

function adviceFor(
  t: Translator,
  { dnsManaged }: Domain,
  status: 'fail' | 'pending',
  name: keyof typeof CHECKS,
): string {
  if (status === 'pending') return t('checks.no-answer');
  return dnsManaged ? t('checks.publishes') : t(`check-fix.${name}`);
}

const STATES = { ok: 'ok', missing: 'bad', mismatch: 'bad', unknown: '' } as const;

function records(t: Translator, { records: all, domain: { dnsManaged } }: DomainDetails): Html {
  return html`<section>
    <h2>${t('dns.records')}</h2>
    <p>${t(dnsManaged ? 'dns.served' : 'dns.to-publish')}</p>
    ${table(
      t('dns.records'),
      [t('dns.purpose'), t('account.name'), t('dns.type'), t('dns.value'), t('domains.status')],
      all.map((one) => [
        [t(`dns.purpose-${one.purpose}`), !one.required && html` <span class="soft">${t('dns.recommended')}</span>`],
        html`<code>${breakableName(one.name)}</code>`,
        one.type,
        html`<code>${one.priority !== undefined && `${one.priority} `}${one.value}</code>`,
        recordState(t, one),
      ]),
      t,
    )}
  </section>`;
}

/** Returns the state of a record in the DNS, with what was found instead. */
export function recordState(t: Translator, { status, observed, why }: DomainDetails['records'][number]): HtmlPart[] {
  const found = observed.join(', ');
  return [
    tag(t(`dns.seen-${status}`), STATES[status]),
    status === 'mismatch' && html` <span class="soft">${t('dns.found', { found })}</span>`,
    why !== undefined && html` <span class="soft">${t.english(why)}</span>`,
  ];
}

/** MTA-STS: whether senders may deliver without verified TLS. */
function stsPolicy(t: Translator, visit: Visit, { mtaSts, status }: Domain): HtmlPart {
  if (status !== 'verified' || !isAllowed(visit, 'set_mta_sts')) return undefined;
  const steps = { none: 'testing', testing: 'enforce', enforce: 'testing' } as const;
  const [next, label] =
    mtaSts === null
      ? (['testing', t('sts.begin')] as const)
      : [steps[mtaSts], t('sts.change', { mode: steps[mtaSts] })];
  return html`<section>
    <h2>${t('sts.title')}</h2>
    <p>${mtaSts === null ? t('sts.absent') : t(`sts.mode-${mtaSts}`)}</p>
    ${actionButton(visit, 'sts', label, { mode: next }, '')}
  </section>`;
}

function zoneText(t: Translator, zone: string): Html {
  return html`<details class="more">
    <summary>${t('domain.zone-file')}</summary>
    <pre class="copy" tabindex="0">${zone}</pre>
  </details>`;
}

function changes(t: Translator, visit: Visit, one: Domain): HtmlPart {
  const rotate = {
    label: t('domain.rotate'),
    calm: true as const,
    question: t('domain.rotate-question'),
    yes: t('domain.rotate-button'),
  };
  const remove = {
    label: t('domain.delete'),
    question: t('domain.delete-question', { domain: one.domain }),
    yes: t('mailbox.delete-button'),
  };
  return html`<section>
    <h2>${t('charts.changes')}</h2>
    <div class="stack">
      ${isAllowed(visit, 'rotate_dkim_keys') && html`<div>${confirmedAction(visit, 'rotate', rotate)}</div>`}
      ${isAllowed(visit, 'remove_email_domain') && html`<div>${confirmedAction(visit, 'remove', remove)}</div>`}
      ${
        one.mailboxCount > 0 && html`<p class="small soft">${t('domain.delete-first', { count: one.mailboxCount })}</p>`
      }
    </div>
  </section>`;
}
