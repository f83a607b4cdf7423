import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { type Box, startBox } from '../support/box.ts';
import { FakeS3 } from '../support/fake-s3.ts';
import { UNDER_LOAD } from '../support/faults.ts';
import { Ledger, load, numberedMany } from '../support/load.ts';
import { Visitor } from '../support/visitor.ts';

const COMMAND = join(import.meta.dirname, '../../bin/mailstead');
/** For commands that are processes of their own, on a busy machine. */
const BUSY_MS = 200_000;
const PASSPHRASE = 'only-for-this-test-4711';
/** A machine that is not the server: it has no data directory. */
const elsewhere = mkdtempSync(join(tmpdir(), 'recipient-elsewhere-'));
const target = join(elsewhere, 'target');
const identityFile = join(elsewhere, 'identity.txt');
let box: Box;
let recipient = '';

interface CommandEnd {
  code: number;
  out: string;
  err: string;
}

/** Runs the command with these settings, on the server or elsewhere. */
function run(words: string[], settings: Record<string, string>, where: 'server' | 'elsewhere'): Promise<CommandEnd> {
  const dataDir = where === 'server' ? box.dataDir : join(elsewhere, 'no-data');
  const own = Object.entries(settings).map(([name, value]) => [`MAILSTEAD_${name}`, value]);
  const env = { ...box.env, ...Object.fromEntries(own), MAILSTEAD_DATA_DIR: dataDir };
  return new Promise((resolve) => {
    execFile(COMMAND, words, { env, cwd: elsewhere }, (error, out, err) =>
      resolve({ code: error === null ? 0 : Number(error.code), out, err }),
    );
  });
}

const onServer = (words: string[], settings: Record<string, string> = {}): Promise<CommandEnd> =>
  run(words, { BACKUP_RECIPIENT: recipient, ...settings }, 'server');
const withIdentity = (words: string[], settings: Record<string, string> = {}): Promise<CommandEnd> =>
  run(words, { BACKUP_IDENTITY_FILE: identityFile, ...settings }, 'elsewhere');

async function keygen(file: string): Promise<string> {
  const { out } = await run(['backup', 'keygen', file, '--json'], {}, 'elsewhere');
  return (JSON.parse(out) as { recipient: string }).recipient;
}

beforeAll(async () => {
  box = await startBox({ settings: UNDER_LOAD });
  recipient = await keygen(identityFile);
  await load({ port: box.port('smtp'), queue: numberedMany('kept', 5, 1), ledger: new Ledger(), clients: 1 });
}, BUSY_MS);
afterAll(async () => {
  await box[Symbol.asyncDispose]();
  rmSync(elsewhere, { recursive: true, force: true });
});

