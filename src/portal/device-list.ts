import { listAppPasswords, type AppPassword } from '../../mail/store/account/credential.ts';
import { publicId } from '../core/ids.ts';
import { ownMailboxes, type OwnMailbox } from '../webmail-sessions/access-queries.ts';
import { type OwnMailSession, ownMailSessions } from '../webmail-sessions/own-session-commands.ts';
import type { SignInMethod } from '../people/factor-commands.ts';
import { formToken } from '../people/secrets.ts';
import { listSessions, type SessionLine } from '../people/session-commands.ts';
import { namedBrowserOf } from '../people/user-agent.ts';
import { address, table, tag, timestamp } from './components.ts';
import { hidden } from './forms.ts';
import { type Html, html, type HtmlPart } from './html.ts';
import type { PlainPortalKey } from './message-types.ts';
import type { PageExchange, Visitor } from './page-exchange.ts';
import { type Translator, translatorOf } from './translator.ts';

const METHODS = {
  password: 'field.password',
  link: 'method.link',
  claim: 'method.claim',
  totp: 'security.authenticator',
  recovery: 'method.recovery',
  passkey: 'method.passkey',
  provider: 'security.single-sign-on',
} as const satisfies Readonly<Record<SignInMethod, PlainPortalKey>>;

/** Mailboxes of the organizations that the session opens. */
export function openMailboxes({ memberships }: Visitor, all: readonly OwnMailbox[]): OwnMailbox[] {
  return all.filter(({ tenant }) => memberships.some(({ organization }) => organization === tenant));
}

/** One row: a browser or a program that has access. */
interface DeviceRow {
  /** Device, access, address, last use, button. */
  cells: readonly HtmlPart[];
  /** ms UTC; 0: never. */
  lastUsedAt: number;
}

/** Everything that is signed in as the person or in their mailboxes: browsers, web mail and app passwords, last used first. */
export async function deviceList(exchange: PageExchange, visitor: Visitor): Promise<Html> {
  const { store, clock } = exchange.context;
  const input = { user: visitor.person.id, now: clock() };
  const [sessions, mail, mailboxes] = await Promise.all([
    store.read(listSessions, input),
    store.read(ownMailSessions, input),
    store.read(ownMailboxes, input),
  ]);
  const t = translatorOf(exchange.request);
  const rows = [
    ...sessions.map((one) => portalRow(t, visitor, one)),
    ...mail.map((one) => mailRow(t, visitor, one)),
    ...(await Promise.all(openMailboxes(visitor, mailboxes).map((one) => passwordRows(exchange, visitor, one)))).flat(),
  ];
  const others = sessions.length > 1 || mail.length > 0;
  return html`<section>
    <h2>${t('devices.title')}</h2>
    <p>${t('devices.about')}</p>
    ${table(
      t('devices.title'),
      [t('devices.device'), t('devices.access'), t('devices.address'), t('devices.last-used'), ''],
      rows.toSorted((a, b) => b.lastUsedAt - a.lastUsedAt).map(({ cells }) => cells),
      t,
    )}
    ${others && html`<p class="pages">${press(visitor, 'others', t('devices.end-others'))}</p>`}
  </section>`;
}

function press(
  { secret }: Visitor,
  act: string,
  label: string,
  { values = {}, of }: { values?: Readonly<Record<string, string>>; of?: string } = {},
): Html {
  return html`<form class="inline" method="post">
    ${hidden('form', formToken(secret))} ${hidden('do', act)}
    ${Object.entries(values).map(([name, value]) => hidden(name, value))}
    <button class="text" ${of !== undefined && html`aria-label="${label}: ${of}"`}>${label}</button>
  </form>`;
}

function portalRow(
  t: Translator,
  visitor: Visitor,
  { id, agent, ip, createdAt, lastUsedAt, method }: SessionLine,
): DeviceRow {
  const end = press(visitor, 'end', t('devices.end'), {
    values: { session: publicId('session', id) },
    of: browserName(t, agent),
  });
  const cells = [
    deviceName(t, browserName(t, agent), createdAt),
    ['Portal', html` <span class="soft">${t(METHODS[method])}</span>`],
    ip,
    timestamp(lastUsedAt, t),
    id === visitor.session.id ? tag(t('devices.current'), 'ok') : end,
  ];
  return { cells, lastUsedAt };
}

function mailRow(t: Translator, visitor: Visitor, one: OwnMailSession): DeviceRow {
  const { id, agent, ip, createdAt, lastUsedAt, session } = one;
  const browser = browserName(t, agent);
  const cells = [
    deviceName(t, browser, createdAt),
    [
      t.rich('devices.web-mail', { address: address(one.address) }),
      html` <span class="soft">${session === null ? t('field.password') : 'Portal'}</span>`,
    ],
    ip,
    timestamp(lastUsedAt, t),
    press(visitor, 'end-mail', t('devices.end'), {
      values: { session: String(id) },
      of: t('devices.web-mail-in', { address: one.address, browser }),
    }),
  ];
  return { cells, lastUsedAt };
}

async function passwordRows(
  { context, request }: PageExchange,
  visitor: Visitor,
  mailbox: OwnMailbox,
): Promise<DeviceRow[]> {
  const all = await context.store.read(listAppPasswords, { account: mailbox.account });
  const now = context.clock();
  return all
    .filter(({ expiresAt }) => expiresAt === null || expiresAt > now)
    .map((one) => passwordRow(translatorOf(request), visitor, mailbox, one));
}

const PROTOCOLS: Readonly<Record<string, string>> = { imap: 'IMAP', smtp: 'SMTP', jmap: 'JMAP' };

function passwordRow(t: Translator, visitor: Visitor, mailbox: OwnMailbox, one: AppPassword): DeviceRow {
  const { id, name, scopes, createdAt, lastUsedAt } = one;
  const values = { mailbox: publicId('mailbox', mailbox.account), password: publicId('credential', id) };
  const protocols = scopes.flatMap((scope) => PROTOCOLS[scope] ?? []).join(', ');
  const cells = [
    deviceName(t, name, createdAt),
    [
      t.rich('devices.app-password', { address: address(mailbox.address) }),
      html` <span class="soft">${protocols}</span>`,
    ],
    html`<span class="soft">${t('devices.not-recorded')}</span>`,
    lastUsedAt === null ? t('devices.never') : timestamp(lastUsedAt, t),
    press(visitor, 'revoke', t('devices.revoke'), { values, of: t('devices.password-named', { name }) }),
  ];
  return { cells, lastUsedAt: lastUsedAt ?? 0 };
}

const MAX_AGENT = 60;

/** Browser and system of a User-Agent, or the beginning of what it says. */
export function browserName(t: Translator, agent: string): string {
  const found = namedBrowserOf(agent);
  if (found === undefined) return agent === '' ? t('devices.unknown') : agent.slice(0, MAX_AGENT);
  const { browser, system } = found;
  if (system === undefined) return browser;
  return t('devices.browser-on', { browser, system: system === 'Macintosh' ? t('devices.mac') : system });
}

function deviceName(t: Translator, name: string, since: number): HtmlPart {
  return [name, html` <span class="soft">${t.rich('devices.since', { time: timestamp(since, t) })}</span>`];
}
