import { sealedPassword } from '../../mail/store/account/credential.ts';
import type { AppContext } from '../core/app-context.ts';
import { PASSWORD_PURPOSE } from './new-credential.ts';

export interface MailServer {
  host: string;
  port: number;
  /** TLS from the first octet. */
  secure: boolean;
  username: string;
  password: string;
}

/** Connection settings of a mailbox. Contains the password: never log it. */
export interface ConnectionProfile {
  address: string;
  imap: MailServer;
  smtp: MailServer;
  jmap: { url: string; token: string };
}

/**
 * Creates the connection profile of a mailbox from the open listeners. In local mode the host is 127.0.0.1, because
 * HOSTNAME is not in the DNS. Undefined if the password cannot be revealed.
 */
export async function connectionProfile(
  context: Pick<AppContext, 'store' | 'secrets' | 'settings' | 'ports' | 'baseUrl'>,
  { id, address }: { id: number; address: string },
): Promise<ConnectionProfile | undefined> {
  const row = await context.store.read(sealedPassword, { account: id });
  if (row === undefined) return undefined;
  const password = context.secrets.open(PASSWORD_PURPOSE, 'credential', row.ref, row.sealed).toString();
  const host = context.settings.live ? context.settings.hostname : '127.0.0.1';
  const ports = context.ports();
  const server = (implicit: number | undefined, starttls: number | undefined): MailServer => ({
    host,
    port: implicit ?? starttls ?? 0,
    secure: implicit !== undefined,
    username: address,
    password,
  });
  return {
    address,
    imap: server(ports['imaps'], ports['imap']),
    smtp: server(ports['submissions'], ports['submission']),
    jmap: {
      url: `${context.baseUrl()}/jmap/session`,
      token: mailboxToken(context.settings.tokenPrefix, id, password),
    },
  };
}

/**
 * Encodes account and mailbox password as one Bearer token for the JMAP endpoint. It changes with the password and has
 * the same permissions.
 */
export function mailboxToken(prefix: string, account: number, password: string): string {
  return `${prefix}_jm_${account.toString(36)}_${Buffer.from(password).toString('base64url')}`;
}

/** Decodes a mailbox token without verifying the password; undefined if it is not one. */
export function readMailboxToken(text: string, prefix: string): { account: number; password: string } | undefined {
  if (!text.startsWith(`${prefix}_jm_`)) return undefined;
  const [, account, password] = /^([1-9a-z][0-9a-z]{0,9})_([\w-]{1,400})$/.exec(text.slice(prefix.length + 4)) ?? [];
  if (account === undefined || password === undefined) return undefined;
  return { account: Number.parseInt(account, 36), password: Buffer.from(password, 'base64url').toString() };
}
