import { mkdtempDisposable, mkdir, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Box, startBox } from '../support/box.ts';
import { type BoxCertificate, certificateOf } from './certificate.ts';
import { flow } from './flow.ts';
import { startLmtpServer } from './lmtp-server.ts';
import { appendNumbered, numberedMail, numberOf, numbersOnServer } from './numbered-mail.ts';
import { run, succeed } from './run.ts';

const COUNT = 300;

let box: Box;
let home: string;
let certificate: BoxCertificate;
const cleanup = new AsyncDisposableStack();
beforeAll(async () => {
  box = cleanup.use(await startBox());
  home = cleanup.use(await mkdtempDisposable(join(tmpdir(), 'fetching-'))).path;
  certificate = await certificateOf(box, home);
});
afterAll(() => cleanup.disposeAsync());

const numbers = (from: number, to: number): number[] => Array.from({ length: to - from }, (_, n) => from + n);
const env = (): NodeJS.ProcessEnv => ({ ...box.env, HOME: home, SSL_CERT_FILE: certificate.file });

async function folder(name: string, fields = ''): Promise<void> {
  await using client = await flow(box);
  await client.mailboxCreate(name);
  await appendNumbered(box, name, 0, COUNT, fields);
}

test('fetchmail takes each message once, octet for octet, and leaves the folder empty', async () => {
  await folder('Fetchmail');
  const [config, batch] = [join(home, 'fetchmailrc'), join(home, 'batch')];
  const account = `user "${box.address}" password "${box.password}" folder Fetchmail`;
  const tls = `ssl no sslcertck sslfingerprint "${certificate.md5}"`;
  const poll = `poll 127.0.0.1 protocol imap port ${box.port('imaps')} ${account} ${tls}`;
  await writeFile(config, `${poll} fetchall no keep no rewrite bsmtp "${batch}"\n`, { mode: 0o600 });
  const fetch = () =>
    run('/usr/bin/fetchmail', ['-f', config, '--nosyslog'], { env: { ...env(), FETCHMAILHOME: home } });
  expect((await fetch()).status).toBe(0);
  const mails = (await readFile(batch, 'latin1')).split(/^DATA\r?\n/m).slice(1);
  const texts = mails.map((mail) => mail.slice(0, mail.search(/^\.\r?$/m)).replaceAll('\r', ''));
  expect(texts.map(numberOf).toSorted((a, b) => a - b)).toEqual(numbers(0, COUNT));
  // It adds a Received field.
  const seventh = texts.find((text) => numberOf(text) === 7);
  expect(seventh?.replace(/^Received: .*\n(?:\t.*\n)*/, '')).toBe(numberedMail(7, box.address));
  expect((await numbersOnServer(box, 'Fetchmail')).messages).toBe(0);
  // 1: there is no mail.
  expect((await fetch()).status).toBe(1);
});

test('getmail takes new messages only, then with delete all of them, and loses none', async () => {
  // As on delivered mail: getmail takes its envelope sender from there.
  const fields = 'Return-Path: <bounces@example.org>\n';
  await folder('Getmail', fields);
  await using lmtp = await startLmtpServer();
  const state = join(home, 'getmail');
  await mkdir(state);
  const getmail = async (options: string): Promise<string> => {
    await writeFile(join(state, 'getmailrc'), getmailConfiguration(lmtp.port, options));
    return succeed('/usr/bin/getmail', [`--getmaildir=${state}`], { env: env() });
  };
  const keep = 'read_all = false\ndelete = false';
  expect(await getmail(keep)).toContain(`${COUNT} messages`);
  await appendNumbered(box, 'Getmail', COUNT, COUNT + 5, fields);
  expect(await getmail(keep)).toMatch(/\b5 messages .* retrieved/);
  const sent = numbers(0, COUNT + 5).map((number) => `${fields}${numberedMail(number, box.address)}`);
  const taken = lmtp.messages.map((mail) => mail.replace('X-getmail-retrieved-from-mailbox: Getmail\r\n', ''));
  expect(taken.toSorted(byNumber)).toEqual(sent.map((mail) => mail.replaceAll('\n', '\r\n')));
  expect((await numbersOnServer(box, 'Getmail')).messages).toBe(COUNT + 5);
  await getmail('read_all = false\ndelete = true\ndelete_after = 0');
  expect(lmtp.messages).toHaveLength(COUNT + 5);
  expect((await numbersOnServer(box, 'Getmail')).messages).toBe(0);
});

