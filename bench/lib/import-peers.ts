import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Subject } from './mailstead.ts';

/** A mailbox that is pulled, and the empty one that it goes to; both at one Dovecot. */
export interface PeerPair {
  from: string;
  to: string;
}

/** Pulls mailboxes with mbsync, one process each, all at the same time. */
export function pullWithMbsync(dovecot: Subject, pairs: readonly PeerPair[]): Promise<void> {
  return inScratch(async (dir) => {
    await Promise.all(
      pairs.map(async (pair, number) => {
        const config = join(dir, `rc-${number}`);
        writeFileSync(config, mbsyncConfiguration(dovecot, pair, join(dir, `state-${number}`)), { mode: 0o600 });
        mkdirSync(join(dir, `state-${number}`));
        await run('/usr/bin/mbsync', ['-q', '-c', config, 'all'], dir);
      }),
    );
  });
}

/** Pulls mailboxes with OfflineIMAP, all accounts at the same time, with three connections each. */
export function pullWithOfflineImap(dovecot: Subject, pairs: readonly PeerPair[]): Promise<void> {
  return inScratch(async (dir) => {
    const config = join(dir, 'rc');
    writeFileSync(config, offlineImapConfiguration(dovecot, pairs, dir), { mode: 0o600 });
    await run('/usr/bin/offlineimap', ['-c', config, '-o', '-u', 'quiet'], dir);
  });
}

async function inScratch(work: (dir: string) => Promise<void>): Promise<void> {
  const dir = mkdtempSync(join(process.env['BENCH_DIR'] ?? tmpdir(), 'import-peer-'));
  try {
    await work(dir);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

async function run(program: string, args: readonly string[], home: string): Promise<void> {
  const child = spawn(program, args, {
    env: { ...process.env, HOME: home },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const [code] = (await once(child, 'close')) as [number];
  if (code !== 0) throw new Error(`${program} ended with ${code}`);
}

function mbsyncConfiguration({ imapPort, password }: Subject, { from, to }: PeerPair, state: string): string {
  const account = (name: string, user: string): string => `
IMAPAccount ${name}
Host 127.0.0.1
Port ${imapPort}
User ${user}
Pass ${password}
SSLType None
AuthMechs LOGIN

IMAPStore ${name}
Account ${name}
`;
  return `${account('far', from)}${account('near', to)}
Channel all
Far :far:
Near :near:
Patterns *
Create Near
Sync Pull
SyncState ${state}/
CopyArrivalDate yes
`;
}

function offlineImapConfiguration({ imapPort, password }: Subject, pairs: readonly PeerPair[], home: string): string {
  const repository = (name: string, user: string, more = ''): string => `
[Repository ${name}]
type = IMAP
remotehost = 127.0.0.1
remoteport = ${imapPort}
ssl = no
starttls = no
remoteuser = ${user}
remotepass = ${password}
maxconnections = 3
${more}
`;
  const accounts = pairs.map(
    ({ from, to }, number) => `
[Account a${number}]
localrepository = near${number}
remoterepository = far${number}
${repository(`near${number}`, to)}${repository(`far${number}`, from, 'readonly = true')}`,
  );
  return `
[general]
accounts = ${pairs.map((_, number) => `a${number}`).join(', ')}
maxsyncaccounts = ${pairs.length}
metadata = ${home}/metadata
${accounts.join('')}`;
}
