import { mkdir, mkdtempDisposable, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Box, startBox } from '../support/box.ts';
import { certificateOf } from './certificate.ts';
import { flow } from './flow.ts';
import { appendNumbered, numbersOnServer } from './numbered-mail.ts';
import { openTerminal } from './terminal.ts';

const COUNT = 120;

let box: Box;
let home: string;
let env: NodeJS.ProcessEnv;
const cleanup = new AsyncDisposableStack();
beforeAll(async () => {
  box = cleanup.use(await startBox());
  home = cleanup.use(await mkdtempDisposable(join(tmpdir(), 'programs-'))).path;
  const { file } = await certificateOf(box, home);
  env = { ...box.env, HOME: home, SSL_CERT_FILE: file, TERM: 'screen-256color', LC_ALL: 'C.UTF-8' };
  await appendNumbered(box, 'INBOX', 0, COUNT);
});
afterAll(() => cleanup.disposeAsync());

async function countIn(mailbox: string): Promise<number> {
  await using client = await flow(box);
  const status = await client.status(mailbox, { messages: true });
  return status === false ? 0 : (status.messages ?? 0);
}

async function newMail(subject: string): Promise<void> {
  await using client = await flow(box);
  await client.append('INBOX', `From: a@example.org\r\nTo: ${box.address}\r\nSubject: ${subject}\r\n\r\nHello\r\n`);
}

test('aerc shows new mail as it comes, reads, flags, moves and deletes', async () => {
  const directory = join(home, '.config', 'aerc');
  await mkdir(directory, { recursive: true });
  const user = `${encodeURIComponent(box.address)}:${box.password}`;
  const account = `[box]\nsource = imaps://${user}@localhost:${box.port('imaps')}\ndefault = INBOX\nfrom = Me <${box.address}>\n`;
  await writeFile(join(directory, 'accounts.conf'), account, { mode: 0o600 });
  await using aerc = await openTerminal(join(home, 'aerc'), ['aerc'], env);
  await aerc.sees('number ');
  await newMail('for aerc');
  await aerc.sees('for aerc');
  await aerc.type(':select 0', 'Enter');
  await aerc.type('Enter');
  await aerc.sees('Hello');
  await aerc.type('q');
  await aerc.type(':flag', 'Enter');
  await aerc.sees('flagged');
  await aerc.type(':mv Archive', 'Enter');
  await expect.poll(() => countIn('Archive')).toBe(1);
  const before = await countIn('INBOX');
  await aerc.type(':delete-message', 'Enter');
  await expect.poll(() => countIn('INBOX')).toBe(before - 1);
  const archived = await numbersOnServer(box, 'Archive');
  expect([...archived.flags.values()]).toEqual(['FS']);
  await aerc.type(':quit', 'Enter');
});

test('Alpine logs in, reads, saves into another folder, deletes and expunges', async () => {
  const server = `{localhost:${box.port('imaps')}/imap/ssl/novalidate-cert/user=${box.address}}`;
  await writeFile(
    join(home, '.pinerc'),
    [
      `inbox-path=${server}INBOX`,
      `folder-collections=Box ${server}[]`,
      'user-domain=box.test',
      'last-version-used=7.00',
      'feature-list=quit-without-confirm,expunge-without-confirm,expunge-without-confirm-everywhere',
      '',
    ].join('\n'),
  );
  const before = await countIn('INBOX');
  await newMail('for Alpine');
  await using alpine = await openTerminal(join(home, 'alpine'), ['alpine', '-i'], env);
  await alpine.sees('PASSWORD');
  await alpine.write(box.password);
  await alpine.type('Enter');
  await alpine.sees('Preserve password');
  await alpine.type('n');
  await alpine.sees('for Alpine');
  await alpine.sees('MESSAGE INDEX');
  // The last message, which it opens.
  await alpine.type('End');
  await alpine.type('Enter');
  await alpine.sees('Hello');
  await alpine.type('s');
  await alpine.sees('SAVE Msg');
  await alpine.type('C-u');
  await alpine.write('Drafts');
  await alpine.type('Enter');
  await expect.poll(() => countIn('Drafts')).toBe(1);
  await alpine.type('<');
  await alpine.sees('MESSAGE INDEX');
  await alpine.type('x');
  await expect.poll(() => countIn('INBOX')).toBe(before);
  await alpine.type('q');
});
