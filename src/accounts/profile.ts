import { sealedPassword } from '../../mail/store/credential.ts';
import type { World } from '../operations/world.ts';
import { PASSWORD_PURPOSE } from './credential.ts';
import { mailboxToken } from './mailbox-token.ts';

export interface MailServer {
  host: string;
  port: number;
  /** TLS from the first octet. */
  secure: boolean;
  username: string;
  password: string;
}

/** Everything that a program needs to use a mailbox. Holds its password: never log it. */
export interface ConnectionProfile {
  address: string;
  imap: MailServer;
  smtp: MailServer;
  jmap: { url: string; token: string };
}

/**
 * The profile of a mailbox with the doors that are really open. In local mode the host is 127.0.0.1, which programs on
 * this machine reach; HOSTNAME then is a name that nobody can look up. Undefined: the password cannot be revealed.
 */
export async function connectionProfile(
  world: Pick<World, 'store' | 'secrets' | 'settings' | 'ports' | 'baseUrl'>,
  { id, address }: { id: number; address: string },
): Promise<ConnectionProfile | undefined> {
  const row = await world.store.read(sealedPassword, { account: id });
  if (row === undefined) return undefined;
  const password = world.secrets.open(PASSWORD_PURPOSE, 'credential', row.ref, row.sealed).toString();
  const host = world.settings.live ? world.settings.hostname : '127.0.0.1';
  const ports = world.ports();
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
      url: `${world.baseUrl()}/jmap/session`,
      token: mailboxToken(world.settings.tokenPrefix, id, password),
    },
  };
}
