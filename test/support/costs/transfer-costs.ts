import { readAutodiscover } from '../../../src/client-setup/autodiscover.ts';
import { elementsIn } from '../../../src/client-setup/der.ts';
import { elementText, escapeXml } from '../../../src/client-setup/xml.ts';
import { parseAccounts } from '../../../src/cli/account-csv.ts';
import { csvFields, csvLine } from '../../../src/core/csv.ts';
import { parseAddressFile } from '../../../src/mailboxes/address-csv.ts';
import { classify } from '../../../mail/transfer/classify.ts';
import type { FileTree } from '../../../mail/transfer/file-tree.ts';
import { acceptedFolder, roleByName } from '../../../mail/transfer/folder-names.ts';
import { labelKey, labelKeyword, placeByLabels, placeLabels } from '../../../mail/transfer/gmail-labels.ts';
import { flagText, remoteFlags } from '../../../mail/transfer/imap/remote-flags.ts';
import { foldersToPull } from '../../../mail/transfer/imap/remote-folders.ts';
import { folderOfMaildir, maildirFlags, parseKeywords } from '../../../mail/transfer/maildir.ts';
import { readManifest } from '../../../mail/transfer/manifest.ts';
import {
  contentLengthIn,
  headerEnd,
  headerFields,
  keywordsOf,
  maySenderHaveSet,
  mboxFlags,
} from '../../../mail/transfer/mbox-fields.ts';
import { fromLineTime, isFromLine } from '../../../mail/transfer/mbox-line.ts';
import { ownFields } from '../../../mail/transfer/mbox-own-fields.ts';
import { receivedTime } from '../../../mail/transfer/received-time.ts';
import { linesOf } from '../../../mail/transfer/text-lines.ts';
import { caught, costs, type CostGroup, type CostRow, driven, octets } from './row.ts';

const files: CostGroup = {
  at: 'mail/transfer',
  input: 'imported file',
  bound: 'header of 64 KiB',
  thread: 'main; yields between messages',
  most: 64 * 1024,
};
const remote: CostGroup = {
  at: 'mail/transfer/imap',
  input: 'answer of another IMAP server',
  bound: '8 MiB a page, 1 MiB of folders',
  thread: 'main; yields between messages',
};

const PATH = { bound: 'path of 64 KiB', worst: ['/', '.', 'INBOX/', '&', '&AOk-', ' '] };
const FIELDS = { worst: ['X-Keywords: a\r\n', 'Status: RO\r\n', 'From ', '\n', '\r\n\r\n', ':', ' ', ','] };

async function consumed(lines: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of lines);
}

const treeOf = (text: string): FileTree =>
  ({
    async *lines() {
      yield* await Promise.resolve(text.split('\n'));
    },
  }) as unknown as FileTree;

const FILES = costs(files, {
  classify: driven(classify, PATH),
  roleByName: driven(roleByName, PATH),
  acceptedFolder: driven(acceptedFolder, PATH),
  folderOfMaildir: driven(folderOfMaildir, PATH),
  maildirFlags: driven((text) => maildirFlags(`1:2,${text}`, ['a']), { ...PATH, worst: ['a', 'S', ':2,', ';2,'] }),
  parseKeywords: driven(parseKeywords, { bound: '16 KiB', worst: ['0 a\n', '\n', '1', ' '] }),
  placeByLabels: driven((text) => placeByLabels(text), { worst: ['"a",', '"', ',', '=?utf-8?q?a?=', '\\'] }),
  placeLabels: driven((text) => placeLabels(text.split(' ')), { worst: ['\\Inbox ', 'a ', '( '] }),
  labelKey: driven(labelKey, { worst: ['\\', 'A'] }),
  labelKeyword: driven(labelKeyword, { worst: [' ', '(', '%', 'é'] }),
  headerEnd: driven((text) => headerEnd(octets(text)), FIELDS),
  contentLengthIn: driven((text) => contentLengthIn(octets(`${text}\n\n`)), {
    worst: [...FIELDS.worst, 'Content-Length: 1\n'],
  }),
  headerFields: driven((text) => headerFields(octets(text)), FIELDS),
  maySenderHaveSet: driven((text) => maySenderHaveSet(headerFields(octets(text)), ['x-keywords']), FIELDS),
  mboxFlags: driven(
    (text) =>
      mboxFlags(
        new Map([
          ['x-keywords', text],
          ['status', text],
        ]),
      ),
    FIELDS,
  ),
  keywordsOf: driven((text) => keywordsOf(text.split(' ')), { worst: ['a ', '\\ ', '( '] }),
  isFromLine: driven(isFromLine, { bound: 'line of 1,000 octets', worst: ['From ', ' ', '1', ':'] }),
  fromLineTime: driven(fromLineTime, { bound: 'line of 1,000 octets', worst: ['From ', ' ', 'Jan ', '1', ':'] }),
  ownFields: driven((text) => ownFields(octets(text)), FIELDS),
  receivedTime: driven((text) => receivedTime(octets(text)), {
    worst: ['Received: a; ', 'Received: a; 1 Jan 2026 00:00:00 +0000\r\n', 'Date: ', ';', '(', ' '],
  }),
  linesOf: driven((text) => consumed(linesOf([octets(text)] as unknown as AsyncIterable<Buffer>, 1_000)), {
    bound: 'line of 16 KiB',
    worst: ['\n', '\r\n', 'a'],
  }),
  readManifest: driven((text) => readManifest(treeOf(text), '').catch(() => undefined), {
    bound: '48 MiB of names, 500,000 lines',
    worst: ['{"file":"a","flags":0,"keywords":[],"receivedAt":"2026-01-01T00:00:00Z"}\n', '[', '{"a":', '\n'],
  }),
});

