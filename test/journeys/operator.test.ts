import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { ImapFlow } from 'imapflow';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Box, startBox } from '../support/box.ts';

const command = fileURLToPath(new URL('../../bin/mailstead', import.meta.url));
let box: Box;

beforeAll(async () => {
  box = await startBox();
});
afterAll(() => box[Symbol.asyncDispose]());

function mailstead(words: string, input?: string): { status: number | null; out: string; err: string } {
  const { status, stdout, stderr } = spawnSync(command, [...words.split(' '), '--data-dir', box.dataDir], {
    encoding: 'utf8',
    ...(input !== undefined && { input }),
  });
  return { status, out: stdout, err: stderr };
}

function client(user: string, pass: string): ImapFlow {
  const auth = { user, pass };
  return new ImapFlow({
    host: '127.0.0.1',
    port: box.port('imaps'),
    secure: true,
    auth,
    logger: false,
    tls: { rejectUnauthorized: false },
  });
}

describe('the local operator', () => {
  test('sees what runs, for people and for programs', () => {
    expect(mailstead('status').out).toContain('local mode, box.test');
    const said = JSON.parse(mailstead('status --json').out) as { pid: number; listeners: { smtp: number } };
    expect(said.pid).toBe(box.pid);
    expect(said.listeners.smtp).toBe(box.port('smtp'));
  });

  test('hosts a domain and is told what to publish', () => {
    const added = mailstead('domain add shop.example');
    expect(added.status).toBe(0);
    for (const record of [
      'MX',
      'v=spf1',
      'ms1._domainkey.shop.example',
      'ms2._domainkey.shop.example',
      '_dmarc.shop.example',
    ]) {
      expect(added.out).toContain(record);
    }
    expect(mailstead('domain list').out).toMatch(/shop\.example +yes/);
  });

  test('makes a mailbox that can log in, and a new password ends its sessions', async () => {
    const { password } = JSON.parse(mailstead('mailbox add anna@box.test --json').out) as { password: string };
    const anna = client('anna@box.test', password);
    await anna.connect();
    const closed = new Promise<void>((resolve) => anna.once('close', () => resolve()));
    anna.on('error', () => undefined);
    const changed = mailstead('mailbox password anna@box.test --password-stdin', 'a-better-one-of-her-own\n');
    expect(changed.out).toContain('a-better-one-of-her-own');
    await closed;
    const again = client('anna@box.test', 'a-better-one-of-her-own');
    await again.connect();
    expect((await again.list()).map((folder) => folder.path)).toContain('Archive');
    await again.logout();
    expect(mailstead('mailbox list').out).toContain('anna@box.test');
  });

  test.each([
    ['mailbox add anna@nowhere.example', 1, 'no domain nowhere.example'],
    ['mailbox add anna', 1, 'not a mail address'],
    ['mailbox add', 2, 'usage: mailstead mailbox add'],
    ['queue retry one', 2, 'usage: mailstead queue retry'],
    ['queue cancel 99999', 1, 'None of these'],
    ['trace nothing', 1, 'Nothing is known'],
    ['tidy up', 2, 'see mailstead --help'],
    ['status --nonsense', 2, 'see mailstead --help'],
  ])('%s is answered with %i and a sentence', (words, status, sentence) => {
    const said = mailstead(words);
    expect(said.err).toContain(sentence);
    expect(said.status).toBe(status);
  });

  test('is told when nothing runs there', () => {
    const { status, stderr } = spawnSync(command, ['status', '--data-dir', '/nonexistent/data'], { encoding: 'utf8' });
    expect(status).toBe(1);
    expect(stderr).toMatch(/^mailstead: .*(?:running|start)/);
  });
});
