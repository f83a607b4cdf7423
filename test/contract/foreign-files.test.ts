import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ANSWERED, FLAGGED, SEEN } from '../../mail/store/mailbox/flags.ts';
import { listMailboxes } from '../../mail/store/mailbox/mailbox.ts';
import { exportRows } from '../../mail/store/transfer/export-rows.ts';
import { DirectoryTarget, ZipTarget } from '../../mail/transfer/export-target.ts';
import { importFiles } from '../../mail/transfer/file-import.ts';
import { ImportLog } from '../../mail/transfer/import-log.ts';
import { testAccount, testStore, type TestStore } from '../support/store.ts';

let box: TestStore;
let directory: string;
let accounts = 0;
beforeAll(async () => {
  box = await testStore();
  directory = await mkdtemp(join(tmpdir(), 'foreign-files-'));
});
afterAll(async () => {
  await box[Symbol.asyncDispose]();
  await rm(directory, { recursive: true });
});

const AT = Date.UTC(2026, 10, 23, 8, 0, 0);
const FROM = 'From ann@a.example Mon Nov 23 08:00:00 2026\n';

interface ForeignMessage {
  text: string;
  bits: number;
  keywords: string[];
  at: number;
}

const message = (text: string, bits = 0, keywords: string[] = []): ForeignMessage => ({
  text: text.replaceAll('\n', '\r\n'),
  bits,
  keywords,
  at: AT,
});

/** Files as another program leaves them, and what they are here: messages by folder, and the places that are left out. */
interface ForeignSource {
  files: Readonly<Record<string, string>>;
  folders: Readonly<Record<string, ForeignMessage[]>>;
  skipped?: string[];
}

const FLAGGED_BY_STATUS = 'Subject: one\nStatus: RO\nX-Status: AF\nX-Keywords: work, todo\n\n';
/** In a file of the kind mboxcl2 nothing is quoted. */
const INNER = 'before\n\nFrom bert@b.example Mon Nov 23 09:00:00 2026\n>From stays\n';
const BY_LENGTH = `Subject: by length\nContent-Length: ${INNER.length}\n\n${INNER}`;
const LYING = 'Subject: lies\nContent-Length: 3\n\nmore than three octets\n';

const MBOX: ForeignSource = {
  files: {
    'quoted.mbox':
      `${FROM}${FLAGGED_BY_STATUS}>From me\n>>From you\n\n` +
      'From bert@b.example Mon Nov 23 09:00:00 2026 +0100\nSubject: two\n\nFrom here on it is text\n\n',
    'length.mbox': `${FROM}${BY_LENGTH}\n${FROM}${BY_LENGTH}\n`,
    'lying.mbox': `${FROM}${LYING}\n${FROM}${LYING}`,
  },
  folders: {
    quoted: [
      message(`${FLAGGED_BY_STATUS}From me\n>From you\n`, SEEN | ANSWERED | FLAGGED, ['todo', 'work']),
      message('Subject: two\n\nFrom here on it is text\n'),
    ],
    length: [message(BY_LENGTH), message(BY_LENGTH)],
    lying: [message(LYING), message(LYING)],
  },
};

const MARKED = 'X-Mozilla-Status: 0005\nX-Mozilla-Keys: $label1 work      \nSubject: marked\n\nx\n';
const ANSWERED_THERE = 'X-Mozilla-Status: 0002\nSubject: answered\n\nx\n';
const THUNDERBIRD: ForeignSource = {
  files: {
    Inbox:
      `From - Mon Nov 23 08:00:00 2026\n${MARKED}\n` +
      'From - Mon Nov 23 08:00:00 2026\nX-Mozilla-Status: 0009\nSubject: deleted, and not compacted yet\n\nx\n\n',
    'Inbox.msf': '// <!-- <mdb:mork:z v="1.4"/> -->\n',
    'msgFilterRules.dat': 'version="9"\n',
    Work: '',
    'Work.sbd/Old': `From - Mon Nov 23 08:00:00 2026\n${ANSWERED_THERE}`,
  },
  folders: {
    INBOX: [message(MARKED, SEEN | FLAGGED, ['$label1', 'work'])],
    'Work/Old': [message(ANSWERED_THERE, ANSWERED)],
  },
};