const CHOICE = { prefix: 'INBOX.', labels: 'keywords' as const, isGmail: false };

function listed(path: string): Parameters<typeof foldersToPull>[0][number] {
  return { path, delimiter: '.', flags: new Set<string>() } as unknown as Parameters<typeof foldersToPull>[0][number];
}

const REMOTE = costs(remote, {
  remoteFlags: driven((text) => remoteFlags(text.split(' ')), { worst: ['a ', '\\Seen ', '\\x '] }),
  flagText: driven((text) => flagText({ bits: 31, keywords: text.split(' ') }), { worst: ['a ', 'B '] }),
  'foldersToPull: path': driven((text) => foldersToPull([listed(text)], CHOICE), { worst: ['/', '.', '&', 'INBOX.'] }),
  'foldersToPull: many': driven((text) => foldersToPull(text.split(' ').map(listed), CHOICE), {
    worst: ['a ', 'INBOX '],
  }),
});

const SETUP = costs(
  { at: 'src/client-setup', input: 'request of a mail program', bound: '64 KiB', thread: 'main', most: 64 * 1024 },
  {
    readAutodiscover: driven((text) => readAutodiscover(`${text}>`), {
      worst: ['<EMailAddress', '<EMailAddress ', '<EMailAddress>', '<a:EMailAddress>', '&amp;', 'EMailAddress', '>'],
    }),
    'elementText: of one name': driven((text) => elementText(text, 'a'), {
      worst: ['<a', '<a>', '<a ', 'a', '&lt;', ' '],
    }),
    escapeXml: driven(escapeXml, { worst: ['&', '\x00', '\ud800'] }),
    elementsIn: driven((text) => caught(() => elementsIn(octets(text))), {
      input: 'certificate of this server',
      worst: ['\x30\x80', '\x30\x84', '\x02\x01\x00', '\x30\x00'],
    }),
  },
);

const NO_ADDRESSES = { domains: new Set(['b.example']), mailboxes: new Set<string>(), aliases: new Set<string>() };

const TABLES = costs(
  { at: 'src/core/csv.ts', input: 'CSV of mailboxes', bound: 'line of 16 KiB', thread: 'main', most: 64 * 1024 },
  {
    csvFields: driven(csvFields, { worst: ['"', '""', ',', '"a",', ' ', '\t'] }),
    csvLine: driven((text) => csvLine(text.split(' ')), { worst: ['" ', '= ', '"'] }),
    parseAddressFile: driven((text) => parseAddressFile(text, NO_ADDRESSES), {
      at: 'src/mailboxes/address-csv.ts',
      bound: '200 rows of 1,000 characters are made',
      worst: ['a@b.example\n', 'a@b.example,a,c@b.example\n', '"\n', ',\n', '#\n', '"",'],
    }),
    parseAccounts: driven(parseAccounts, {
      at: 'src/cli/account-csv.ts',
      input: 'CSV of accounts to pull',
      bound: '10,000 accounts',
      worst: ['a,b,c\n', '"a","b"\n', '"\n', '""', '" ', ' ', '"a" '],
    }),
  },
);

/** Functions that read what moves in from elsewhere, and what mail programs ask to set themselves up. */
export const TRANSFER_COSTS: readonly CostRow[] = [...FILES, ...REMOTE, ...SETUP, ...TABLES];