describe('an identity', () => {
  test('is written for its owner only, and never over another one', async () => {
    expect(statSync(identityFile).mode & 0o777).toBe(0o600);
    const before = readFileSync(identityFile, 'utf8');
    expect(before).toMatch(new RegExp(`${recipient}\\nMAILSTEAD-IDENTITY-[\\w-]{48}\\n$`));
    expect(await run(['backup', 'keygen', identityFile], {}, 'elsewhere')).toMatchObject({
      code: 1,
      err: expect.stringMatching(/identity.txt exists already, .*Name another file/),
    });
    expect(readFileSync(identityFile, 'utf8')).toBe(before);
  });

  test('is printed without a file, in the form of the file', async () => {
    const { out, code } = await run(['backup', 'keygen'], {}, 'elsewhere');
    expect(code).toBe(0);
    expect(out).toMatch(/^# Identity .*\n# .*mailstead-recipient-[\w-]{48}\nMAILSTEAD-IDENTITY-[\w-]{48}\n$/);
  });
});

test(
  'a server backs up for a recipient and lists; the identity elsewhere verifies and restores',
  { timeout: 2 * BUSY_MS },
  async () => {
    for (const messages of [5, 5]) {
      const { out, err } = await onServer(['backup', target]);
      expect(out, err).toMatch(new RegExp(`^Snapshot \\S+ in .*: ${messages} messages of 1 mailboxes`));
      expect(out).not.toContain('Not encrypted');
    }
    expect((await onServer(['backup', 'list', target])).out).toMatch(/ 5 .* yes/);
    expect((await onServer(['backup', 'verify', target])).err).toMatch(
      /encrypted for .*, and no identity is set. Set MAILSTEAD_BACKUP_IDENTITY_FILE/,
    );
    expect((await withIdentity(['backup', 'list', target])).out).toMatch(/ 5 .* yes/);
    expect((await withIdentity(['backup', 'verify', target])).out).toMatch(/is whole: 5 messages compared/);
    const restored = join(elsewhere, 'restored');
    expect((await withIdentity(['restore', target, '--data-dir', restored])).out).toMatch(/^5 messages of 1 mailboxes/);
    expect(readFileSync(join(restored, 'secret.key'))).toEqual(readFileSync(join(box.dataDir, 'secret.key')));
    // The restored server goes on in the same target: its index key is derived from the key file.
    await using _server = await startBox({ dataDir: restored, settings: UNDER_LOAD });
    const next = await run(['backup', target, '--data-dir', restored], { BACKUP_RECIPIENT: recipient }, 'elsewhere');
    expect(next.out, next.err).toMatch(/^Snapshot \S+ in .*: 5 messages/);
    expect((await withIdentity(['backup', 'verify', target])).out).toMatch(/is whole: 5 messages compared/);
  },
);

test(
  'a mailbox is restored into the running server by one command with the identity',
  { timeout: BUSY_MS },
  async () => {
    const done = await onServer(['restore', target, '--mailbox', box.address], { BACKUP_IDENTITY_FILE: identityFile });
    expect(done.out, done.err).toMatch(/^0 messages restored .*has 5 of them/);
    const without = await onServer(['restore', target, '--mailbox', box.address]);
    expect(without).toMatchObject({ code: 1, err: expect.stringContaining('Set MAILSTEAD_BACKUP_IDENTITY_FILE') });
  },
);

test('what is wrong is said with the reason and what to do', { timeout: 2 * BUSY_MS }, async () => {
  const other = join(elsewhere, 'other.txt');
  const otherRecipient = await keygen(other);
  const identity = readFileSync(identityFile, 'utf8').trim().split('\n').at(-1)!;
  const empty = join(elsewhere, 'empty.txt');
  writeFileSync(empty, '# nothing\n');
  const verify = ['backup', 'verify', target];
  const cases: [string, CommandEnd, number, RegExp][] = [
    [
      'another identity',
      await run(verify, { BACKUP_IDENTITY_FILE: other }, 'elsewhere'),
      1,
      /identity is wrong for this backup: it is that of \S+, and the backup is encrypted for \S+\. Set MAILSTEAD/,
    ],
    [
      'a missing file',
      await run(verify, { BACKUP_IDENTITY_FILE: `${other}-no` }, 'elsewhere'),
      1,
      /of MAILSTEAD_BACKUP_IDENTITY_FILE cannot be read/,
    ],
    [
      'a file without one',
      await run(verify, { BACKUP_IDENTITY_FILE: empty }, 'elsewhere'),
      1,
      /has no identity, or a mistyped one. Set it to the file/,
    ],
    [
      'a mistyped identity',
      await run(verify, { BACKUP_IDENTITY: `${identity.slice(0, -1)}!` }, 'elsewhere'),
      2,
      /BACKUP_IDENTITY must be an identity as mailstead backup keygen prints it\.\n$/,
    ],
    [
      'a mistyped recipient',
      await onServer(['backup', target], { BACKUP_RECIPIENT: recipient.slice(0, -1) }),
      2,
      /BACKUP_RECIPIENT must be recipients as mailstead backup keygen prints them/,
    ],
    [
      'another recipient',
      await onServer(['backup', target], { BACKUP_RECIPIENT: otherRecipient }),
      1,
      /for other recipients than MAILSTEAD_BACKUP_RECIPIENT has: mailstead-recipient-\S+\. Set these, or use a new target/,
    ],
    [
      'a passphrase more',
      await onServer(['backup', target], { BACKUP_PASSPHRASE: PASSPHRASE }),
      1,
      /encrypted for recipients only, and a passphrase is set/,
    ],
  ];
  for (const [name, { code, err }, expected, message] of cases) {
    expect(err, name).toMatch(message);
    expect(err, name).not.toContain(identity.slice(-48, -2));
    expect(code, name).toBe(expected);
  }
  const value = await run(verify, { BACKUP_IDENTITY: identity }, 'elsewhere');
  expect(value.out, value.err).toMatch(/is whole/);
});

test(
  'a passphrase and two recipients in a bucket: each of the three keys verifies',
  { timeout: 2 * BUSY_MS },
  async () => {
    await using s3 = await FakeS3.start();
    const { accessKey, secretKey, region, endpoint, bucket } = s3.options;
    const access = {
      BACKUP_S3_ENDPOINT: endpoint.href,
      BACKUP_S3_REGION: region,
      BACKUP_S3_ACCESS_KEY: accessKey,
      BACKUP_S3_SECRET_KEY: secretKey,
    };
    const second = join(elsewhere, 'second.txt');
    const settings = {
      ...access,
      BACKUP_PASSPHRASE: PASSPHRASE,
      BACKUP_RECIPIENT: `${recipient},${await keygen(second)}`,
    };
    const made = await onServer(['backup', `s3://${bucket}/mail`], settings);
    expect(made.out, made.err).toMatch(/^Snapshot/);
    for (const key of [
      { BACKUP_PASSPHRASE: PASSPHRASE },
      { BACKUP_IDENTITY_FILE: identityFile },
      { BACKUP_IDENTITY_FILE: second },
    ]) {
      const found = await run(['backup', 'verify', `s3://${bucket}/mail`], { ...access, ...key }, 'elsewhere');
      expect(found.out, found.err).toMatch(/is whole: 5 messages compared/);
    }
  },
);

describe('a server with a recipient alone', () => {
  const scheduled = join(elsewhere, 'scheduled');

  /** Waits for the result of `look`, which is undefined until then. */
  const eventually = <T>(look: () => Promise<T | undefined>): Promise<T> =>
    vi.waitFor(
      async () => {
        const found = await look();
        expect(found).toBeDefined();
        return found!;
      },
      { timeout: BUSY_MS, interval: 300 },
    );

  test('backs up on schedule; its page and tool say that it cannot verify', { timeout: 2 * BUSY_MS }, async () => {
    await using server = await startBox({
      settings: { ...UNDER_LOAD, BACKUP_TARGET: scheduled, BACKUP_EVERY: '1m', BACKUP_RECIPIENT: recipient },
    });
    await load({ port: server.port('smtp'), queue: numberedMany('later', 3, 1), ledger: new Ledger(), clients: 1 });
    const backups = async () =>
      (await server.ask('get_backups')) as { snapshots: object[]; running: string | null; problem: string | null };
    await eventually(async () => ((await backups()).snapshots.length > 0 ? true : undefined));
    await eventually(async () => ((await backups()).running === null ? true : undefined));
    await server.ask('run_backup');
    const done = await eventually(async () => {
      const found = await backups();
      return found.running === null && found.snapshots.length > 1 ? found : undefined;
    });
    expect(done).toMatchObject({ encrypted: true, readable: false, problem: null });
    expect(done.snapshots[0]).toMatchObject({ messages: 3, keys: true });
    await expect(server.ask('run_backup', { verify: true })).rejects.toThrow(
      /this server cannot read them. Run mailstead backup verify where/,
    );
    const operator = new Visitor(`http://127.0.0.1:${server.port('http')}`);
    const printed = server.printed.map((line) => /\/auth\/sign-in\?token=([0-9a-f]{48})/.exec(line)?.[1]);
    await operator.post('/auth/sign-in', { token: printed.findLast((one) => one !== undefined) ?? '' });
    const { text } = await operator.get('/o/org_1/backups');
    expect(text).toContain('For recipients: this server cannot read its backups');
    expect(text).toContain('Back up now');
    expect(text).not.toContain('Verify the newest');
    expect((await withIdentity(['backup', 'verify', scheduled])).out).toMatch(/is whole: 3 messages compared/);
    expectNoIdentity(server);
  });

  test('copies every commit; the identity restores the newest moment', { timeout: 2 * BUSY_MS }, async () => {
    const copies = join(elsewhere, 'copies');
    await using server = await startBox({
      settings: {
        ...UNDER_LOAD,
        BACKUP_TARGET: copies,
        BACKUP_CONTINUOUS: '1s',
        BACKUP_EVERY: '1d',
        BACKUP_RECIPIENT: recipient,
      },
    });
    const hasSnapshot = async () => {
      const { out, code } = await withIdentity(['backup', 'list', copies, '--json']);
      return code === 0 && (JSON.parse(out) as { snapshots: object[] }).snapshots.length > 0 ? true : undefined;
    };
    await eventually(hasSnapshot);
    await load({ port: server.port('smtp'), queue: numberedMany('copied', 4, 1), ledger: new Ledger(), clients: 1 });
    const restored = await eventually(async () => {
      const directory = join(elsewhere, `copies-${readdirSync(elsewhere).length}`);
      const { out } = await withIdentity(['restore', copies, '--data-dir', directory, '--json']);
      if (out === '' || (JSON.parse(out) as { messages: number }).messages === 4) return out || undefined;
      rmSync(directory, { recursive: true });
      return undefined;
    });
    expect(JSON.parse(restored)).toMatchObject({ messages: 4, keys: true });
    const verified = await withIdentity(['backup', 'verify', copies]);
    expect(verified.out, verified.err).toMatch(/with \d+ segments of its log is whole/);
    expectNoIdentity(server);
  });

  /** Asserts that neither the data directory nor the log has the identity. */
  function expectNoIdentity({ dataDir, printed }: Box): void {
    const identity = /MAILSTEAD-IDENTITY-([\w-]{48})/.exec(readFileSync(identityFile, 'utf8'))![1]!;
    const key = Buffer.from(identity, 'base64url').subarray(0, 32);
    const files = readdirSync(dataDir, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    expect(files.length).toBeGreaterThan(2);
    for (const { parentPath, name } of files) {
      const octets = readFileSync(join(parentPath, name));
      expect(octets.includes(key) || octets.includes(identity), name).toBe(false);
    }
    expect(printed.join('\n')).not.toContain(identity);
  }
});
