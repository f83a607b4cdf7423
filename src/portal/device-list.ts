import { listAppPasswords, type AppPassword } from '../../mail/store/account/credential.ts';
import { publicId } from '../core/ids.ts';
import { ownMailboxes, type OwnMailbox } from '../webmail-sessions/access-queries.ts';
import { type OwnMailSession, ownMailSessions } from '../webmail-sessions/own-session-commands.ts';
import type { SignInMethod } from '../people/factor-commands.ts';
import { formToken } from '../people/secrets.ts';
import { listSessions, type SessionLine } from '../people/session-commands.ts';
import { browserOfAgent } from '../people/user-agent.ts';
import { address, table, tag, timestamp } from './components.ts';
import { hidden } from './forms.ts';
import { type Html, html, type HtmlPart } from './html.ts';
import type { PageExchange, Visitor } from './page-exchange.ts';

const METHODS: Readonly<Record<SignInMethod, string>> = {
  password: 'Password',
  link: 'Sign-in link',
  claim: 'First password',
  totp: 'Authenticator app',
  recovery: 'Recovery code',
  passkey: 'Passkey',
  provider: 'Single sign-on',
};

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
  const rows = [
    ...sessions.map((one) => portalRow(visitor, one)),
    ...mail.map((one) => mailRow(visitor, one)),
    ...(await Promise.all(openMailboxes(visitor, mailboxes).map((one) => passwordRows(exchange, visitor, one)))).flat(),
  ];
  const others = sessions.length > 1 || mail.length > 0;
  return html`<section>
    <h2>Devices</h2>
    <p>
      Browsers and programs that have access to your account or your mailboxes. A browser is signed out of the portal
      after two hours without use, and of web mail after seven days.
    </p>
    ${table(
      'Devices',
      ['Device', 'Access', 'Address', 'Last used', ''],
      rows.toSorted((a, b) => b.lastUsedAt - a.lastUsedAt).map(({ cells }) => cells),
    )}
    ${others && html`<p class="pages">${press(visitor, 'others', 'End all other sessions')}</p>`}
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

function portalRow(visitor: Visitor, { id, agent, ip, createdAt, lastUsedAt, method }: SessionLine): DeviceRow {
  const end = press(visitor, 'end', 'End session', {
    values: { session: publicId('session', id) },
    of: browserOfAgent(agent),
  });
  const cells = [
    deviceName(browserOfAgent(agent), createdAt),
    ['Portal', html` <span class="soft">${METHODS[method]}</span>`],
    ip,
    timestamp(lastUsedAt),
    id === visitor.session.id ? tag('Current', 'ok') : end,
  ];
  return { cells, lastUsedAt };
}

function mailRow(visitor: Visitor, one: OwnMailSession): DeviceRow {
  const { id, agent, ip, createdAt, lastUsedAt, session } = one;
  const browser = browserOfAgent(agent);
  const cells = [
    deviceName(browser, createdAt),
    [
      'Web mail of ',
      address(one.address),
      html` <span class="soft">${session === null ? 'Password' : 'Portal'}</span>`,
    ],
    ip,
    timestamp(lastUsedAt),
    press(visitor, 'end-mail', 'End session', {
      values: { session: String(id) },
      of: `web mail of ${one.address}, ${browser}`,
    }),
  ];
  return { cells, lastUsedAt };
}

async function passwordRows({ context }: PageExchange, visitor: Visitor, mailbox: OwnMailbox): Promise<DeviceRow[]> {
  const all = await context.store.read(listAppPasswords, { account: mailbox.account });
  const now = context.clock();
  return all
    .filter(({ expiresAt }) => expiresAt === null || expiresAt > now)
    .map((one) => passwordRow(visitor, mailbox, one));
}

const PROTOCOLS: Readonly<Record<string, string>> = { imap: 'IMAP', smtp: 'SMTP', jmap: 'JMAP' };

function passwordRow(visitor: Visitor, mailbox: OwnMailbox, one: AppPassword): DeviceRow {
  const { id, name, scopes, createdAt, lastUsedAt } = one;
  const values = { mailbox: publicId('mailbox', mailbox.account), password: publicId('credential', id) };
  const protocols = scopes.flatMap((scope) => PROTOCOLS[scope] ?? []).join(', ');
  const cells = [
    deviceName(name, createdAt),
    ['App password of ', address(mailbox.address), html` <span class="soft">${protocols}</span>`],
    html`<span class="soft">Not recorded</span>`,
    lastUsedAt === null ? 'Never' : timestamp(lastUsedAt),
    press(visitor, 'revoke', 'Revoke', { values, of: `app password ${name}` }),
  ];
  return { cells, lastUsedAt: lastUsedAt ?? 0 };
}

function deviceName(name: string, since: number): HtmlPart {
  return [name, html` <span class="soft">since ${timestamp(since)}</span>`];
}
