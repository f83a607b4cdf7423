import type { FastifyRequest } from 'fastify';
import { accountId } from '../../mail/jmap/ids.ts';
import type { Access, JmapSession } from '../../mail/jmap/method.ts';
import type { Login, LoginOutcome } from '../../mail/login/types.ts';
import { isLoopback } from '../../mail/guard/network.ts';
import { type AccountInfo, accountById, accountsOf } from '../../mail/store/account.ts';
import { loginPushBar, tokenPushBar } from '../agents/push-address.ts';
import { accountsInProject } from '../accounts/setup.ts';
import { readMailboxToken } from '../accounts/mailbox-token.ts';
import { authorizationOf } from '../http/answers.ts';
import type { Caller } from '../operations/caller.ts';
import type { World } from '../operations/world.ts';
import { authenticate } from '../tokens/authenticate.ts';

/** Who asks, or the HTTP answer to who may not. */
export type JmapAuthenticated =
  /** `login` of a password: rotating it ends what stays open. */
  | { kind: 'in'; session: JmapSession; login?: Login }
  | { kind: 'refused'; status: 401 | 403 | 429 | 503; why: string; retryAfter?: number };

/**
 * Reads the credential of a request: Basic with the address and a password of a mailbox, Bearer with the mailbox's own
 * JMAP token or with a token of the control plane, by its actions. RFC 8620 8.2.
 */
export async function authenticateJmap(world: World, request: FastifyRequest): Promise<JmapAuthenticated> {
  const header = authorizationOf(request);
  if (header === undefined) return refused('send the address and a password of a mailbox (Basic), or a token (Bearer)');
  if (typeof header !== 'string') return refused('send one Authorization header');
  const basic = readBasic(header);
  if (basic !== undefined) return byPassword(world, request, basic.user, basic.password);
  const bearer = /^Bearer +(\S+) *$/i.exec(header)?.[1];
  const mailbox = bearer === undefined ? undefined : readMailboxToken(bearer, world.settings.tokenPrefix);
  if (mailbox === undefined) return byToken(world, header, request.ip);
  const account = await world.store.read(accountById, { account: mailbox.account });
  return byPassword(world, request, account?.address ?? `nobody@${world.settings.hostname}`, mailbox.password);
}

/** RFC 7617. Undefined: not Basic. */
function readBasic(header: string): { user: string; password: string } | undefined {
  const encoded = /^Basic +([A-Za-z0-9+/]+={0,2}) *$/i.exec(header)?.[1];
  if (encoded === undefined) return undefined;
  const text = Buffer.from(encoded, 'base64').toString('utf8');
  const colon = text.indexOf(':');
  return colon < 0 ? undefined : { user: text.slice(0, colon), password: text.slice(colon + 1) };
}

async function byPassword(
  world: World,
  request: FastifyRequest,
  user: string,
  password: string,
): Promise<JmapAuthenticated> {
  // Behind a trusted proxy the protocol is what the proxy says.
  const secure = request.protocol === 'https' || isLoopback(request.ip);
  const outcome = await world.logins.password(user, password, { ip: request.ip, door: 'jmap', secure });
  return outcome.kind === 'in' ? loggedIn(world, outcome.login) : told(outcome);
}

function loggedIn(world: World, login: Login): JmapAuthenticated {
  const address = `${login.address.local}@${login.address.domain}`;
  const readOnly = login.readOnly === true;
  const by = { password: login.credential };
  const access = { account: login.account, address, readOnly, mayTransmit: !readOnly, by };
  const accounts = new Map([[accountId(login.account), access]]);
  const shown = (_account: number, emails: readonly number[]) => world.agents.shownToLogin(login, emails);
  const opened: JmapSession['opened'] = async (_account, emails, as) => {
    await world.agents.handedToLogin(login, emails);
    // Mail programs copy whole messages to have them at hand: only who asks for a text is taken to read it.
    if (as === 'text') await world.agents.openedByLogin(login, emails, 'jmap');
  };
  const isAgents = () => world.agents.isAgentsLogin(login);
  const pushBar = (url: string) => loginPushBar(world, login, url);
  return {
    kind: 'in',
    session: { username: address, accounts, credential: `pwd-${login.credential}`, shown, opened, isAgents, pushBar },
    login,
  };
}

