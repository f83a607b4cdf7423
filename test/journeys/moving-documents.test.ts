import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Box, startBox } from '../support/box.ts';
import { FakeS3 } from '../support/fake-s3.ts';
import { UNDER_LOAD } from '../support/faults.ts';
import { Ledger, load, numberedMany } from '../support/load.ts';
import { onPostgres } from '../support/test-database.ts';

const ROOT = join(import.meta.dirname, '../..');
/** For a page of commands, each a process of its own, on a busy machine. */
const BUSY_MS = 400_000;
const PASSPHRASE = 'only-for-this-test-4711';
const MBOX = 'From bert@old.example Mon Nov 23 08:00:00 2026\nFrom: bert@old.example\nSubject: kept\n\nOld mail.\n';

/** The first organization, as a shell finds it. */
const SLUG = `$(mailstead call list_organizations --json | sed -n 's/.*"slug": *"\\([^"]*\\)".*/\\1/p' | head -1)`;

/** Run by startBox, on free ports. */
const SERVE = 'MAILSTEAD_DATA_DIR=/var/lib/mailstead-new bin/mailstead serve';

/** A command of a page, as it is run, and a piece of what it prints. */
type Expected = readonly [command: string, asRun: string, printed: RegExp];

let box: Box;
let bucket: FakeS3;
let directory: string;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'documents-'));
  symlinkSync(join(ROOT, 'bin'), join(directory, 'bin'));
  bucket = await FakeS3.start();
  box = await startBox({ settings: { ...UNDER_LOAD, ALLOW_PRIVATE_NETWORKS: '127.0.0.0/8' } });
  await load({ port: box.port('smtp'), queue: numberedMany('page', 5, 1), ledger: new Ledger(), clients: 1 });
  writeFileSync(join(directory, 'accounts.csv'), `${box.address},${box.password},ann@example.org\n`);
  writeFileSync(join(directory, 'old.mbox'), MBOX);
});
afterAll(async () => {
  await box[Symbol.asyncDispose]();
  await bucket[Symbol.asyncDispose]();
  rmSync(directory, { recursive: true, force: true });
});

/** Every command of a page: the lines of its blocks, and those within sentences. */
function commandsOf(document: string): string[] {
  const text = readFileSync(join(ROOT, 'docs', document), 'utf8');
  const blocks = [...text.matchAll(/^ *```(?:sh)?\n([^`]*)^ *```$/gm)].flatMap(([, block = '']) => block.split('\n'));
  const inline = [...text.matchAll(/`((?:bin\/)?mailstead [^`\n]+)`/g)].map(([, command = '']) => command);
  return [
    ...new Set(
      [...blocks.map((line) => line.trim()), ...inline].filter((line) => /\bmailstead /.test(line) && line !== SERVE),
    ),
  ];
}

/** Runs a command with the environment of the server and the keys of the bucket. */
async function run(command: string): Promise<string> {
  const { accessKey, secretKey, region, endpoint } = bucket.options;
  const env = {
    ...box.env,
    PATH: `${join(directory, 'bin')}:${process.env['PATH']}`,
    MAILSTEAD_BACKUP_S3_ENDPOINT: endpoint.href,
    MAILSTEAD_BACKUP_PASSPHRASE: PASSPHRASE,
    MAILSTEAD_BACKUP_S3_REGION: region,
    MAILSTEAD_BACKUP_S3_ACCESS_KEY: accessKey,
    MAILSTEAD_BACKUP_S3_SECRET_KEY: secretKey,
  };
  // Not spawnSync: the bucket is in this process.
  const { stdout } = await promisify(execFile)('/bin/sh', ['-euc', command], { cwd: directory, env });
  return stdout;
}

/** Fails if the page has a command that is not in the list, or the list one that the page has not. */
async function runAll(document: string, expected: readonly Expected[]): Promise<void> {
  expect(commandsOf(document).toSorted()).toEqual(expected.map(([command]) => command).toSorted());
  for (const [command, asRun, printed] of expected) expect(await run(asRun), command).toMatch(printed);
}

/** The same command on paths and hosts of this test. */
const on = (command: string, printed: RegExp, changes: Readonly<Record<string, string>> = {}): Expected => {
  let asRun = command;
  for (const [from, to] of Object.entries(changes)) asRun = asRun.replaceAll(from, to);
  return [command, asRun, printed];
};

/** Stops a continuous backup to a directory of its own when its first copy is listed. */
const untilCopied = (target: string): Readonly<Record<string, string>> => {
  const isListed = `bin/mailstead backup list ${target} --json 2>/dev/null | grep -q '"copiedUntil": [0-9]'`;
  return {
    '/mnt/backup/mail --continuous': `${target} --continuous >copied.txt & until ${isListed}; do sleep 1; done; kill $!; wait $!; cat copied.txt`,
  };
};

/** Makes an identity, and a backup with its recipient alone. */
const backUpForRecipient = (target: string): string =>
  `bin/mailstead backup keygen identity.txt | tee keygen.txt; eval "MAILSTEAD_BACKUP_PASSPHRASE= $(tail -1 keygen.txt) bin/mailstead backup ${target}"`;

