import { readFileSync } from 'node:fs';
import { constants, deflateRawSync, gzipSync } from 'node:zlib';
import { indexMessage } from '../../mail/message/indexer.ts';
import { readReportMessage } from '../../mail/reports/read-report.ts';
import { zipOf } from './archives.ts';
import { reportMessage } from './reports.ts';

const DOMAIN = 'shop.example';
const MIB = 1024 * 1024;
const HEAD = `<feedback><report_metadata><org_name>r.example</org_name><report_id>7</report_id>
  <date_range><begin>1767225600</begin><end>1767311999</end></date_range></report_metadata>
  <policy_published><domain>${DOMAIN}</domain><p>none</p></policy_published>`;

const row = (i: number): string =>
  `<record><row><source_ip>10.${(i >> 16) & 255}.${(i >> 8) & 255}.${i & 255}</source_ip><count>1</count><policy_evaluated><disposition>none</disposition><dkim>pass</dkim><spf>fail</spf></policy_evaluated></row><identifiers><header_from>${DOMAIN}</header_from></identifiers></record>`;

const xml = (rows: number, make = row): Buffer =>
  Buffer.from(`${HEAD}${Array.from({ length: rows }, (_, i) => make(i)).join('')}</feedback>`);

const message = (octets: Buffer, type = 'application/gzip'): Buffer =>
  Buffer.from(reportMessage({ type, name: 'a', octets }, DOMAIN));

/** One member of 64 MiB, as often as it makes 10 GiB: RFC 1952 2.2 allows many members. */
function gzipOf10Gib(): Buffer {
  const member = gzipSync(Buffer.alloc(64 * MIB, '<record></record>'));
  return Buffer.concat(Array.from({ length: 160 }, () => member));
}

/** One deflate stream of 10 GiB, of equal pieces that end at an octet. RFC 1951 3.2.4. */
function zipOf10Gib(): Buffer {
  const piece = deflateRawSync(Buffer.alloc(64 * MIB, '<record></record>'), { finishFlush: constants.Z_FULL_FLUSH });
  const packed = Buffer.concat(Array.from({ length: 160 }, () => piece));
  return zipOf([{ name: 'a.xml', data: Buffer.alloc(0), packed }]);
}

/** A message with the same attachment many times. */
function manyParts(octets: Buffer, count: number): Buffer {
  const one = message(octets).toString('latin1');
  const part = one.slice(one.indexOf('--b\r\nContent-Type: application/gzip'), one.lastIndexOf('--b--'));
  const head = one.slice(0, one.indexOf('--b\r\nContent-Type: application/gzip'));
  return Buffer.from(`${head}${part.repeat(count)}--b--\r\n`, 'latin1');
}

/** Messages that are small and ask for much, each as large as the listeners accept at most. */
export const REPORT_BOMBS: Readonly<Record<string, () => Buffer>> = {
  '10 GiB in gzip': () => message(gzipOf10Gib()),
  '10 GiB in a zip archive': () => message(zipOf10Gib(), 'application/zip'),
  '1,000,000 records in gzip': () => message(gzipSync(xml(1_000_000))),
  '900,000 empty records below the limit of octets': () => message(gzipSync(xml(900_000, () => '<record/>'))),
  '20,001 records': () => message(gzipSync(xml(20_001))),
  '1,000,000 elements in one record': () =>
    message(gzipSync(xml(1, () => `<record>${'<a/>'.repeat(1_000_000)}</record>`))),
  '1,000,000 failure details of a TLS report': () =>
    message(gzipSync(Buffer.from(`{"policies":[{"failure-details":[${'{},'.repeat(999_999)}{}]}]}`))),
  '50 parts, each with 10 GiB in gzip': () => manyParts(gzipSync(Buffer.alloc(64 * MIB, '<record></record>')), 50),
  '50 parts, each with 20,001 records': () => manyParts(gzipSync(xml(20_001)), 50),
};

/** Cost of a bomb, beside an ordinary report of the most rows that are read. */
export interface BombCost {
  why: string;
  /** CPU time as a multiple of that of the ordinary report. */
  ratio: number;
  /** MiB by which the peak of resident memory grew. */
  grownMib: number;
}

function read(octets: Buffer): { why: string; cpu: number } {
  const { parts } = indexMessage(octets);
  const before = process.cpuUsage();
  const content = readReportMessage({ octets, parts });
  const { user, system } = process.cpuUsage(before);
  return { why: content.kind === 'unreadable' ? content.why : content.kind, cpu: (user + system) / 1000 };
}

/** Peak of resident memory; `maxRSS` would have that of the parent process. */
function peakMib(): number {
  const [, kib] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'latin1')) ?? [];
  return Number(kib) / 1024;
}

/** Reads a bomb in this process, which has read a small report before: run it in a process of its own. */
export function costOf(bomb: Buffer): BombCost {
  read(message(gzipSync(xml(100))));
  const before = peakMib();
  const { why, cpu } = read(bomb);
  const grownMib = peakMib() - before;
  const ordinary = message(gzipSync(xml(20_000)));
  const costs = [read(ordinary), read(ordinary), read(ordinary)].map((one) => one.cpu);
  return { why, ratio: cpu / Math.min(...costs), grownMib };
}
