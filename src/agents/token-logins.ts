import type { BearerOutcome, BearerSource } from '../../mail/login/bearer.ts';
import type { Login, Peer } from '../../mail/login/types.ts';
import { addressKey, parseAddress } from '../../mail/message/address.ts';
import { accountById, type AccountInfo } from '../../mail/store/account/account.ts';
import { callerAccounts } from '../accounts/caller-accounts.ts';
import { readMailboxToken } from '../accounts/profile.ts';
import type { AppContext } from '../core/app-context.ts';
import { type Caller, tokenCaller } from '../core/caller.ts';
import { authenticateToken } from '../tokens/authenticate.ts';
import { findToken } from '../tokens/commands.ts';
import { callerPolicy } from './caller-policy.ts';

type TokenContext = Pick<AppContext, 'settings' | 'store' | 'clock' | 'lastUsed'>;

/**
 * Logins of OAUTHBEARER and XOAUTH2 on IMAP and submission: the token of a mailbox has the rights of its password, and a
 * control plane token those of its actions. IMAP shows sources of messages and records nothing for undo, so that it needs
 * `read` and `manage`, and a mailbox without an agent policy.
 */
export class TokenLogins implements BearerSource {
  readonly #context: TokenContext;

  constructor(context: TokenContext) {
    this.#context = context;
  }

  async find({ token, user, peer }: Parameters<BearerSource['find']>[0]): Promise<BearerOutcome> {
    const { settings, store } = this.#context;
    const mailbox = readMailboxToken(token, settings.tokenPrefix);
    if (mailbox !== undefined) {
      const account = await store.read(accountById, { account: mailbox.account });
      return { kind: 'password', user: account?.address ?? `nobody@${settings.hostname}`, password: mailbox.password };
    }
    const way = peer.protocol === 'imap' ? 'imap' : 'mail';
    const found = await authenticateToken(this.#context, `Bearer ${token}`, way, peer.ip);
    return found.kind === 'caller' ? this.#login(found.caller, user, peer.protocol) : { kind: 'wrong' };
  }

  async isValid({ token, account, readOnly, address }: Login): Promise<boolean> {
    const row = token && (await this.#context.store.read(findToken, { id: token.id }));
    if (row === undefined || (row.expiresAt !== null && row.expiresAt <= this.#context.clock())) return false;
    const caller = tokenCaller(row, 'imap', '');
    const now = await this.#login(caller, `${address.local}@${address.domain}`, token?.protocol ?? 'imap');
    return now.kind === 'token' && now.login.account === account && now.login.readOnly === readOnly;
  }

  async #login(caller: Caller, user: string | undefined, protocol: Peer['protocol']): Promise<BearerOutcome> {
    const { store } = this.#context;
    const why = barReason(caller, protocol);
    if (why !== undefined) return { kind: 'barred', why };
    const account = named(await callerAccounts(store, caller), user);
    const address = account && parseAddress(account.address);
    if (account === undefined || address === undefined) {
      return { kind: 'barred', why: 'The token has no such mailbox: name one that it may use' };
    }
    if (protocol === 'imap' && (await callerPolicy({ store, caller }, [account.id])).governed) {
      return { kind: 'barred', why: 'The token or mailbox is under an agent policy: use MCP or JMAP' };
    }
    return { kind: 'token', login: loginOf(caller, account.id, address, protocol) };
  }
}

/** Reason why a token cannot log in with a protocol; undefined: it can. */
function barReason({ token, actions }: Caller, protocol: Peer['protocol']): string | undefined {
  if (token === undefined || token.mode === 'frozen') return 'The token is frozen: a person can unfreeze it';
  if (token.narrow !== null) return 'A narrowed token is valid for MCP and REST only';
  if (protocol === 'imap') {
    const isAllowed = actions.has('mail_read') && actions.has('manage');
    return isAllowed ? undefined : 'IMAP needs a token with the actions "read" and "manage"';
  }
  if (!actions.has('send')) return 'The token has no action "send"';
  return token.mode === 'normal' ? undefined : `The token cannot send by SMTP in its mode (${token.mode})`;
}

/** The mailbox that the client named, or the only one. */
function named(accounts: readonly AccountInfo[], user: string | undefined): AccountInfo | undefined {
  if (user === undefined || user === '') return accounts.length === 1 ? accounts[0] : undefined;
  const address = parseAddress(user);
  const key = address && addressKey(address);
  return accounts.find((one) => keyOf(one) === key);
}

function keyOf({ address }: AccountInfo): string | undefined {
  const parsed = parseAddress(address);
  return parsed && addressKey(parsed);
}

function loginOf(
  { actor, organization, token }: Caller,
  account: number,
  address: Login['address'],
  protocol: Peer['protocol'],
): Login {
  return {
    account,
    address,
    credential: 0,
    token: { id: token?.id ?? 0, actor, protocol },
    ...(organization !== undefined && { tenant: organization }),
    ...(token?.mode === 'read_only' && { readOnly: true }),
    ...(token != null && token.expiresAt !== null && { expiresAt: token.expiresAt }),
  };
}