// On PostgreSQL mailstead backup is refused in words.
test.skipIf(onPostgres)(
  'every command of the page on backups does what the page says',
  { timeout: BUSY_MS },
  async () => {
    const restored = join(directory, 'restored');
    const paths = { '/mnt/backup/mail': join(directory, 'mail'), '/var/lib/mailstead-new': restored };
    const sealed = join(directory, 'sealed');
    const elsewhere = {
      MAILSTEAD_BACKUP_IDENTITY_FILE: `MAILSTEAD_DATA_DIR=${directory}/none MAILSTEAD_BACKUP_PASSPHRASE= MAILSTEAD_BACKUP_IDENTITY_FILE`,
      '/mnt/backup/mail': sealed,
      '/var/lib/mailstead-new': `${restored}-by-identity`,
    };
    const later = { ...paths, [restored]: `${restored}-at`, '2026-11-23T08:00:00Z': '2099-01-01T00:00:00Z' };
    await runAll('backups.md', [
      on('bin/mailstead backup /mnt/backup/mail', /^Snapshot \S+ in .*: 5 messages of 1 mailboxes/, paths),
      on('bin/mailstead backup s3://bucket/prefix', /^Snapshot \S+ in s3:.*: 5 messages/, {
        's3://bucket': `s3://${bucket.options.bucket}`,
      }),
      on('bin/mailstead backup list /mnt/backup/mail', /^snapshot .*\n\S+ .* 5 .* yes/, paths),
      on('bin/mailstead backup verify /mnt/backup/mail', /is whole: 5 messages compared/, paths),
      on(
        'bin/mailstead restore /mnt/backup/mail --data-dir /var/lib/mailstead-new',
        /^5 messages of 1 mailboxes/,
        paths,
      ),
      on(
        'bin/mailstead restore /mnt/backup/mail --data-dir /var/lib/mailstead-new --at 2026-11-23T08:00:00Z',
        /^5 messages of 1 mailboxes restored to .*restored-at/,
        later,
      ),
      on('bin/mailstead backup keygen identity.txt', /MAILSTEAD_BACKUP_RECIPIENT=(\S+)\n[^]*Snapshot .*: 5 messages/, {
        'bin/mailstead backup keygen identity.txt': backUpForRecipient(sealed),
      }),
      on(
        'MAILSTEAD_BACKUP_IDENTITY_FILE=identity.txt bin/mailstead backup verify /mnt/backup/mail',
        /is whole: 5 messages compared/,
        elsewhere,
      ),
      on(
        'MAILSTEAD_BACKUP_IDENTITY_FILE=identity.txt bin/mailstead restore /mnt/backup/mail --data-dir /var/lib/mailstead-new',
        /^5 messages of 1 mailboxes/,
        elsewhere,
      ),
      on('bin/mailstead queue list', /./),
      on('bin/mailstead restore /mnt/backup/mail --mailbox anna@example.com', /^0 messages restored .*has 5 of them/, {
        ...paths,
        'anna@example.com': box.address,
      }),
      on(
        'bin/mailstead restore /mnt/backup/mail --mailbox anna@example.com --message MESSAGE-ID',
        /^0 messages restored .*has 1 of them/,
        { ...paths, 'anna@example.com': box.address, 'MESSAGE-ID': 'page-3@load.test' },
      ),
      on('bin/mailstead fsck', /^5 stored messages read, 0 damaged\.\nThe database is whole\./),
      on('bin/mailstead fsck --backup /mnt/backup/mail --json', /"ok": true/, paths),
      on('bin/mailstead upgrade --check', /./),
      on(
        'bin/mailstead backup /mnt/backup/mail --continuous',
        /^Copied until /,
        untilCopied(join(directory, 'copies')),
      ),
    ]);
    await using second = await startBox({ dataDir: restored, settings: { BACKUP_PASSPHRASE: PASSPHRASE } });
    expect(JSON.stringify(await second.ask('list_emails'))).toContain(box.address);
  },
);

test('every command of the page on moving in does what the page says', { timeout: BUSY_MS }, async () => {
  await run('mailstead domain add example.org');
  await runAll('moving-in.md', [
    on('mailstead mailbox add ann@example.org', /ann@example\.org/),
    on(
      'mailstead import imap --from-host imap.old.example --csv accounts.csv',
      /ann@example\.org: done\. 5 imported .* 0 skipped\.[^]*equal/,
      { 'imap.old.example': `127.0.0.1 --port ${box.port('imap')} --tls none` },
    ),
    on('mailstead import FILE_OR_DIRECTORY --mailbox ann@example.org', /ann@example\.org: done\. 1 imported/, {
      FILE_OR_DIRECTORY: 'old.mbox',
    }),
    on('mailstead undelete --mailbox ann@example.org --since 1h', /^Nothing was deleted since then\./),
    on('mailstead call set_retention', /"set": true/, { set_retention: 'set_retention deletedDays:=30' }),
    on('mailstead call set_legal_hold address=ann@example.org reason="case 12"', /"held": true/),
    on('mailstead call list_organizations', /"slug"/),
    on('mailstead organization export SLUG FILE.json', /FILE\.json: organization 1, /, { SLUG }),
    on(
      'mailstead export --org SLUG DIRECTORY',
      /ann@example\.org: 6 messages[^]*2 mailboxes and mailstead-organization\.json in/,
      {
        SLUG,
        DIRECTORY: 'all',
      },
    ),
    on('mailstead export --mailbox ann@example.org TARGET', /ann@example\.org: 6 messages/, { TARGET: 'out' }),
  ]);
});
