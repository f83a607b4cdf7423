import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';

const WIRE = join(import.meta.dirname, '../../../mail/imap/wire');
const HOUR = 3_600_000;

/** Evaluates an expression in a process of its own whose time zone is `zone`. */
function inZone<T>(zone: string, expression: string): T {
  const script = `import { internalDate } from '${WIRE}/encoder.ts';
    import { onLocalDay } from '${WIRE}/local-time.ts';
    console.log(JSON.stringify(${expression}));`;
  const env = { ...process.env, TZ: zone };
  return JSON.parse(execFileSync(process.execPath, ['--input-type=module', '-e', script], { env, encoding: 'utf8' }));
}

describe('dates are in the time zone of the server', () => {
  const instants = ['2007-03-24T21:30:00Z', '2007-03-24T22:00:00Z', '2007-07-24T21:30:00Z', '1890-01-01T00:00:00Z'];
  const written = (zone: string): string[] =>
    inZone(zone, `${JSON.stringify(instants)}.map((text) => internalDate(Date.parse(text)))`);

  test('INTERNALDATE names the instant with the offset of its day', () => {
    expect(written('UTC')).toEqual([
      '"24-Mar-2007 21:30:00 +0000"',
      '"24-Mar-2007 22:00:00 +0000"',
      '"24-Jul-2007 21:30:00 +0000"',
      '" 1-Jan-1890 00:00:00 +0000"',
    ]);
    expect(written('Europe/Helsinki').slice(0, 3)).toEqual([
      '"24-Mar-2007 23:30:00 +0200"',
      '"25-Mar-2007 00:00:00 +0200"',
      '"25-Jul-2007 00:30:00 +0300"',
    ]);
    expect(written('Asia/Kolkata')[0]).toBe('"25-Mar-2007 03:00:00 +0530"');
    expect(written('America/St_Johns')[2]).toBe('"24-Jul-2007 19:00:00 -0230"');
  });

  test('years beyond the grammar are the last that it has, in every zone', () => {
    const extremes = (zone: string): string[] => inZone(zone, '[internalDate(1e20), internalDate(-1e20)]');
    expect(extremes('Pacific/Kiritimati')[0]).toMatch(/^"31-Dec-9999 23:59:59 /);
    expect(extremes('Pacific/Honolulu')[1]).toMatch(/^" 1-Jan-0001 00:00:00 /);
  });

  test('a day of SEARCH is the day that INTERNALDATE shows, also where the clock is changed', () => {
    // The begin of 25 March 2007 in UTC: in Helsinki that day has 23 hours and begins two hours before.
    const day = Date.UTC(2007, 2, 25) / (24 * HOUR);
    const hours = [-3, -2, 0, 20, 21, 24];
    const found = (zone: string, when: string): number[] =>
      inZone(
        zone,
        `${JSON.stringify(hours)}.filter((hour) => onLocalDay('${when}', ${day})((${day * 24} + hour) * ${HOUR}))`,
      );
    expect(found('Europe/Helsinki', 'before')).toEqual([-3]);
    expect(found('Europe/Helsinki', 'on')).toEqual([-2, 0, 20]);
    expect(found('Europe/Helsinki', 'since')).toEqual([-2, 0, 20, 21, 24]);
    expect(found('UTC', 'on')).toEqual([0, 20, 21]);
  });

  test('a day without midnight begins when the clock goes forward', () => {
    // São Paulo, 21 October 2018: 00:00 was 01:00, at 03:00 UTC.
    const begin = Date.UTC(2018, 9, 21, 3);
    const day = Date.UTC(2018, 9, 21) / (24 * HOUR);
    const test = `[${begin - 1}, ${begin}].map(onLocalDay('since', ${day}))`;
    expect(inZone('America/Sao_Paulo', test)).toEqual([false, true]);
  });
});
