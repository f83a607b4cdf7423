import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Row } from '../../mail/store/engine/types.ts';
import { Box, startBox } from '../support/box.ts';
import { changeBox, rowsOfBox } from '../support/box-database.ts';
import { hasCurl } from '../support/curl.ts';
import { MailboxReader } from '../support/mailbox-reader.ts';
import { tool } from '../support/mcp.ts';

/** The first organization has an owner. */
const CLAIMED = 'UPDATE organization SET claimed_at = 1 WHERE id = 1';
const REPOSITORY = join(import.meta.dirname, '../..');

interface Link extends Row {
  purpose: string;
  organization_id: number | null;
  user_id: number | null;
  mailed: number;
  used_at: number | null;
  expires_at: number;
  created_at: number;
}

/** The database row of a link's secret. */
async function linkOf(box: Box, secret: string): Promise<Link | undefined> {
  const hash = createHash('sha256').update(secret).digest();
  const [link] = await rowsOfBox<Link>(box.dataDir, 'SELECT * FROM link WHERE token_hash = ?', hash);
  return link;
}

/** Text that a start printed, up to its ready line. */
function printedBy(box: Box, from = 0): string {
  return box.printed.slice(from).join('\n');
}

const found = (text: string, pattern: RegExp): string =>
  pattern.exec(text)?.[1] ?? expect.fail(`no ${pattern} in ${text}`);
const tokenIn = (text: string): string => found(text, /^ {2}token {5}(mst_[0-9a-f]{48}) /m);
const signInIn = (text: string): string => found(text, /^ {2}sign in {3}\S+\/auth\/sign-in\?token=([0-9a-f]{48}) /m);
const claimIn = (text: string): string => found(text, /^ {2}claim {5}\S+\/auth\/setup\?token=([0-9a-f]{48})$/m);

describe('local mode', () => {
  let box: Box;
  beforeAll(async () => {
    box = await startBox();
  });
  afterAll(() => box[Symbol.asyncDispose]());
  const base = () => `http://127.0.0.1:${box.port('http')}`;

  test('an operator token with all actions is printed', async () => {
    const token = tokenIn(printedBy(box));
    expect((await tool(base(), 'whoami', {}, token)).body).toMatchObject({
      organization: { id: 'org_1', name: 'Local' },
      operator: true,
      principal: { actions: expect.arrayContaining(['read', 'manage', 'deploy', 'logs', 'restart', 'rollback']) },
    });
    expect((await tool(base(), 'list_organizations', {}, token)).status).toBe(200);
  });

  test('the sign-in link belongs to the owner, lasts a day, and is replaced by a new one', async () => {
    const first = signInIn(printedBy(box));
    expect(printedBy(box)).toContain(`${base()}/auth/sign-in?token=${first}`);
    const { members } = (await box.ask('list_members')) as { members: { userId: string }[] };
    expect(members).toMatchObject([{ email: box.address, role: 'owner', status: 'pending', addressProven: true }]);
    const row = await linkOf(box, first);
    expect(row).toMatchObject({ purpose: 'sign-in', organization_id: null, mailed: 0, used_at: null });
    expect(`usr_${row?.user_id}`).toBe(members[0]?.userId);
    expect((row?.expires_at ?? 0) - (row?.created_at ?? 0)).toBe(86_400_000);
    const { url, email } = (await box.ask('create_sign_in_link')) as { url: string; email: string };
    expect(email).toBe(box.address);
    expect(await linkOf(box, first)).toBeUndefined();
    expect(await linkOf(box, url.slice(url.indexOf('=') + 1))).toMatchObject({ user_id: row?.user_id, used_at: null });
    await expect(box.ask('create_sign_in_link', { email: 'else@box.test' })).rejects.toThrow('has no member');
    const { events } = (await box.ask('list_audit_events', { limit: 100 })) as { events: { operation: string }[] };
    expect(events.map((event) => event.operation)).toEqual(
      expect.arrayContaining(['first_start', 'create_sign_in_link']),
    );
  });

  test('the address of web mail is printed, and its page asks for the mailbox', async () => {
    const address = found(printedBy(box), /^ {2}web mail {2}(\S+) /m);
    expect(address).toBe(`${base()}/mail`);
    const page = await fetch(address);
    expect(page.status).toBe(200);
    expect(await page.text()).toContain('type="password"');
  });

  test.skipIf(!hasCurl)('the commands for agents work as printed', () => {
    const lines = box.printed.flatMap((line) => /^\s+\$ (.+)$/.exec(line)?.[1] ?? []);
    const mine = lines.filter((line) => !line.startsWith('swaks') && !line.includes('imaps://'));
    expect(mine.map((line) => line.split(' ')[0])).toEqual(['bin/mailstead', 'curl', 'curl']);
    const [queue, mcp, rest] = mine.map((line) => {
      const { status, stdout } = spawnSync('/bin/sh', ['-c', line], {
        cwd: REPOSITORY,
        env: box.env,
        encoding: 'utf8',
      });
      return status === 0 ? stdout : expect.fail(line);
    });
    expect(queue).toBe('The queue is empty.\n');
    expect(JSON.parse(mcp ?? '')).toMatchObject({ result: { structuredContent: { organization: { name: 'Local' } } } });
    expect(JSON.parse(rest ?? '')).toMatchObject({ organization: { name: 'Local' } });
    const hint = box.printed.find((line) => line.includes('claude mcp add'));
    expect(hint).toContain(`${base()}/mcp --header "Authorization: Bearer ${tokenIn(printedBy(box))}"`);
  });

  test('a later start prints no earlier secret, and no command that would fail', async () => {
    const { length } = box.printed;
    const secrets = [box.password, tokenIn(printedBy(box)), signInIn(printedBy(box))];
    await box.restart();
    const said = printedBy(box, length);
    for (const secret of secrets) expect(said).not.toContain(secret);
    expect(said).toMatch(/^ {2}token {5}shown at the first start; to create another: bin\/mailstead token add NAME/m);
    expect(await linkOf(box, signInIn(said))).toMatchObject({ purpose: 'sign-in', used_at: null });
    const runnable = said.split('\n').filter((line) => /^\s+\$ /.test(line));
    expect(runnable.filter((line) => /PASSWORD|TOKEN/.test(line))).toEqual([]);
    expect(runnable).toHaveLength(2);
    expect(((await box.ask('list_agent_tokens')) as { tokens: object[] }).tokens).toHaveLength(1);
  });
});

