import { mkdir, mkdtempDisposable, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ImapFlow } from 'imapflow';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Box, startBox } from '../support/box.ts';
import { mbsyncConfiguration } from './mbsync.ts';
import { run } from './run.ts';

/** A shared mailbox as its other reader finds it. */
const SHARED = 'Other Users/ann@box.test/INBOX';

let box: Box;
/** Token with read, manage and send; and the same under an agent policy. */
let token: string;
let governed: string;

beforeAll(async () => {
  box = await startBox();
  await box.ask('provision_email', { domain: 'box.test', localPart: 'ann' });
  await box.ask('share_folder', { address: 'ann@box.test', withAddress: box.address });
  const mint = async (name: string) =>
    (await box.ask('create_agent_token', { name, actions: ['read', 'manage', 'send'] })) as {
      token: { id: string };
      secret: string;
    };
  token = (await mint('free')).secret;
  const under = await mint('governed');
  governed = under.secret;
  await box.ask('save_agent_policy', { tokenId: under.token.id, name: 'desk', preset: 'support-desk' });
});
afterAll(() => box[Symbol.asyncDispose]());

describe('SCRAM by libraries of others', () => {
  test.each([
    ['SCRAM-SHA-256', true],
    ['SCRAM-SHA-256', false],
    ['PLAIN', true],
  ])('mbsync (Cyrus SASL) with %s, right password: %s', async (mechanism, isRight) => {
    await using home = await mkdtempDisposable(join(tmpdir(), 'mechanism-'));
    const right = mbsyncConfiguration(box, home.path).replace('SSLType', `AuthMechs ${mechanism}\nSSLType`);
    const config = isRight ? right : right.replace(box.password, 'wrong');
    await mkdir(join(home.path, 'mail'));
    await writeFile(join(home.path, 'rc'), config, { mode: 0o600 });
    const said = await run('/usr/bin/mbsync', ['-c', join(home.path, 'rc'), '--list', 'all'], { env: { ...box.env } });
    expect(said.status === 0, said.err).toBe(isRight);
    if (isRight) expect(said.out).toContain('INBOX');
  });
});

describe('SCRAM bound to the TLS connection, by GNU SASL', () => {
  test.each([
    ['SCRAM-SHA-256-PLUS', [], true],
    ['SCRAM-SHA-256-PLUS', [], false],
    ['SCRAM-SHA-256', ['--no-cb'], true],
  ] as const)('%s %j, right password: %s', async (mechanism, binding, isRight) => {
    const password = isRight ? box.password : 'wrong';
    const login = ['-a', box.address, '-z', box.address, '-p', password, '-m', mechanism, ...binding];
    const server = ['--imap', '--verbose', '--x509-ca-file=', '--connect', `127.0.0.1:${box.port('imap')}`];
    const { out, err } = await run('/usr/bin/gsasl', [...server, ...login], { env: { ...box.env } });
    expect(out, err).toContain(`AUTHENTICATE ${mechanism}\n`);
    // Means that the server has shown that it knows the password, too.
    expect(err.includes('Client authentication finished (server trusted)'), out + err).toBe(isRight);
    expect(out.includes('NO [AUTHENTICATIONFAILED]'), out + err).toBe(!isRight);
  });
});

describe('tokens by libraries of others', () => {
  test.each(['OAUTHBEARER', 'XOAUTH2'])('curl with %s', async (mechanism) => {
    const list = (bearer: string) =>
      run('/usr/bin/curl', [
        '-sSk',
        '--login-options',
        `AUTH=${mechanism}`,
        '--oauth2-bearer',
        bearer,
        '-u',
        `${box.address}:`,
        `imaps://127.0.0.1:${box.port('imaps')}/`,
      ]);
    const listed = await list(token);
    expect(listed.out, listed.err).toContain('* LIST ');
    expect(listed.out).not.toContain('Other Users');
    expect((await list(governed)).status).not.toBe(0);
    expect((await list(`${token}x`)).status).not.toBe(0);
  });

  test('imapflow with a token does not see shared mailboxes, and with the password it does', async () => {
    const names = async (auth: { user: string; pass?: string; accessToken?: string }): Promise<string[]> => {
      const client = new ImapFlow({
        host: '127.0.0.1',
        port: box.port('imaps'),
        secure: true,
        tls: { rejectUnauthorized: false },
        auth,
        logger: false,
      });
      await client.connect();
      const found = (await client.list()).map(({ path }) => path);
      const opened = await client.mailboxOpen(SHARED).then(
        () => [`opened ${SHARED}`],
        () => [],
      );
      await client.logout();
      return [...found, ...opened];
    };
    const asPerson = await names({ user: box.address, pass: box.password });
    expect(asPerson).toEqual(expect.arrayContaining([SHARED, `opened ${SHARED}`]));
    const asToken = await names({ user: box.address, accessToken: token });
    expect(asToken).toContain('INBOX');
    expect(asToken.filter((name) => name.includes('Other Users'))).toEqual([]);
    await expect(names({ user: box.address, accessToken: governed })).rejects.toThrow();
  });
});
