import { createConnection } from 'node:net';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Box } from '../support/box.ts';
import { foreignAuthors } from '../support/foreign-authors.ts';
import { http, organizationBox, tool } from '../support/mcp.ts';

let box: Box;
let base: string;
let token: string;
let key: string;

beforeAll(async () => {
  ({ box, base, token } = await organizationBox('Senders'));
  for (const domain of ['a.test', 'b.test', 'unproved.test']) {
    await tool(base, 'add_email_domain', { domain }, token);
    if (domain !== 'unproved.test') await tool(base, 'verify_email_domain', { domain }, token);
  }
  const made = await tool(base, 'create_email_api_key', { name: 'a', allowedDomains: ['a.test'] }, token);
  key = String(made.body['secret']);
});
afterAll(() => box[Symbol.asyncDispose]());

async function post(body: object, auth = key): Promise<{ status: number; error: unknown; from: unknown }> {
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${auth}` };
  const { status, json = {} } = await http('POST', `${base}/api/email/send`, headers, JSON.stringify(body));
  return { status, error: json['error'], from: (json['envelope'] as { mailFrom?: unknown } | undefined)?.mailFrom };
}
const rest = { to: 'you@elsewhere.example', subject: 'x', text: 'x' };
/** A key sends from any plain address of its domain. */
const own = /^[^"@]+@a\.test$/;

test(`a foreign author does not leave over HTTP: ${foreignAuthors.length} forms, each in every place`, async () => {
  expect(foreignAuthors.length).toBeGreaterThanOrEqual(60);
  const left: unknown[] = [];
  for (const form of foreignAuthors) {
    const here = Buffer.from(form, 'latin1').toString().replaceAll('box.test', 'a.test');
    const value = here.slice(here.indexOf(':') + 1);
    const [name = '', ...more] = here.split('\r\n').at(-1)?.split(':') ?? [];
    const tries = [
      { ...rest, from: value },
      { ...rest, from: value.trim() },
      { ...rest, from: `${value.trim()} <me@a.test>` },
      { ...rest, from: 'me@a.test', headers: { [name]: more.join(':').trim() } },
      { ...rest, from: 'me@a.test', headers: { 'X-Any': here } },
    ];
    for (const body of tries) {
      const said = await post(body);
      if (said.status === 202 && !own.test(String(said.from))) left.push([form, body, said]);
      // Plain text outside of an address is no author, but a name that shows another address is one.
      if (said.status === 202 && /ceo@bank|ceo=40bank/.test(body.from)) left.push([form, body, said]);
    }
  }
  expect(left).toEqual([]);
});

test('a key sends from its domains only: 80 spellings of others', async () => {
  const domains = [
    'b.test',
    'sub.a.test',
    'a.test.evil',
    'unproved.test',
    'evil-a.test',
    'a.testa',
    'xa.test',
    'elsewhere.example',
  ];
  const spellings = domains.flatMap((domain) => [
    `me@${domain}`,
    `ME@${domain.toUpperCase()}`,
    `Me <me@${domain}>`,
    `"me@a.test" <me@${domain}>`,
    `me@a.test <me@${domain}>`,
    `me@a.test, you@${domain}`,
    `<me@a.test>, <you@${domain}>`,
    `me@a.test\u0000@${domain}`,
    `=?utf-8?q?me=40a.test?= <me@${domain}>`,
    `"me@a.test"@${domain}`,
  ]);
  expect(spellings).toHaveLength(80);
  const said = await Promise.all(spellings.map((from) => post({ ...rest, from })));
  expect(said.filter((one) => one.status < 400 || one.status > 499)).toEqual([]);
  expect(await post({ ...rest, from: 'me@A.TEST.' })).toMatchObject({ status: 400 });
  expect(await post({ ...rest, from: 'me@a.test' })).toMatchObject({ status: 202 });
});

test(`a foreign author does not leave over SMTP: ${foreignAuthors.length} headers`, async () => {
  const me = box.address;
  const said = [];
  for (const header of foreignAuthors) {
    said.push(await submit(me, `${header}\r\nTo: you@elsewhere.example\r\n\r\nx\r\n`));
  }
  expect(said.filter((code) => !code.startsWith('5'))).toEqual([]);
  expect(await submit(me, `From: ${me}\r\nTo: you@elsewhere.example\r\n\r\nx\r\n`)).toMatch(/^250/);
});

/** Hands octets over as the mailbox of local mode; answers the last reply. */
async function submit(from: string, message: string): Promise<string> {
  const socket = createConnection(box.port('submission'), '127.0.0.1');
  const lines = createInterface({ input: socket })[Symbol.asyncIterator]();
  const reply = async (): Promise<string> => {
    for (;;) {
      const { value, done } = await lines.next();
      if (done === true) return 'closed';
      if (/^\d{3} /.test(value)) return value;
    }
  };
  const ask = (line: string): Promise<string> => {
    socket.write(`${line}\r\n`, 'latin1');
    return reply();
  };
  await reply();
  await ask('EHLO test');
  const plain = Buffer.from(`\0${from}\0${box.password}`).toString('base64');
  expect(await ask(`AUTH PLAIN ${plain}`)).toMatch(/^235/);
  await ask(`MAIL FROM:<${from}>`);
  await ask('RCPT TO:<you@elsewhere.example>');
  await ask('DATA');
  const last = await ask(`${message}.`);
  socket.destroy();
  return last;
}