const PLAIN = 'Subject: plain\n\nx\n';
const APPLE_MAIL: ForeignSource = {
  files: {
    'Deleted Messages.mbox/mbox': FROM + PLAIN,
    'Projects.mbox/2026.mbox/mbox': FROM + PLAIN,
    'Projects.mbox/mbox': FROM + PLAIN,
    'Projects.mbox/table_of_contents': '\u0000\u0000',
  },
  folders: { Trash: [message(PLAIN)], 'Projects/2026': [message(PLAIN)], Projects: [message(PLAIN)] },
};

const IN_INBOX = 'X-GM-THRID: 1\nX-Gmail-Labels: Inbox,Opened,"Work, old",Starred\nSubject: inbox\n\nx\n';
const IN_ARCHIVE = 'X-Gmail-Labels: =?UTF-8?Q?B=C3=BCro,Unread?=\nSubject: archive\n\nx\n';
const IN_SPAM = 'X-Gmail-Labels: Spam,Unread\nSubject: spam\n\nx\n';
const TAKEOUT_FROM = 'From 1700000000000000001@xxx Mon Nov 23 08:00:00 +0000 2026\n';
const TAKEOUT: ForeignSource = {
  files: {
    'Takeout/Mail/All mail Including Spam and Trash.mbox': [IN_INBOX, IN_ARCHIVE, IN_SPAM]
      .map((text) => `${TAKEOUT_FROM}${text}\n`)
      .join(''),
    'Takeout/archive_browser.html': '<!doctype html>',
  },
  folders: {
    INBOX: [message(IN_INBOX, SEEN | FLAGGED, ['work,_old'])],
    Archive: [message(IN_ARCHIVE, 0, ['buro'])],
    Junk: [message(IN_SPAM)],
  },
};

const MAILDIR: ForeignSource = {
  files: {
    'cur/1700000000.M1P2.host,S=17:2,FRSab': PLAIN,
    'new/1700000001.M1P2.host': 'Subject: new\n\nx\n',
    'tmp/1700000002.M1P2.host': 'Subject: unfinished\n\nx\n',
    'dovecot-keywords': '0 work\n1 todo\n',
    'dovecot-uidlist': '3 V1700000000 N3\n',
    subscriptions: 'Sent\n',
    '.Sent/cur/1700000003.M1P2.host:2,S': PLAIN,
    '.Work.&AOQ-ltere/cur/1700000004.M1P2.host:2,P': PLAIN,
    '.Work.&AOQ-ltere/maildirfolder': '',
  },
  folders: {
    INBOX: [message(PLAIN, SEEN | ANSWERED | FLAGGED, ['todo', 'work']), message('Subject: new\n\nx\n')],
    Sent: [message(PLAIN, SEEN)],
    'Work/ältere': [message(PLAIN, 0, ['$forwarded'])],
  },
};

const RECEIVED =
  'Received: from a.example by b.example; Mon, 23 Nov 2026 09:00:00 +0100\nDate: Mon, 1 Jan 2001 00:00:00 +0000\n\nx\n';
const DATED = 'Date: Mon, 23 Nov 2026 08:00:00 +0000\nSubject: dated\n\nx\n';
const EML: ForeignSource = {
  files: {
    'Projects/2026/received.eml': RECEIVED,
    'Projects/dated.EML': DATED,
    'Projects/no-extension': DATED,
    'Projects/photo.jpg': '\u00ff\u00d8\u00ff',
  },
  folders: { 'Projects/2026': [message(RECEIVED)], Projects: [message(DATED), message(DATED)] },
  skipped: ['Projects/photo.jpg'],
};

const SOURCES = { MBOX, THUNDERBIRD, APPLE_MAIL, TAKEOUT, MAILDIR, EML };
const NAMES: Readonly<Record<keyof typeof SOURCES, string>> = {
  MBOX: 'mbox files, quoted, by length and with a wrong length',
  THUNDERBIRD: 'folders of Thunderbird',
  APPLE_MAIL: 'mailboxes of Apple Mail',
  TAKEOUT: 'mail of Google Takeout',
  MAILDIR: 'a Maildir++ of Dovecot',
  EML: 'a tree of EML files',
};

