import { mkdir, mkdtempDisposable, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Box } from '../support/box.ts';
import { succeed } from './run.ts';

/** Changes of one mbsync run on one side. */
export interface Side {
  added: number;
  flagged: number;
  trashed: number;
}

/** A Maildir on disk that mbsync keeps like the mailbox of a box. */
export interface Mirror extends AsyncDisposable {
  /** Both ways; answers what it counted for each side. */
  sync(): Promise<{ here: Side; there: Side }>;
  /** Names of the files of a folder. */
  files(folder?: string): Promise<string[]>;
  /** Message by the name of its file. */
  read(file: string, folder?: string): Promise<string>;
  /** Sets the flags (`S`, `F`, `T`, ...) of a file. */
  flag(file: string, flags: string, folder?: string): Promise<void>;
  add(message: string, folder?: string): Promise<void>;
  remove(file: string, folder?: string): Promise<void>;
  folders(): Promise<string[]>;
  /** Makes a Maildir. */
  create(folder: string): Promise<void>;
}

/** Sets up mbsync for the mailbox of a box, over TLS, with everything synchronized both ways. */
export async function mirror(box: Box): Promise<Mirror> {
  const home = await mkdtempDisposable(join(tmpdir(), 'mbsync-'));
  const maildir = join(home.path, 'mail');
  const config = join(home.path, 'mbsyncrc');
  await mkdir(maildir);
  await writeFile(config, mbsyncConfiguration(box, home.path), { mode: 0o600 });
  const locate = async (file: string, folder: string): Promise<string> => {
    for (const part of ['cur', 'new']) {
      const path = join(maildir, folder, part);
      if ((await readdir(path)).includes(file)) return join(path, file);
    }
    throw new Error(`no file ${file} in ${folder}`);
  };
  let added = 0;
  return {
    async sync() {
      const options = { env: { ...box.env, HOME: home.path } };
      // It counts only on a terminal.
      const said = await succeed('/usr/bin/script', ['-qec', `/usr/bin/mbsync -c ${config} all`, '/dev/null'], options);
      return counts(said);
    },
    async files(folder = 'INBOX') {
      const parts = await Promise.all(['cur', 'new'].map((part) => readdir(join(maildir, folder, part))));
      return parts.flat().sort();
    },
    async read(file, folder = 'INBOX') {
      return readFile(await locate(file, folder), 'latin1');
    },
    async flag(file, flags, folder = 'INBOX') {
      const from = await locate(file, folder);
      const base = file.replace(/:2,.*$/, '');
      await rename(from, join(maildir, folder, 'cur', `${base}:2,${flags}`));
    },
    async add(message, folder = 'INBOX') {
      added += 1;
      await writeFile(join(maildir, folder, 'new', `${1_700_000_000 + added}.${process.pid}_${added}.client`), message);
    },
    async remove(file, folder = 'INBOX') {
      await rm(await locate(file, folder));
    },
    folders: async () => (await readdir(maildir)).sort(),
    async create(folder) {
      for (const part of ['cur', 'new', 'tmp']) await mkdir(join(maildir, folder, part), { recursive: true });
    },
    [Symbol.asyncDispose]: () => home[Symbol.asyncDispose](),
  };
}

/** Configuration of mbsync for a Maildir in `mail` below a home. */
export function mbsyncConfiguration(box: Box, home: string): string {
  return `
IMAPAccount box
Host 127.0.0.1
Port ${box.port('imaps')}
User ${box.address}
Pass ${box.password}
SSLType IMAPS
CertificateFile ${join(box.dataDir, 'tls', 'self-signed.pem')}

IMAPStore far
Account box

MaildirStore near
Path ${home}/mail/
Inbox ${home}/mail/INBOX
SubFolders Verbatim

Channel all
Far :far:
Near :near:
Patterns *
Create Both
Remove Both
Expunge Both
Sync All
SyncState ${home}/state/
CopyArrivalDate yes
`;
}

/** Its last line: `C: 1/1  B: 6/6  F: +0/0 *0/0 #0/0  N: +5/5 *0/0 #0/0`. */
function counts(said: string): { here: Side; there: Side } {
  const side = (name: string): Side => {
    const match = [...said.matchAll(new RegExp(`${name}: \\+(\\d+)/\\d+ \\*(\\d+)/\\d+ #(\\d+)/`, 'g'))].at(-1);
    if (match === undefined) throw new Error(`mbsync counted nothing: ${said}`);
    return { added: Number(match[1]), flagged: Number(match[2]), trashed: Number(match[3]) };
  };
  return { here: side('N'), there: side('F') };
}
