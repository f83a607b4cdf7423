import type { OnRead, OnWords } from '../../mail/agents/hooks.ts';
import type { FastifyRequest } from 'fastify';
import { accountId } from '../../mail/jmap/core/ids.ts';
import type { IdentifiedPerson } from '../../mail/store/actor-types.ts';
import type { Access, JmapSession } from '../../mail/jmap/core/method.ts';
import { type Login, type LoginOutcome, memoryHolderOf } from '../../mail/login/types.ts';
import { organizationHolder } from '../../mail/limits/memory-budget.ts';
import { isLoopback } from '../../mail/guard/network.ts';
import { type AccountInfo, accountById } from '../../mail/store/account/account.ts';
import { loginPushBar, tokenPushBar } from '../agents/push-address.ts';
import {
  findMailSession,
  MAIL_SESSION_GRAIN_MS,
  type MailSession,
  touchMailSession,
} from '../webmail-sessions/commands.ts';
import type { SessionPerson } from '../webmail-sessions/access-queries.ts';
import { mailSessionHash } from '../webmail-sessions/cookie.ts';
import { callerAccounts } from '../accounts/caller-accounts.ts';
import { readMailboxToken } from '../accounts/profile.ts';
import { countByAccount } from '../http/connection-guard.ts';
import { authorizationOf } from '../http/json-replies.ts';
import type { Caller } from '../core/caller.ts';
import { publicId } from '../core/ids.ts';
import { FRESH_SIGN_IN_MS } from '../people/session-commands.ts';
import type { AppContext } from '../core/app-context.ts';
import { authenticateToken } from '../tokens/authenticate.ts';

/** Result of authentication: a session, or the HTTP error. */
export type JmapAuthentication =
  /** `login` is set for passwords: rotating one closes open connections. */
  | { kind: 'in'; session: JmapSession; login?: Login }
  | { kind: 'refused'; status: 401 | 403 | 429 | 503; why: string; retryAfter?: number };

/**
 * Authenticates a request: Basic with address and mailbox password, or Bearer with the mailbox's JMAP token or a control
 * plane token, limited to its actions. RFC 8620 8.2.
 */
export async function authenticateJmap(context: AppContext, request: FastifyRequest): Promise<JmapAuthentication> {
  if (request.url.startsWith(WEB_MAIL_PREFIX)) return bySession(context, request);
  const header = authorizationOf(request);
  if (header === undefined) return refused('send the address and a password of a mailbox (Basic), or a token (Bearer)');
  if (typeof header !== 'string') return refused('send one Authorization header');
  const basic = readBasic(header);
  if (basic !== undefined) return byPassword(context, request, basic.user, basic.password);
  const bearer = /^Bearer +(\S+) *$/i.exec(header)?.[1];
  const mailbox = bearer === undefined ? undefined : readMailboxToken(bearer, context.settings.tokenPrefix);
  if (mailbox === undefined) return byToken(context, header, request);
  const account = await context.store.read(accountById, { account: mailbox.account });
  return byPassword(context, request, account?.address ?? `nobody@${context.settings.hostname}`, mailbox.password);
}

/** Routes below it authenticate by the cookie of web mail, and answer to its own pages only. */
export const WEB_MAIL_PREFIX = '/mail/';

/** Authenticates by a session of web mail: that of the password it began with, limited like it. */
async function bySession(context: AppContext, request: FastifyRequest): Promise<JmapAuthentication> {
  const hash = mailSessionHash(request.headers.cookie, request.protocol === 'https');
  const { store, logins, agents, clock } = context;
  const session =
    hash === undefined ? undefined : await logins.resume(() => store.read(findMailSession, { hash, now: clock() }));
  if (session === undefined) return refused('sign in to web mail again, the session has ended');
  const why = await agents.barredLogin(session.login);
  if (why !== undefined) return { kind: 'refused', status: 403, why };
  countByAccount(request.raw, session.login.account);
  if (clock() - session.lastUsedAt > MAIL_SESSION_GRAIN_MS) await store.write(touchMailSession, { id: session.id });
  const { login, person } = session;
  if (login.credential !== 0) return loggedIn(context, login);
  if (person === undefined) return refused('sign in to web mail again, the session has ended');
  return asPerson(session, identified(person, request.ip));
}

/** Parses Basic credentials; undefined for other schemes. RFC 7617. */
function readBasic(header: string): { user: string; password: string } | undefined {
  const encoded = /^Basic +([A-Za-z0-9+/]+={0,2}) *$/i.exec(header)?.[1];
  if (encoded === undefined) return undefined;
  const text = Buffer.from(encoded, 'base64').toString('utf8');
  const colon = text.indexOf(':');
  return colon < 0 ? undefined : { user: text.slice(0, colon), password: text.slice(colon + 1) };
}

async function byPassword(
  context: AppContext,
  request: FastifyRequest,
  user: string,
  password: string,
): Promise<JmapAuthentication> {
  // Behind a trusted proxy, `protocol` is that of X-Forwarded-Proto.
  const secure = request.protocol === 'https' || isLoopback(request.ip);
  const outcome = await context.logins.password(user, password, { ip: request.ip, protocol: 'jmap', secure });
  if (outcome.kind !== 'in') return loginRefusal(outcome);
  countByAccount(request.raw, outcome.login.account);
  return loggedIn(context, outcome.login);
}