async function write(source: ForeignSource, path: string, shape: string): Promise<void> {
  const target = shape === 'zip' ? await ZipTarget.create(path) : await DirectoryTarget.create(path);
  for (const [name, text] of Object.entries(source.files)) {
    await target.directory(dirname(name));
    await target.file(
      name,
      (async function* () {
        yield await Promise.resolve(Buffer.from(text, 'latin1'));
      })(),
      AT,
    );
  }
  await target.finish();
}

async function importAll(account: number, path: string, pass: number): Promise<ImportLog> {
  const log = new ImportLog();
  const plan = { account, path, folder: undefined, spool: directory, maxOctets: 1e6, pass };
  const clock = (): number => box.clock.now;
  await importFiles(box.store, { ...plan, clock, stop: new AbortController().signal }, log);
  return log;
}

async function contentOf(account: number): Promise<Record<string, ForeignMessage[]>> {
  const found: Record<string, ForeignMessage[]> = {};
  for (const { id, name } of await box.store.read(listMailboxes, { account })) {
    const rows = await box.store.read(exportRows, { account, mailbox: id, after: 0, limit: 100 });
    if (rows.length === 0) continue;
    found[name] = await Promise.all(
      rows.map(async ({ blob, size, flags, receivedAt }) => ({
        text: Buffer.from(await box.store.blob(blob, 0, size)).toString('latin1'),
        bits: flags.bits,
        keywords: flags.keywords.map((word) => word.toLowerCase()).toSorted(),
        at: receivedAt,
      })),
    );
  }
  return found;
}

const CASES = (Object.keys(SOURCES) as (keyof typeof SOURCES)[]).flatMap((key) =>
  ['directory', 'zip'].map((shape) => [NAMES[key], shape, SOURCES[key]] as const),
);

test.each<readonly [string, string, ForeignSource]>(CASES)(
  '%s in a %s come with their folders, flags, keywords and times, and a second import adds nothing',
  async (name, shape, source) => {
    const path = join(directory, `${name}-${shape}`);
    await write(source, path, shape);
    const { account } = await testAccount(box.store, `account${++accounts}`);
    const first = await importAll(account, path, 1);
    expect(await contentOf(account)).toEqual(source.folders);
    expect(first.report.problems.map(({ place }) => place)).toEqual(source.skipped ?? []);
    const second = await importAll(account, path, 2);
    expect(second.progress.imported).toBe(0);
    expect(await contentOf(account)).toEqual(source.folders);
  },
);

test('folders whose names are not UTF-8 are read as Latin-1, with what stands beside their mail', async () => {
  const path = join(directory, 'eight-bit');
  const at = (name: string): Buffer => Buffer.from(`${path}/${name}`, 'latin1');
  await mkdir(at('B\u00fcro/cur'), { recursive: true });
  await writeFile(at('B\u00fcro/cur/1700000000.M1P2.host:2,a'), PLAIN);
  await writeFile(at('B\u00fcro/dovecot-keywords'), '0 work\n');
  await writeFile(at('M\u00fcller.mbox'), FROM + PLAIN);
  const { account } = await testAccount(box.store, `account${++accounts}`);
  const { report } = await importAll(account, path, 1);
  expect(report.problems).toEqual([]);
  expect(await contentOf(account)).toMatchObject({
    Büro: [{ text: message(PLAIN).text, keywords: ['work'] }],
    Müller: [message(PLAIN)],
  });
});

test('a message of Google Takeout with more labels than are kept is imported, and the report says so', async () => {
  const path = join(directory, 'many-labels.mbox');
  const labels = Array.from({ length: 61 }, (_, n) => `label-${n}`).join();
  await writeFile(path, `${TAKEOUT_FROM}X-Gmail-Labels: ${labels}\nSubject: many\n\nx\n`);
  const { account } = await testAccount(box.store, `account${++accounts}`);
  const { report, progress } = await importAll(account, path, 1);
  expect(report.problems).toEqual([
    { place: 'many-labels.mbox, message 1', problem: expect.stringContaining('first 60 of its labels') },
  ]);
  expect(progress).toMatchObject({ imported: 1, skipped: 0 });
  const [many] = (await contentOf(account))['Archive'] ?? [];
  expect(many?.keywords).toHaveLength(60);
});
