import type { addEmailDomain } from '../../operations/domains/add.ts';
import type { listEmailDomains } from '../../operations/domains/list.ts';
import { field } from '../forms.ts';
import { type Html, html, type Part } from '../html.ts';
import { acting, filledFor, type Page, sheet, type State } from '../page.ts';
import { cursorOf, day, empty, head, nextPage, table, tag } from '../parts.ts';
import { type Answer, can, read, type Visit } from '../visit.ts';

export type Domain = Answer<typeof listEmailDomains>['domains'][number];

export const domains: Page = {
  path: '/domains',
  name: 'Domains',
  menu: 'Mail',
  needs: 'list_email_domains',
  done: { removed: 'The domain is removed.' },
  acts: {
    add: acting(
      'add_email_domain',
      (fields) => ({ domain: fields.line('domain') ?? '' }),
      (result, visit) => {
        const { domain } = result as Answer<typeof addEmailDomain>;
        return { kind: 'done', said: 'added', to: `${visit.base}/domains/${domain.id}` };
      },
    ),
  },
  async show(visit, state) {
    const page = cursorOf(state.query);
    const listed = await read<typeof listEmailDomains>(visit, 'list_email_domains', page);
    const all = listed?.domains ?? [];
    return html`${head('Domains', 'Every address lives on a domain of yours. A domain works once its DNS says so.')}
    ${all.length === 0 && !('cursor' in page) ? NONE : domainTable(visit, all)}
    ${nextPage(`${visit.base}/domains`, listed?.nextCursor)} ${can(visit, 'add_email_domain') && addForm(visit, state)}`;
  },
};

const NONE = empty(
  'No domain yet',
  'Add one that you own. You then get the DNS records to publish, and mail flows once they are seen.',
);

function addForm(visit: Visit, state: State): Html {
  const one = { name: 'domain', label: 'Domain', placeholder: 'example.com', hint: 'A name whose DNS you can change.' };
  return html`<section>
    <h2>Add a domain</h2>
    ${sheet(visit, 'add', 'Add the domain', field(one, filledFor(state, 'add')))}
  </section>`;
}

export function domainTable({ base }: Visit, all: readonly Domain[]): Html {
  return table(
    'Domains',
    ['Domain', 'Status', 'Mailboxes', 'Last looked at'],
    all.map((one) => [
      html`<a href="${base}/domains/${one.id}">${one.domain}</a>`,
      domainStatus(one),
      one.mailboxCount,
      one.lastCheckedAt === null ? html`<span>never</span>` : day(one.lastCheckedAt),
    ]),
  );
}

/** In one word, and what it means for mail. */
export function domainStatus(one: Domain): Part {
  if (one.status === 'unverified') return [tag('not verified', 'warn'), ' ', one.dnsManaged && tag('DNS here')];
  if (one.sendingPaused) return tag('sending paused', 'bad');
  if (one.failingSince !== null) return tag('checks fail', 'warn');
  return [tag('verified', 'ok'), ' ', one.dnsManaged && tag('DNS here')];
}
