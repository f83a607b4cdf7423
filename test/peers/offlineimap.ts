import { mkdtempDisposable, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Box } from '../support/box.ts';
import { certificateOf } from './certificate.ts';
import { Maildir } from './maildir.ts';

/** OfflineIMAP with a Maildir of its own, which it keeps like the mailbox of a box. */
export interface OfflineImap extends AsyncDisposable {
  readonly inbox: Maildir;
  readonly program: string;
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
}

/** Sets up OfflineIMAP for the mailbox of a box, over TLS, with everything synchronized both ways. */
export async function offlineImap(box: Box): Promise<OfflineImap> {
  const home = await mkdtempDisposable(join(tmpdir(), 'offlineimap-'));
  const config = join(home.path, 'offlineimaprc');
  const { sha1 } = await certificateOf(box, home.path);
  await writeFile(config, configuration(box, home.path, sha1), { mode: 0o600 });
  return {
    inbox: new Maildir(join(home.path, 'mail', 'INBOX')),
    program: '/usr/bin/offlineimap',
    args: ['-c', config, '-o', '-u', 'quiet'],
    env: { ...box.env, HOME: home.path },
    [Symbol.asyncDispose]: () => home[Symbol.asyncDispose](),
  };
}

function configuration(box: Box, home: string, fingerprint: string): string {
  return `
[general]
accounts = box
metadata = ${home}/metadata
fsync = false

[Account box]
localrepository = near
remoterepository = far

[Repository near]
type = Maildir
localfolders = ${home}/mail
sep = /

[Repository far]
type = IMAP
remotehost = 127.0.0.1
remoteport = ${box.port('imaps')}
ssl = yes
cert_fingerprint = ${fingerprint}
remoteuser = ${box.address}
remotepass = ${box.password}
maxconnections = 3
`;
}