function loggedIn(context: AppContext, login: Login): JmapAuthentication {
  const address = `${login.address.local}@${login.address.domain}`;
  const readOnly = login.readOnly === true;
  const by = { password: login.credential };
  const access = { account: login.account, address, readOnly, mayTransmit: !readOnly, by };
  const accounts = new Map([[accountId(login.account), access]]);
  const onRead: OnRead = (event) => context.agents.onRead(login, event, 'jmap');
  const onWords: OnWords = (event) => context.agents.onWords(login, event);
  const onRemoteText = () => context.agents.onTextRead(login);
  const isAgent = () => context.agents.isAgentsLogin(login);
  const pushRefusal = (url: string) => loginPushBar(context, login, url);
  return {
    kind: 'in',
    session: {
      username: address,
      accounts,
      sharing: { account: login.account, actor: { credential: login.credential } },
      credential: `pwd-${login.credential}`,
      memoryHolder: memoryHolderOf(login),
      onRead,
      onWords,
      onRemoteText,
      isAgent,
      pushRefusal,
    },
    login,
  };
}

function identified({ user, name, decides, signedInAt }: SessionPerson, ip: string): IdentifiedPerson {
  return { id: publicId('user', user), name, ip, decides, approvesUntil: signedInAt + FRESH_SIGN_IN_MS };
}

/** A person without a password of the mailbox: no agent, and nothing that outlives the session. */
function asPerson({ id, login }: MailSession, person: IdentifiedPerson): JmapAuthentication {
  const address = `${login.address.local}@${login.address.domain}`;
  const access = { account: login.account, address, readOnly: false, mayTransmit: true, by: { person } };
  return {
    kind: 'in',
    session: {
      username: address,
      accounts: new Map([[accountId(login.account), access]]),
      sharing: { account: login.account, actor: undefined, byPerson: true },
      credential: `web-${id}`,
      memoryHolder: memoryHolderOf(login),
      isAgent: () => Promise.resolve(false),
      pushRefusal: () => Promise.resolve('push subscriptions need a password or a token of the mailbox'),
    },
    login,
  };
}

function loginRefusal(outcome: Exclude<LoginOutcome, { kind: 'in' }>): JmapAuthentication {
  switch (outcome.kind) {
    case 'wrong':
      return refused('wrong address or password, or the password is not valid for JMAP');
    case 'malformed':
      return refused(outcome.why);
    case 'barred':
      return { kind: 'refused', status: 403, why: outcome.why };
    case 'throttled': {
      const why = `too many wrong passwords, retry in ${outcome.retryAfter} s`;
      return { kind: 'refused', status: 429, why, retryAfter: outcome.retryAfter };
    }
    case 'busy':
      return { kind: 'refused', status: 503, why: 'passwords cannot be checked now, retry soon', retryAfter: 5 };
  }
}

async function byToken(context: AppContext, header: string, { raw, ip }: FastifyRequest): Promise<JmapAuthentication> {
  const found = await authenticateToken(context, header, 'jmap', ip);
  if (found.kind !== 'caller')
    return refused(found.kind === 'refused' ? found.why : 'send a token as "Bearer <token>"');
  const { caller } = found;
  countByAccount(raw, caller.actor);
  if (caller.token?.mode === 'frozen') {
    return { kind: 'refused', status: 403, why: 'the token is frozen; a person can unfreeze it on the page Agents' };
  }
  if (caller.token?.narrow != null) {
    return { kind: 'refused', status: 403, why: 'a narrowed token is valid for MCP and REST only' };
  }
  if (!caller.actions.has('mail_read')) {
    return { kind: 'refused', status: 403, why: 'the token has no action "read", so it has no access to mailboxes' };
  }
  const accounts = new Map(
    (await callerAccounts(context.store, caller)).map((one) => [accountId(one.id), accessOf(one, caller)]),
  );
  const username = caller.actorName === '' ? caller.actor : caller.actorName;
  const token = caller.token?.id ?? 0;
  const onRead: OnRead = (event) => context.agents.onRead({ token }, event, 'jmap');
  const onWords: OnWords = (event) => context.agents.onWords({ token }, event);
  const onRemoteText = () => context.agents.onTextRead({ token });
  const { canaries } = context.agents;
  const { actor, organization: tenant = 0 } = caller;
  const onResponse = (response: unknown) => canaries.shown(actor, response, { tenant, protocol: 'jmap' });
  const wrapDownload = (octets: AsyncIterable<Buffer>) => canaries.passing(actor, octets, { tenant, protocol: 'jmap' });
  const isAgent = () => Promise.resolve(true);
  const pushRefusal = (url: string) => tokenPushBar(context, caller, rowsOf(accounts), url);
  return {
    kind: 'in',
    session: {
      username,
      accounts,
      credential: actor,
      memoryHolder: organizationHolder(tenant),
      agent: actor,
      onRead,
      onWords,
      onRemoteText,
      onResponse,
      wrapDownload,
      isAgent,
      pushRefusal,
    },
  };
}

function rowsOf(accounts: ReadonlyMap<string, Access>): number[] {
  return [...accounts.values()].map(({ account }) => account);
}

function accessOf({ id, address }: AccountInfo, { actions, actor, token }: Caller): Access {
  const { mode = 'normal' } = token ?? {};
  const readOnly = mode === 'read_only' || !actions.has('manage');
  // A reply-only token may send: the gate checks that it replies.
  const mayTransmit = actions.has('send') && mode !== 'read_only' && mode !== 'draft_only';
  const mayReadSource = actions.has('manage');
  return { account: id, address, readOnly, mayTransmit, mayReadSource, by: { token: actor } };
}

function refused(why: string): JmapAuthentication {
  return { kind: 'refused', status: 401, why };
}