const byNumber = (one: string, other: string): number => numberOf(one) - numberOf(other);

/**
 * Delivers by LMTP. To a Maildir, an mbox file or a program, getmail 6.18 delivers in a child, and listens for SIGCHLD only after
 * the fork: when the child ends first, it waits 180 seconds for it and gives up. That happens on a busy machine.
 */
function getmailConfiguration(port: number, options: string): string {
  return `
[retriever]
type = SimpleIMAPSSLRetriever
server = 127.0.0.1
port = ${box.port('imaps')}
username = ${box.address}
password = ${box.password}
mailboxes = ("Getmail",)
ca_certs = ${certificate.file}
[destination]
type = MDA_lmtp
host = 127.0.0.1
port = ${port}
override = ${box.address}
[options]
${options}
delivered_to = false
received = false
`;
}

test('imapfilter finds by sender, size and flags, marks, labels, copies, moves and deletes', async () => {
  await folder('Imapfilter');
  const script = join(home, 'filter.lua');
  await writeFile(
    script,
    `
options.timeout = 60
options.create = true
account = IMAP { server = 'localhost', port = ${box.port('imaps')}, username = '${box.address}',
  password = '${box.password}', ssl = 'auto' }
all = account.Imapfilter:select_all()
print('all', #all)
sender = account.Imapfilter:contain_from('sender-3@') * account.Imapfilter:is_seen()
sender:add_flags({ 'filtered' })
sender:mark_flagged()
sender:move_messages(account['Filtered/Sender 3'])
print('sender', #account['Filtered/Sender 3']:has_keyword('filtered'))
large = account.Imapfilter:is_larger(700) + account.Imapfilter:match_body('line 39 of')
print('large', #large)
large:copy_messages(account.Archive)
large:delete_messages()
print('left', #account.Imapfilter:select_all())
`,
  );
  const said = await succeed('/usr/bin/imapfilter', ['-t', certificate.file, '-c', script], { env: env() });
  const count = (name: string): number => Number(new RegExp(`^${name}\\s+(\\d+)`, 'm').exec(said)?.[1]);
  const ofSender = numbers(0, COUNT).filter((n) => n % 17 === 3);
  expect([count('all'), count('sender')]).toEqual([COUNT, ofSender.length]);
  const large = numbers(0, COUNT).filter(
    (n) => n % 17 !== 3 && numberedMail(n, box.address).replaceAll('\n', '\r\n').length > 700,
  );
  expect([count('large'), count('left')]).toEqual([large.length, COUNT - ofSender.length - large.length]);
  const moved = await numbersOnServer(box, 'Filtered/Sender 3');
  expect([...moved.flags]).toEqual(ofSender.map((n) => [n, 'FS']));
  expect([...(await numbersOnServer(box, 'Archive')).flags.keys()].toSorted((a, b) => a - b)).toEqual(large);
});

test('curl lists, appends, reads a part, searches and runs commands', async () => {
  const login = ['-sS', '--cacert', certificate.file, '-u', `${box.address}:${box.password}`];
  const curl = (path: string, ...args: string[]): Promise<string> =>
    succeed('/usr/bin/curl', [...login, `imaps://127.0.0.1:${box.port('imaps')}/${path}`, ...args]);
  await curl('', '-X', 'CREATE Curl');
  expect(await curl('')).toContain('* LIST (\\HasNoChildren) "/" Curl');
  const file = join(home, 'curl.eml');
  await writeFile(file, numberedMail(1, box.address).replaceAll('\n', '\r\n'));
  await curl('Curl', '-T', file);
  await curl('Curl', '-T', file);
  expect(await curl('Curl', '-X', 'EXAMINE Curl')).toContain('* 2 EXISTS');
  expect(await curl('Curl;MAILINDEX=1')).toBe(await readFile(file, 'latin1'));
  expect(await curl('Curl;UID=2;SECTION=HEADER.FIELDS%20(SUBJECT)')).toContain('Subject: number 1\r\n');
  expect(await curl('Curl?SUBJECT%20number')).toBe('* SEARCH 1 2\r\n');
  await curl('Curl', '-X', 'STORE 1 +Flags \\Deleted');
  expect(await curl('Curl', '-X', 'EXPUNGE')).toContain('* 1 EXPUNGE');
});
