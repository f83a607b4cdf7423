import type { listEmails } from '../operations/mailboxes/list.ts';
import type { listEmailDomains } from '../operations/domains/list.ts';
import type { listAliases } from '../operations/aliases/change.ts';
import { findTrace } from './pages/delivery-log.ts';
import { PAGES } from './pages/index.ts';
import type { Page } from './page.ts';
import { type Translator, translatorOf } from './translator.ts';
import { isAllowed, readOperation, type Visit } from './visit.ts';

/** A result of the search of the portal. `label` and `detail` may hold text of others: they are shown as text. */
export interface FinderResult {
  readonly kind: string;
  readonly label: string;
  readonly detail: string;
  readonly href: string;
  /** True for a label that is English in every language. */
  readonly english?: true;
}

const MAX_QUERY = 320;
const MAX_OF_KIND = 8;
const ALL = { limit: 100 };

/** Finds pages, actions, mailboxes, domains, aliases and messages, as far as the visitor may see them. */
export async function findInOrganization(visit: Visit, text: string): Promise<FinderResult[]> {
  const query = text.trim().slice(0, MAX_QUERY);
  const words = query.toLowerCase();
  const t = translatorOf(visit.request);
  const pages = pagesFor(visit);
  if (words === '') return pages.map((page) => pageResult(t, visit, page));
  const found = await Promise.all([mailboxes(t, visit, query), domains(t, visit, words), aliases(t, visit, words)]);
  return [
    ...found.flat(),
    ...(await messages(t, visit, query)),
    ...pages.filter(({ name }) => isNamed(t, name, words)).map((page) => pageResult(t, visit, page)),
    ...pages.flatMap((page) => actions(t, visit, page, words)).slice(0, MAX_OF_KIND),
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

/** True for a page that has the words in its name, in English or in the language of the reader. */
function isNamed(t: Translator, name: Page['name'], words: string): boolean {
  return `${name}\n${t(`page.${name}`)}`.toLowerCase().includes(words);
}

function pageResult(t: Translator, { base }: Visit, { name, path, menu }: Page): FinderResult {
  const detail = menu === null ? '' : t(`heading.${menu}`);
  return { kind: t('find.page'), label: t(`page.${name}`), detail, href: `${base}${path}` };
}

/** Actions of a page by the titles of their operations, such as "Create a token". */
function actions(t: Translator, visit: Visit, page: Page, words: string): FinderResult[] {
  const names = new Set(Object.values(page.actions).flatMap(({ operation }) => operation ?? []));
  return [...names].flatMap((name): FinderResult[] => {
    const found = visit.operations.get(name);
    if (found === undefined || !isAllowed(visit, name)) return [];
    if (!`${found.title} ${name}`.toLowerCase().includes(words)) return [];
    const href = `${visit.base}${page.path}`;
    const result = { kind: t('find.action'), label: found.title, detail: t(`page.${page.name}`), href };
    return [t.language === 'en' ? result : { ...result, english: true }];
  });
}

async function mailboxes(t: Translator, visit: Visit, query: string): Promise<FinderResult[]> {
  const found = await readOperation<typeof listEmails>(visit, 'list_emails', { query, limit: MAX_OF_KIND });
  return (found?.mailboxes ?? []).map(({ id, address, displayName }) => ({
    kind: t('page.Mailbox'),
    label: address,
    detail: displayName ?? '',
    href: `${visit.base}/mailboxes/${id}`,
  }));
}

async function domains(t: Translator, visit: Visit, words: string): Promise<FinderResult[]> {
  const found = await readOperation<typeof listEmailDomains>(visit, 'list_email_domains', ALL);
  return (found?.domains ?? [])
    .filter(({ domain }) => domain.includes(words))
    .slice(0, MAX_OF_KIND)
    .map(({ id, domain, status }) => ({
      kind: t('page.Domain'),
      label: domain,
      detail: t(status === 'verified' ? 'find.verified' : 'find.unverified'),
      href: `${visit.base}/domains/${id}`,
    }));
}

async function aliases(t: Translator, visit: Visit, words: string): Promise<FinderResult[]> {
  const found = await readOperation<typeof listAliases>(visit, 'list_aliases', ALL);
  return (found?.aliases ?? [])
    .filter(({ address }) => address.includes(words))
    .slice(0, MAX_OF_KIND)
    .map(({ address, mailboxIds }) => ({
      kind: t('find.alias'),
      label: address,
      detail: '',
      href: `${visit.base}/mailboxes/${mailboxIds[0] ?? ''}`,
    }));
}

/** Finds the newest message by an address, a Message-ID or an id; other words would match nothing. */
async function messages(t: Translator, visit: Visit, query: string): Promise<FinderResult[]> {
  if (!/^[^\s@]+@[^\s@]+$|^[A-Za-z0-9_-]{6,80}$/.test(query) || !isAllowed(visit, 'trace_message')) return [];
  const found = await findTrace(visit, query);
  if (found === undefined) return [];
  const { message, envelope } = found;
  const href = `${visit.base}/trace?q=${encodeURIComponent(message.messageId)}`;
  const to = envelope.rcptTo.slice(0, 3).join(', ');
  const detail = t('find.from', { sender: envelope.mailFrom || t('find.server') });
  return [{ kind: t('find.message'), label: t('find.to', { recipients: to }), detail, href }];
}
