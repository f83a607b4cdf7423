import { describe, expect, test } from 'vitest';
import { exportedAddresses, mailboxPaths } from '../../../src/cli/organization-mail-export.ts';
import { ExportPaths } from '../../../mail/transfer/export-paths.ts';

const pathsOf = (format: 'maildir' | 'mbox' | 'eml', ...folders: string[]): string[] => {
  const paths = new ExportPaths(format);
  return folders.map((folder) => paths.pathOf(folder));
};

describe('paths of exported folders', () => {
  test('a dot in a level is no separator in a Maildir, in the only way that Dovecot opens', () => {
    expect(pathsOf('maildir', 'INBOX', 'Work/v1.0', 'Ünï')).toEqual(['', '.Work.v1_0', '.&ANw-n&AO8-']);
  });

  test('no two folders share a path, also where case does not count', () => {
    const folders = ['Work/a.b', 'Work/a_b', 'WORK/A.B', 'Work/a_b_2'];
    expect(pathsOf('maildir', ...folders)).toEqual(['.Work.a_b', '.Work.a_b_2', '.WORK.A_B_3', '.Work.a_b_2_2']);
    expect(pathsOf('eml', 'a', 'A', 'a_2')).toEqual(['a', 'A_2', 'a_2_2']);
  });

  test('a long name is cut to what a file system takes, and stays unlike others', () => {
    const long = '長'.repeat(85);
    for (const format of ['maildir', 'mbox', 'eml'] as const) {
      const paths = pathsOf(
        format,
        `Long/${long}`,
        `Long/${long}`.slice(0, -1),
        `${'a/'.repeat(19)}${long}`,
        '"'.repeat(250),
      );
      expect(new Set(paths).size).toBe(4);
      for (const name of paths.flatMap((path) => path.split('/'))) expect(Buffer.byteLength(name)).toBeLessThan(220);
    }
  });

  test('a slash between levels is unlike an underscore, and a folder unlike the files of an export', () => {
    for (const format of ['maildir', 'mbox', 'eml'] as const) {
      expect(new Set(pathsOf(format, 'a/b', 'a_b', 'A/B', 'a.b', 'a/b_2')).size).toBe(5);
    }
    const folders = ['000000001.eml', 'manifest.jsonl', 'mailstead-export.json', 'a.mbox'];
    expect(pathsOf('eml', ...folders)).toEqual(folders.map((name) => name.replace(/\.(?=\w+$)/, '%2E')));
  });
});

describe('names of the mailboxes of an organization', () => {
  test('each is unlike all others, in the same way each time, and a mailbox keeps its own name if it can', () => {
    const addresses = ['a/b@x.test', 'a_b@x.test', 'a_b_2@x.test', 'anna@x.test'];
    const expected = [
      ['a_b@x.test', 'a_b@x.test'],
      ['a_b_2@x.test', 'a_b_2@x.test'],
      ['anna@x.test', 'anna@x.test'],
      ['a/b@x.test', 'a_b@x.test_2'],
    ];
    expect(mailboxPaths(addresses, 'maildir')).toEqual(expected);
    expect(mailboxPaths(addresses.toReversed(), 'maildir')).toEqual(expected);
    expect(mailboxPaths(addresses, 'mbox')).toEqual(expected.map(([address, name]) => [address, `${name}.zip`]));
  });

  test('a long address has a name that a file system takes beside its draft', () => {
    const long = `${'l'.repeat(60)}@${'d'.repeat(60)}.${'e'.repeat(60)}.${'f'.repeat(60)}.test`;
    const name = mailboxPaths([long], 'eml')[0]?.[1] ?? '';
    expect(Buffer.byteLength(`${name}.partial`)).toBeLessThan(250);
  });
});

test('the addresses of an organization are read without what is behind them, such as the audit', async () => {
  const read: string[] = [];
  const mailboxes = (...names: string[]) => names.map((name) => ({ address: `${name}@box.test`, state: 0 }));
  const steps = [
    { section: 'users', rows: [{ address: 'no mailbox' }], next: { section: 1 } },
    { section: 'mailboxes', rows: mailboxes('a', 'b'), next: { section: 1, after: 'b' } },
    {
      section: 'mailboxes',
      rows: [...mailboxes('c'), { address: 'deleted@box.test', state: 2 }],
      next: { section: 2 },
    },
    { section: 'audit', rows: [], next: { section: 2, after: 1 } },
    { section: 'audit', rows: [], next: null },
  ];
  async function* pages() {
    for (const step of steps) {
      read.push(step.section);
      yield await Promise.resolve(step);
    }
  }
  expect(await exportedAddresses(pages())).toEqual(['a@box.test', 'b@box.test', 'c@box.test']);
  expect(read).toEqual(['users', 'mailboxes', 'mailboxes']);
});
