import { describe, expect, test } from 'vitest';
import { closedArchive, lockedArchive, programs } from '../../../mail/policy/checks/attachments.ts';
import { ContainerScan } from '../../../mail/policy/inside/container-scan.ts';
import type { Inside } from '../../../mail/policy/sample.ts';
import { zipOf } from '../../support/archives.ts';
import { newRar, oldRar, packedSevenZip, sevenZip, sevenZipWith } from '../../support/rar-archives.ts';
import { Random } from '../../support/random.ts';
import { sampleFrom } from '../../support/sample.ts';

const none = { locked: false, macros: false };

/** What is found in octets that come in pieces of so many. */
function inside(octets: Buffer, piece = octets.length): Inside | undefined {
  const scan = new ContainerScan();
  for (let at = 0; at < octets.length; at += piece) scan.push(octets.subarray(at, at + piece));
  return scan.end();
}

const large = Buffer.alloc(300_000, 'Rar!');
const two = [{ name: 'a.txt', data: large }, { name: 'deep/bill.pdf.exe' }];
const names = ['a.txt', 'deep/bill.pdf.exe'];

describe('names in archives that are not unpacked', () => {
  test.each<[string, Buffer, Inside | undefined]>([
    ['RAR 4', oldRar(two), { names, ...none }],
    ['RAR 5', newRar(two), { names, ...none }],
    ['7z', sevenZip(names), { names, ...none }],
    ['7z with one', sevenZip(['a.exe']), { names: ['a.exe'], ...none }],
    ['RAR 4 with a password', oldRar([{ name: 'a', locked: true }]), { names: ['a'], ...none, locked: true }],
    ['RAR 5 with a password', newRar([{ name: 'a', locked: true }]), { names: ['a'], ...none, locked: true }],
    ['7z with a password', sevenZip(['a'], { locked: true }), { names: ['a'], ...none, locked: true }],
    ['RAR 4 all locked', oldRar(two, { locked: true }), { names: [], ...none, locked: true }],
    ['RAR 5 all locked', newRar(two, { locked: true }), { names: [], ...none, locked: true }],
    ['7z all locked', packedSevenZip({ locked: true }), { names: [], ...none, locked: true }],
    ['7z packed', packedSevenZip(), { names: [], ...none, closed: true }],
    ['7z with nothing', sevenZipWith(Buffer.alloc(0), []), { names: [], ...none }],
    ['7z with a directory of 300 KB', sevenZipWith(Buffer.alloc(9), [...large]), { names: [], ...none, closed: true }],
    ['RAR 4 cut off', oldRar(two).subarray(0, 200), { names: ['a.txt'], ...none }],
    ['RAR 5 cut off', newRar(two).subarray(0, 200), { names: ['a.txt'], ...none }],
    ['7z cut off', sevenZip(names).subarray(0, 60), undefined],
    ['RAR of nothing', Buffer.from('Rar!\x1a\x07\x01\0', 'latin1'), undefined],
    ['RAR with noise', Buffer.from(`Rar!\x1a\x07\x01\0${'\xff'.repeat(99)}`, 'latin1'), undefined],
  ])('%s', (_name, octets, found) => {
    for (const piece of [octets.length, octets.length > 2_000 ? 5_000 : 7])
      expect(inside(octets, piece), String(piece)).toEqual(found);
  });

  test('of a name that is too long its end is told, which says what it is', () => {
    const name = `${'deep/'.repeat(300)}bill.exe`;
    // Each octet of the plain name as it is.
    const unicode = Buffer.from([
      0,
      ...[...Buffer.from(name)].flatMap((octet, i) => (i % 4 === 0 ? [0, octet] : [octet])),
    ]);
    for (const made of [
      zipOf([{ name, data: Buffer.from('MZ') }]),
      oldRar([{ name }]),
      oldRar([{ name }], {}, unicode),
      oldRar([{ name }], {}, Buffer.from([0, 0])),
      newRar([{ name }]),
      sevenZip([name]),
    ]) {
      const found = inside(made)?.names ?? [];
      expect(found.length).toBeGreaterThan(0);
      for (const one of found.slice(-1))
        expect([one.slice(-18), one.length <= 1024]).toEqual(['deep/deep/bill.exe', true]);
      expect(found.some((one) => one.endsWith('/bill.exe'))).toBe(true);
    }
  });

  test('both names that an old RAR gives a file are told', () => {
    // In one octet, with the common high one, in two, and as in the plain name, with a shift at last.
    const unicode = Buffer.from([0x04, 0b00011011, 0x61, 0x30, 0x31, 0x04, 0x00, 0b11000000, 0x81, 0x01]);
    const found = inside(oldRar([{ name: 'abcdef.exe' }], {}, unicode));
    expect(found?.names).toEqual(['a\u0430\u0431de\u0467\u042f\u0466', 'abcdef.exe']);
    expect(
      inside(oldRar([{ name: 'plain.txt' }], {}, Buffer.from([0, 0b00000000, 0x61, 0x2e, 0x65, 0x78])))?.names,
    ).toEqual(['a.ex', 'plain.txt']);
  });

  test('at most 200 are told', () => {
    const many = Array.from({ length: 500 }, (_, i) => ({ name: `${i}.exe` }));
    for (const made of [oldRar(many), newRar(many), sevenZip(many.map(({ name }) => name))])
      expect(inside(made)?.names).toHaveLength(200);
  });

  test('a program in one is found in the message, and what cannot be looked into is a weak sign', async () => {
    const from = async (octets: Buffer, name: string): Promise<Awaited<ReturnType<typeof sampleFrom>>> =>
      sampleFrom(
        `From: a@b.example\nContent-Type: application/octet-stream; name=${name}\nContent-Transfer-Encoding: base64\n\n` +
          octets.toString('base64').replace(/.{76}/g, '$&\n'),
      );
    for (const made of [oldRar(two), newRar(two), sevenZip(names)]) {
      expect(programs(await from(made, 'bill.bin'))).toMatchObject([
        { rule: 'program', flag: 'executable-attachment' },
      ]);
    }
    expect(lockedArchive(await from(newRar(two, { locked: true }), 'a.rar'))).toMatchObject([{ score: 1.5 }]);
    expect(closedArchive(await from(packedSevenZip(), 'a.7z'))).toMatchObject([{ rule: 'closed-archive', score: 0.5 }]);
    expect(closedArchive(await from(sevenZip(names), 'a.7z'))).toEqual([]);
  });
});

test('10,000 damaged archives: nothing throws, and no name comes out that is too long', () => {
  const random = new Random(8);
  const whole = [
    oldRar([{ name: 'a.exe' }, { name: 'b', locked: true }], {}, Buffer.from([4, 27, 97, 48, 49, 4])),
    newRar([{ name: 'a.exe' }, { name: 'b', locked: true }]),
    sevenZip(names),
    packedSevenZip(),
  ];
  let told = 0;
  for (let i = 0; i < 10_000; i++) {
    const octets = Buffer.from(random.one(whole));
    const from = octets.toString('latin1').startsWith('Rar!') ? 7 : 6;
    for (let left = 1 + random.below(4); left > 0; left--)
      octets[from + random.below(octets.length - from)] = random.below(256);
    const found = inside(octets.subarray(0, random.chance(0.2) ? random.below(octets.length) : octets.length));
    told += found?.names.length ?? 0;
    expect(found?.names.every((name) => name.length <= 1024) ?? true).toBe(true);
  }
  expect(told).toBeGreaterThan(3_000);
});
