import { X509Certificate } from 'node:crypto';
import { mkdir, mkdtempDisposable, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Box } from '../support/box.ts';
import { succeed } from './run.ts';
import { openTerminal, type Terminal } from './terminal.ts';

/** NeoMutt as somebody who has just set it up for this box, in a home of its own. */
export interface NeoMutt extends AsyncDisposable {
  /** Sends from the command line. */
  send(to: string, subject: string, text: string): Promise<void>;
  /** Opens a mailbox on a terminal. */
  open(mailbox: string): Promise<Terminal>;
}

export async function neomutt(box: Box): Promise<NeoMutt> {
  const home = await mkdtempDisposable(join(tmpdir(), 'mutt-'));
  const rc = join(home.path, 'muttrc');
  await writeFile(rc, await configuration(box, home.path));
  await mkdir(join(home.path, 'tmp'));
  const env = { ...box.env, HOME: home.path, TERM: 'screen-256color', LC_ALL: 'C.UTF-8' };
  return {
    async send(to, subject, text) {
      await succeed('/usr/bin/neomutt', ['-n', '-F', rc, '-s', subject, '--', to], { input: text, env });
    },
    open: (mailbox) => openTerminal(join(home.path, 'tmux'), ['neomutt', '-n', '-F', rc, '-f', mailbox], env),
    [Symbol.asyncDispose]: () => home[Symbol.asyncDispose](),
  };
}

async function configuration(box: Box, home: string): Promise<string> {
  // As after "accept always": what the box made for itself is trusted by its certificate.
  const pem = await readFile(join(box.dataDir, 'tls', 'self-signed.pem'), 'latin1');
  const certificate = new X509Certificate(pem.slice(pem.indexOf('-----BEGIN CERTIFICATE')));
  await writeFile(join(home, 'certificates'), certificate.toString());
  const user = encodeURIComponent(box.address);
  return [
    `set from = "${box.address}"`,
    'set use_from = yes',
    'set realname = "Me"',
    `set folder = "imaps://${user}@127.0.0.1:${box.port('imaps')}/"`,
    `set imap_user = "${box.address}"`,
    `set imap_pass = "${box.password}"`,
    `set smtp_url = "smtps://${user}@127.0.0.1:${box.port('submissions')}/"`,
    `set smtp_pass = "${box.password}"`,
    `set certificate_file = "${home}/certificates"`,
    'set ssl_verify_host = no',
    'set ssl_starttls = yes',
    `set tmpdir = "${home}/tmp"`,
    'set spool_file = "=INBOX"',
    'set confirm_append = no',
    'set delete = yes',
    'set quit = yes',
    'set wait_key = no',
    '',
  ].join('\n');
}
