import { describe, expect, test } from 'vitest';
import { checkOpaqueArchives, checkPrograms } from '../../../mail/policy/checks/attachments.ts';
import { ContainerScan } from '../../../mail/policy/container/container-scan.ts';
import type { ContainerContents } from '../../../mail/policy/sample.ts';
import { zipOf } from '../../support/archives.ts';
import { Random } from '../../support/random.ts';
import { nobodyRequested, sampleFrom, vouchedBy } from '../../support/sample.ts';

const none = { locked: false, macros: false };
const closed = { names: [], ...none, opaque: true };

/** Scans octets that come in pieces of this length. */
function inside(octets: Buffer, piece = octets.length): ContainerContents | undefined {
  const scan = new ContainerScan();
  for (let at = 0; at < octets.length; at += piece) scan.push(octets.subarray(at, at + piece));
  return scan.end();
}

const two = [
  { name: 'a.txt', data: Buffer.alloc(300_000, 'PK') },
  { name: 'deep/bill.pdf.exe', data: Buffer.from('MZ') },
];
const rar = Buffer.from(`Rar!\x1a\x07\x01\0${'\xff'.repeat(99)}`, 'latin1');
const sevenZip = Buffer.from(`7z\xbc\xaf\x27\x1c\0\x04${'\0'.repeat(99)}`, 'latin1');

describe('archives are not unpacked', () => {
  test.each<[string, Buffer, ContainerContents | undefined]>([
    ['the names in a zip are listed', zipOf(two), { names: ['a.txt', 'deep/bill.pdf.exe'], ...none }],
    [
      'a locked zip is recognized',
      zipOf(two.map((one) => ({ ...one, locked: true }))),
      { names: ['a.txt', 'deep/bill.pdf.exe'], ...none, locked: true },
    ],
    ['RAR 5 cannot be inspected', rar, closed],
    ['RAR 4 cannot be inspected', Buffer.from('Rar!\x1a\x07\0', 'latin1'), closed],
    ['7z cannot be inspected', sevenZip, closed],
    ['a zip without its end has no directory', zipOf(two).subarray(0, 200), undefined],
  ])('%s', (_name, octets, found) => {
    for (const piece of [octets.length, octets.length > 2_000 ? 5_000 : 7, 1_000])
      expect(inside(octets, piece), String(piece)).toEqual(found);
  });

  test('a long name keeps its end, which says what kind of file it is', () => {
    const [name = ''] =
      inside(zipOf([{ name: `${'deep/'.repeat(300)}bill.exe`, data: Buffer.from('MZ') }]))?.names ?? [];
    expect([name.slice(-18), name.length <= 1024]).toEqual(['deep/deep/bill.exe', true]);
  });

  test('at most 200 names are listed', () => {
    const many = Array.from({ length: 500 }, (_, i) => ({ name: `${i}.exe`, data: Buffer.alloc(0) }));
    expect(inside(zipOf(many))?.names).toHaveLength(200);
  });
});

describe('in a message', () => {
  const from = (octets: Buffer, name: string, proof = nobodyRequested): ReturnType<typeof sampleFrom> =>
    sampleFrom(
      `From: a@b.example\nContent-Type: application/octet-stream; name=${name}\nContent-Transfer-Encoding: base64\n\n` +
        octets.toString('base64').replace(/.{76}/g, '$&\n'),
      proof,
    );

  test('a program in a zip is found, whatever the zip is called', async () => {
    expect(checkPrograms(await from(zipOf(two), 'bill.bin'))).toMatchObject([
      { rule: 'program', flag: 'executable-attachment' },
    ]);
  });

  test.each([
    ['RAR', rar],
    ['7z', sevenZip],
  ])(
    '%s is a weak sign where the author is proved, and a stronger one where nothing vouches for him',
    async (_, octets) => {
      const unproved = { ...nobodyRequested, spf: { result: 'softfail' as const, domain: 'b.example' } };
      expect(checkOpaqueArchives(await from(octets, 'a.bin', vouchedBy('b.example')))).toMatchObject([{ score: 0.5 }]);
      expect(checkOpaqueArchives(await from(octets, 'a.bin', unproved))).toMatchObject([{ score: 1.5 }]);
      expect(checkOpaqueArchives(await from(zipOf(two), 'a.zip', unproved))).toEqual([]);
    },
  );
});

test('10,000 damaged archives: nothing throws, and no name is too long', () => {
  const random = new Random(8);
  const whole = [
    zipOf([
      { name: 'a.exe', data: Buffer.from('MZ') },
      { name: 'b', data: Buffer.from('b'), locked: true },
    ]),
    rar,
    sevenZip,
  ];
  let names = 0;
  for (let i = 0; i < 10_000; i++) {
    const octets = Buffer.from(random.one(whole));
    for (let left = 1 + random.below(4); left > 0; left--)
      octets[6 + random.below(octets.length - 6)] = random.below(256);
    const found = inside(octets.subarray(0, random.chance(0.2) ? random.below(octets.length) : octets.length));
    names += found?.names.length ?? 0;
    expect(found?.names.every((name) => name.length <= 1024) ?? true).toBe(true);
  }
  expect(names).toBeGreaterThan(3_000);
});
