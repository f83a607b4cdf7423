import type { exportZone } from '../../operations/domains/dns.ts';
import type { getEmailDomain } from '../../operations/domains/list.ts';
import type { verifyEmailDomain } from '../../operations/domains/verify.ts';
import { type Html, html, type Part } from '../html.ts';
import { acting, type Page, press, sure } from '../page.ts';
import { crumb, head, moment, table, tag } from '../parts.ts';
import { type Answer, can, read, type Visit } from '../visit.ts';
import { type Domain, domainStatus } from './domains.ts';

type Whole = Answer<typeof getEmailDomain>;

const which = (params: Readonly<Record<string, string>>) => ({ domainId: params['id'] });

export const domain: Page = {
  path: '/domains/:id',
  name: 'Domain',
  menu: null,
  needs: 'get_email_domain',
  done: {
    added: 'The domain is added. Publish the records below, then have them checked.',
    verified: 'Everything is right: the domain is verified, and mail flows.',
    checked: 'The records were looked up. What is not right yet is marked below.',
    rotated: 'New DKIM keys were made. They sign once their records are seen.',
  },
  acts: {
    verify: acting(
      'verify_email_domain',
      (_fields, params) => which(params),
      (result) => {
        const { verified } = result as Answer<typeof verifyEmailDomain>;
        return { kind: 'done', said: verified ? 'verified' : 'checked' };
      },
    ),
    rotate: acting(
      'rotate_dkim_keys',
      (_fields, params) => which(params),
      () => ({ kind: 'done', said: 'rotated' }),
    ),
    remove: acting(
      'remove_email_domain',
      (_fields, params) => which(params),
      (_result, visit) => ({
        kind: 'done',
        said: 'removed',
        to: `${visit.base}/domains`,
      }),
    ),
  },
  async show(visit, { params }) {
    const found = await read<typeof getEmailDomain>(visit, 'get_email_domain', which(params));
    if (found === undefined) return undefined;
    const zone = await read<typeof exportZone>(visit, 'export_zone', which(params));
    const verify = can(visit, 'verify_email_domain') && press(visit, 'verify', 'Check the DNS now', {}, '');
    return html`${crumb(`${visit.base}/domains`, 'Domains')}
    ${head(found.domain.domain, domainStatus(found.domain), verify)} ${trouble(found.domain)} ${checkList(found.domain)}
    ${records(found)} ${zone !== undefined && zoneText(zone.zone)} ${end(visit, found.domain)}`;
  },
};

function trouble(one: Domain): Part {
  if (one.sendingPaused) {
    return html`<div class="note bad">
      <p>
        <strong>Sending from this domain is paused.</strong> Its checks have failed since
        ${one.failingSince !== null && moment(one.failingSince)}; it still receives. Put the records right and have them
        checked.
      </p>
    </div>`;
  }
  if (one.failingSince !== null) {
    return html`<div class="note warn">
      <p>The checks fail since ${moment(one.failingSince)}. After 72 hours of it, sending is paused.</p>
    </div>`;
  }
  return (
    one.status === 'unverified' &&
    html`<div class="note warn">
      <p>Until the domain is verified, mail for it is put off and nothing can be sent from it.</p>
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
const WORDS = { pass: 'right', fail: 'not right', pending: 'not seen yet' } as const;

function checkList({ checks, lastCheckedAt }: Domain): Html {
  const names = Object.keys(CHECKS) as (keyof typeof CHECKS)[];
  return html`<section>
    <h2>Checks</h2>
    <p>${lastCheckedAt === null ? 'Nobody has looked yet.' : ['Last looked at ', moment(lastCheckedAt), '.']}</p>
    ${table(
      'Checks',
      ['What', 'Result', 'In detail'],
      names.map((name) => {
        const { status, detail } = checks[name];
        const said = lastCheckedAt === null ? '' : (detail ?? '');
        return [CHECKS[name], tag(WORDS[status], LOOKS[status]), said];
      }),
    )}
  </section>`;
}

const PURPOSES = { inbound_mx: 'Receiving', dkim: 'Signature', spf: 'Sending', dmarc: 'Policy' } as const;
const STATES = { ok: 'ok', missing: 'bad', mismatch: 'bad', unknown: '' } as const;
const SEEN = { ok: 'seen', missing: 'missing', mismatch: 'differs', unknown: 'not looked up' } as const;

function records({ records: all, domain: { dnsManaged } }: Whole): Html {
  const about = dnsManaged
    ? 'This server answers for the domain: nothing is left to publish.'
    : 'Publish these where the DNS of the domain is kept.';
  return html`<section>
    <h2>DNS records</h2>
    <p>${about}</p>
    ${table(
      'DNS records',
      ['For', 'Name', 'Type', 'Value', 'State'],
      all.map((one) => [
        [PURPOSES[one.purpose], !one.required && html` <span class="soft">advice</span>`],
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

function zoneText(zone: string): Html {
  return html`<details class="more">
    <summary>The same as lines of a zone file</summary>
    <pre class="copy" tabindex="0">${zone}</pre>
  </details>`;
}

function end(visit: Visit, one: Domain): Part {
  const rotate = {
    label: 'Replace the DKIM keys',
    calm: true as const,
    question: 'New keys are made under free selectors; the old ones stay published for a week.',
    yes: 'Replace the keys',
  };
  const remove = {
    label: 'Remove the domain',
    question: `${one.domain} is gone with its keys and forwards. Added again, it has to be verified anew.`,
    yes: 'Remove it',
  };
  return html`<section>
    <h2>Changes</h2>
    <div class="stack">
      ${can(visit, 'rotate_dkim_keys') && html`<div>${sure(visit, 'rotate', rotate)}</div>`}
      ${can(visit, 'remove_email_domain') && html`<div>${sure(visit, 'remove', remove)}</div>`}
      ${
        one.mailboxCount > 0 &&
        html`<p class="small soft">It can be removed once its mailboxes (${one.mailboxCount}) are deleted.</p>`
      }
    </div>
  </section>`;
}
