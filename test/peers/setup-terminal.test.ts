import { mkdtempDisposable } from 'node:fs/promises';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { HOST, acmeWorld, secured, type AcmeWorld } from '../support/acme-box.ts';
import { startKnot } from '../support/name-server-process.ts';
import { Wire } from '../support/wire.ts';
import { openTerminal } from './terminal.ts';

const COMMAND = join(import.meta.dirname, '../../bin/mailstead');
const ZONE = 'example.com';

/** Opens the link as the phone does, and asks for the settings: their password. */
async function passwordBehind(link: string, { appliance, pebble }: AcmeWorld): Promise<string> {
  const url = new URL(link);
  const origin = `https://${HOST}`;
  const body = new URLSearchParams({ token: url.searchParams.get('token') ?? '', use: 'settings' }).toString();
  const page = await new Promise<string>((resolve, reject) => {
    const headers = {
      host: HOST,
      origin,
      'sec-fetch-site': 'same-origin',
      'content-type': 'application/x-www-form-urlencoded',
      'content-length': Buffer.byteLength(body),
    };
    const options = { host: '127.0.0.1', port: appliance.listeners['https'] ?? 0, servername: HOST, ca: pebble.root };
    const outgoing = request({ ...options, path: url.pathname, method: 'POST', headers }, (response) => {
      void text(response).then(resolve, reject);
    });
    outgoing.once('error', reject);
    outgoing.end(body);
  });
  return /<output[^>]*>([^<]+)<\/output>/.exec(page)?.[1] ?? expect.fail(page);
}

async function receiveMail({ appliance }: AcmeWorld, to: string): Promise<void> {
  const wire = await Wire.open(appliance.listeners['smtp'] ?? 0);
  await wire.reply();
  for (const line of ['EHLO friend.test', 'MAIL FROM:<friend@friend.test>', `RCPT TO:<${to}>`, 'DATA'])
    expect(await wire.command(line)).toMatch(/^[23]/);
  const mail = `From: friend@friend.test\r\nTo: ${to}\r\nSubject: for the phone\r\nMessage-ID: <1@friend.test>\r\n\r\nHello\r\n.`;
  expect(await wire.command(mail)).toMatch(/^250/);
  await wire.command('QUIT');
}

/** Subjects of all folders, as a mail program on the phone reads them. */
async function subjectsOf(world: AcmeWorld, address: string, password: string): Promise<string> {
  const socket = await secured(world, 'imaps');
  const commands = [`LOGIN "${address}" "${password}"`, 'SELECT INBOX', 'FETCH 1:* BODY.PEEK[HEADER.FIELDS (SUBJECT)]'];
  socket.write(
    [...commands, 'SELECT Junk', 'FETCH 1:* BODY.PEEK[HEADER.FIELDS (SUBJECT)]', 'LOGOUT']
      .map((line, i) => `a${i} ${line}\r\n`)
      .join(''),
  );
  return text(socket);
}

test('mailstead setup, typed in a terminal: from an empty server by a DNS provider to a mail on the phone', async () => {
  await using home = await mkdtempDisposable(join(tmpdir(), 'setup-'));
  const records = `${ZONE}. 3600 IN NS ns1.${ZONE}.\nns1.${ZONE}. 3600 IN A 127.0.0.1\n${ZONE}. 300 IN TXT "site-proof=abc"`;
  await using knot = await startKnot(ZONE, records);
  await using world = await acmeWorld({ settings: { MAILSTEAD_DNS_PORT: 'off' } });
  world.internet.publish('com. 60 IN NS a.gtld.test.\nns1.hoster.test. 60 IN A 127.0.0.1');
  world.internet.delegate(ZONE, ['ns1.hoster.test'], knot.port);
  const command = ['sh', '-c', `${COMMAND} setup --data-dir ${world.dataDir}; echo "exit $?"; sleep 600`];
  await using terminal = await openTerminal(join(home.path, 'tmux'), command, { ...process.env, LC_ALL: 'C.UTF-8' });
  const answer = async (question: string, line: string): Promise<void> => {
    await terminal.sees(question);
    await terminal.write(line);
    await terminal.type('Enter');
  };

  await answer('Domain, such as example.com:', ZONE);
  expect(await terminal.sees('How shall the DNS records')).toContain('auth/setup?token=');
  await answer('3  by hand\nNumber:', '1');
  await answer('9  Own name server (RFC 2136)\nNumber:', '9');
  await answer('Primary name server:', '127.0.0.1');
  await answer('Port (optional):', String(knot.port));
  await answer('Name of the TSIG key:', knot.keyName);
  await answer('Algorithm (optional):', '');
  await answer('Secret of the TSIG key (base64):', 'd3Jvbmc=');
  await answer('Primary name server:', '127.0.0.1');
  await answer('Port (optional):', String(knot.port));
  await answer('Name of the TSIG key:', knot.keyName);
  await answer('Algorithm (optional):', '');
  await answer('Secret of the TSIG key (base64):', knot.secret);
  const queried = await terminal.sees('First mailbox, before @example.com:');
  expect(queried).toContain('[x] dns      The records of example.com are published.');
  expect(queried).not.toContain(knot.secret);
  await answer('First mailbox', 'kim');
  await answer('Phone to set up now', 'phone of Kim');
  // Nobody opened the link of the owner yet.
  const screen = await terminal.sees('exit 1');
  expect(screen).toMatch(/Still open:\n +owner +Open this link/);
  const [link = ''] = /https:\/\/\S+\/auth\/device\?token=\w+/.exec(screen.replace(/\n(?=[0-9a-f]+\n)/, '')) ?? [];
  const password = await passwordBehind(link, world);
  await receiveMail(world, `kim@${ZONE}`);
  expect(await subjectsOf(world, `kim@${ZONE}`, password)).toContain('Subject: for the phone');
});
