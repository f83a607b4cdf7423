import type { listEmails } from '../operations/mailboxes/list.ts';
import type { listEmailDomains } from '../operations/domains/list.ts';
import type { listAliases } from '../operations/aliases/change.ts';
import { findTrace } from './pages/delivery-log.ts';
import { PAGES } from './pages/index.ts';
import type { Page } from './page.ts';
import { isAllowed, readOperation, type Visit } from './visit.ts';

/** A result of the search of the portal. `label` and `detail` may hold text of others: they are shown as text. */
export interface FinderResult {
  readonly kind: 'Page' | 'Action' | 'Mailbox' | 'Domain' | 'Alias' | 'Message';
  readonly label: string;
  readonly detail: string;
  readonly href: string;
}

const MAX_QUERY = 320;
const MAX_OF_KIND = 8;
const ALL = { limit: 100 };

/** Finds pages, actions, mailboxes, domains, aliases and messages, as far as the visitor may see them. */
export async function findInOrganization(visit: Visit, text: string): Promise<FinderResult[]> {
  const query = text.trim().slice(0, MAX_QUERY);
  const words = query.toLowerCase();
  const pages = pagesFor(visit);
  if (words === '') return pages.map((page) => pageResult(visit, page));
  const found = await Promise.all([mailboxes(visit, query), domains(visit, words), aliases(visit, words)]);
  return [
    ...found.flat(),
    ...(await messages(visit, query)),
    ...pages.filter(({ name }) => name.toLowerCase().includes(words)).map((page) => pageResult(visit, page)),
    ...pages.flatMap((page) => actions(visit, page, words)).slice(0, MAX_OF_KIND),
  ];
}

function pagesFor(visit: Visit): Page[] {
  return PAGES.filter(
    (page) =>
      page.menu !== null &&
      isAllowed(visit, page.needs) &&
      !(page.notForMembers === true && visit.membership.role === 'member'),
  );
}

function pageResult({ base }: Visit, { name, path, menu }: Page): FinderResult {
  return { kind: 'Page', label: name, detail: menu ?? '', href: `${base}${path}` };
}

/** Actions of a page by the titles of their operations, such as "Create a token". */
function actions(visit: Visit, page: Page, words: string): FinderResult[] {
  const names = new Set(Object.values(page.actions).flatMap(({ operation }) => operation ?? []));
  return [...names].flatMap((name): FinderResult[] => {
    const found = visit.operations.get(name);
    if (found === undefined || !isAllowed(visit, name)) return [];
    if (!`${found.title} ${name}`.toLowerCase().includes(words)) return [];
    return [{ kind: 'Action', label: found.title, detail: page.name, href: `${visit.base}${page.path}` }];
  });
}

async function mailboxes(visit: Visit, query: string): Promise<FinderResult[]> {
  const found = await readOperation<typeof listEmails>(visit, 'list_emails', { query, limit: MAX_OF_KIND });
  return (found?.mailboxes ?? []).map(({ id, address, displayName }) => ({
    kind: 'Mailbox',
    label: address,
    detail: displayName ?? '',
    href: `${visit.base}/mailboxes/${id}`,
  }));
}

async function domains(visit: Visit, words: string): Promise<FinderResult[]> {
  const found = await readOperation<typeof listEmailDomains>(visit, 'list_email_domains', ALL);
  return (found?.domains ?? [])
    .filter(({ domain }) => domain.includes(words))
    .slice(0, MAX_OF_KIND)
    .map(({ id, domain, status }) => ({
      kind: 'Domain',
      label: domain,
      detail: status,
      href: `${visit.base}/domains/${id}`,
    }));
}

async function aliases(visit: Visit, words: string): Promise<FinderResult[]> {
  const found = await readOperation<typeof listAliases>(visit, 'list_aliases', ALL);
  return (found?.aliases ?? [])
    .filter(({ address }) => address.includes(words))
    .slice(0, MAX_OF_KIND)
    .map(({ address, mailboxIds }) => ({
      kind: 'Alias',
      label: address,
      detail: '',
      href: `${visit.base}/mailboxes/${mailboxIds[0] ?? ''}`,
    }));
}

/** Finds the newest message by an address, a Message-ID or an id; other words would match nothing. */
async function messages(visit: Visit, query: string): Promise<FinderResult[]> {
  if (!/^[^\s@]+@[^\s@]+$|^[A-Za-z0-9_-]{6,80}$/.test(query) || !isAllowed(visit, 'trace_message')) return [];
  const found = await findTrace(visit, query);
  if (found === undefined) return [];
  const { message, envelope } = found;
  const href = `${visit.base}/trace?q=${encodeURIComponent(message.messageId)}`;
  const to = envelope.rcptTo.slice(0, 3).join(', ');
  return [{ kind: 'Message', label: `To ${to}`, detail: `from ${envelope.mailFrom || 'a server'}`, href }];
}