function told(outcome: Exclude<LoginOutcome, { kind: 'in' }>): JmapAuthenticated {
  switch (outcome.kind) {
    case 'wrong':
      return refused('the address or the password is wrong, or the password does not open JMAP');
    case 'malformed':
      return refused(outcome.why);
    case 'barred':
      return { kind: 'refused', status: 403, why: outcome.why };
    case 'throttled': {
      const why = `too many wrong passwords: wait ${outcome.retryAfter} s`;
      return { kind: 'refused', status: 429, why, retryAfter: outcome.retryAfter };
    }
    case 'busy':
      return { kind: 'refused', status: 503, why: 'passwords cannot be checked now: try again soon', retryAfter: 5 };
  }
}

async function byToken(world: World, header: string, ip: string): Promise<JmapAuthenticated> {
  const found = await authenticate(world, header, 'jmap', ip);
  if (found.kind !== 'caller')
    return refused(found.kind === 'refused' ? found.why : 'send a token as "Bearer <token>"');
  const { caller } = found;
  if (caller.token?.mode === 'frozen') {
    return { kind: 'refused', status: 403, why: 'the token is frozen: a person set it so on the page Agents' };
  }
  if (caller.token?.narrow != null) {
    return { kind: 'refused', status: 403, why: 'the token was made for one purpose: it is for MCP and REST only' };
  }
  if (!caller.actions.has('mail_read')) {
    return { kind: 'refused', status: 403, why: 'the token has no "read": it opens no mailbox' };
  }
  const accounts = new Map(
    (await openAccounts(world, caller)).map((one) => [accountId(one.id), accessOf(one, caller)]),
  );
  const username = caller.actorName === '' ? caller.actor : caller.actorName;
  const token = caller.token?.id ?? 0;
  const shown = (account: number, emails: readonly number[]) => world.agents.shownToToken(token, account, emails);
  const { canaries } = world.agents;
  const { actor, organization: tenant = 0 } = caller;
  const opened = async (account: number, emails: readonly number[]): Promise<void> => {
    await world.agents.handedToToken(token, account, emails);
    await canaries.opened(() => Promise.resolve(actor), { account, emails, door: 'jmap' });
  };
  const answered = (response: unknown) => canaries.shown(actor, response, { tenant, door: 'jmap' });
  const downloads = (octets: AsyncIterable<Buffer>) => canaries.passing(actor, octets, { tenant, door: 'jmap' });
  const isAgents = () => Promise.resolve(true);
  const pushBar = (url: string) => tokenPushBar(world, caller, rowsOf(accounts), url);
  return {
    kind: 'in',
    session: {
      username,
      accounts,
      credential: actor,
      agent: actor,
      shown,
      opened,
      answered,
      downloads,
      isAgents,
      pushBar,
    },
  };
}

function rowsOf(accounts: ReadonlyMap<string, Access>): number[] {
  return [...accounts.values()].map(({ account }) => account);
}

function accessOf({ id, address }: AccountInfo, { actions, actor, token }: Caller): Access {
  const { mode = 'normal' } = token ?? {};
  const readOnly = mode === 'read_only' || !actions.has('manage');
  // One that only answers may: the gate sees what.
  const mayTransmit = actions.has('send') && mode !== 'read_only' && mode !== 'draft_only';
  const seesSource = actions.has('manage');
  return { account: id, address, readOnly, mayTransmit, seesSource, by: { token: actor } };
}

/** The mailboxes of the organization within the token's limits. One that is limited to a service opens none. */
async function openAccounts({ store }: World, caller: Caller): Promise<AccountInfo[]> {
  const { organization: tenant, project, service, mailboxes } = caller;
  if (tenant === undefined || service !== null) return [];
  const all = await store.read(accountsOf, { tenant });
  const within = project === null ? null : new Set(await store.read(accountsInProject, { tenant, project }));
  return all.filter(({ id }) => (within?.has(id) ?? true) && (mailboxes?.includes(id) ?? true));
}

function refused(why: string): JmapAuthenticated {
  return { kind: 'refused', status: 401, why };
}
