import { expect, test } from 'vitest';
import { openLog } from '../../../src/start/log.ts';
import { loginWorld, PEER } from '../../support/login-world.ts';

const GUESSES = 200_000;
const NAMES = [
  'a@x.test\r\n{"level":"info","msg":"forged"}',
  'b@x.test\n2026-01-01 INFO forged',
  '\u001b[2J\u001b[31mforged',
  'c@x.test\u0085forged\u2028forged',
  `d${'d'.repeat(5000)}@x.test`,
  'me@box.test',
];

test.each(['json', 'pretty'] as const)(
  'a flood of bad logins forges no line and does not fill the disk (%s)',
  async (format) => {
    let octets = 0;
    let forged = 0;
    let lines = 0;
    const log = openLog({
      level: 'info',
      format,
      write: (line) => {
        octets += line.length;
        lines += 1;
        // One line an event, and nothing in it that a terminal obeys.
        if (!/^[^\x00-\x1f\x7f-\x9f\u2028\u2029]*\n$/.test(line)) forged += 1;
      },
    });
    const world = loginWorld({ log, wait: () => Promise.resolve() });
    await world.credentials.add('me@box.test', 'a-long-password');
    for (let i = 0; i < GUESSES; i++) {
      const name = NAMES[i % NAMES.length] ?? '';
      await world.logins.password(name, 'wrong', { ...PEER, ip: `198.51.100.${i & 3}` });
    }
    expect(forged).toBe(0);
    expect(lines).toBeGreaterThan(500);
    // 1,000,000 in a minute would write no more.
    expect(octets).toBeLessThan(1_000_000);
  },
  120_000,
);