describe('a first start that fails because a port is taken', () => {
  test('names the setting of the port; the next start shows a password and a token that work', async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'mailstead-first-start-'));
    const blocker = createServer().listen(0, '127.0.0.1');
    await once(blocker, 'listening');
    const { port } = blocker.address() as AddressInfo;
    const settings = { LOCAL_PASSWORD: '', SMTP_PORT: String(port) };
    const failing = new Box(dataDir, { settings });
    await expect(failing.start()).rejects.toThrow(
      `Port ${port} on 127.0.0.1 is in use (MAILSTEAD_SMTP_PORT). Stop the other program, or choose another port.`,
    );
    expect(printedBy(failing)).not.toMatch(/mst_/);
    blocker.close();
    await once(blocker, 'close');
    try {
      await using box = await startBox({ dataDir, settings: { LOCAL_PASSWORD: '' } });
      const shown = printedBy(box);
      const [token, password] = [tokenIn(shown), found(shown, /^ {2}password {2}(\S+) {3}\(shown once/m)];
      const base = `http://127.0.0.1:${box.port('http')}`;
      expect((await tool(base, 'whoami', {}, token)).status).toBe(200);
      const { tokens } = (await box.ask('list_agent_tokens')) as { tokens: { revoked: boolean }[] };
      expect(tokens.filter((one) => !one.revoked)).toHaveLength(1);
      using reader = await MailboxReader.open(box.port('imap'), box.address, password);
      expect((await reader.command('SELECT INBOX')).toString('latin1')).toContain('OK');
      const { length } = box.printed;
      await box.restart();
      expect(printedBy(box, length)).toContain('password  shown at the first start;');
      expect((await tool(base, 'whoami', {}, token)).status).toBe(200);
    } finally {
      await rm(dataDir, { recursive: true, force: true });
    }
  });
});

describe('live mode', () => {
  test('each start prints a claim link until the server is claimed, and invalidates earlier ones', async () => {
    await using box = await startBox({ hostname: 'mail.live.example' });
    const first = claimIn(printedBy(box));
    expect(printedBy(box)).toContain(`http://mail.live.example/auth/setup?token=${first}`);
    const about = { purpose: 'claim', organization_id: 1, user_id: null, mailed: 0 };
    expect(await linkOf(box, first)).toMatchObject({ ...about, used_at: null });
    expect(printedBy(box)).not.toMatch(/mst_|sign-in\?/);
    await expect(box.ask('create_sign_in_link')).rejects.toThrow('has no owner yet: open its claim link');

    let { length } = box.printed;
    await box.restart();
    const second = claimIn(printedBy(box, length));
    expect(second).not.toBe(first);
    expect(await linkOf(box, first)).toBeUndefined();
    expect(await linkOf(box, second)).toMatchObject({ ...about, used_at: null });

    await box.stop();
    await changeBox(box.dataDir, CLAIMED);
    ({ length } = box.printed);
    await box.start();
    expect(printedBy(box, length)).not.toContain('/auth/setup');
  });

  test('each start warns until an owner has a verified address for notices', async () => {
    await using box = await startBox({ hostname: 'mail.live.example' });
    expect(printedBy(box)).not.toMatch(NO_OWNER_ADDRESS);
    for (const [proven, warned] of [
      [null, true],
      [1, false],
    ] as const) {
      await box.stop();
      await changeBox(box.dataDir, CLAIMED);
      await changeBox(
        box.dataDir,
        `INSERT INTO user (id, email, email_key, password, address_verified_at, created_at)
        VALUES (1, 'a@b.example', 'a@b.example', 'x', ?1, 1) ON CONFLICT (id) DO UPDATE SET address_verified_at = ?1`,
        proven,
      );
      await changeBox(
        box.dataDir,
        `INSERT INTO member (organization_id, user_id, role, created_at) VALUES (1, 1, 'owner', 1) ON CONFLICT DO NOTHING`,
      );
      const { length } = box.printed;
      await box.start();
      expect(NO_OWNER_ADDRESS.test(printedBy(box, length))).toBe(warned);
    }
  });
});

const NO_OWNER_ADDRESS =
  /^ {2}notices {3}No owner has a verified address: .*\n.* http:\/\/mail\.live\.example\/account$/m;
