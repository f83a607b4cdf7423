import { expect, test } from 'vitest';
import { startBox } from '../support/box.ts';
import { UNDER_LOAD } from '../support/faults.ts';
import { fuzzCount } from '../support/fuzz-count.ts';
import { fuzzRun, pieces, playSession, type FuzzSession } from '../support/fuzz-run.ts';
import { seeded } from '../support/imap-fuzz.ts';
import { lineEnd, smtpLine, textLine } from '../support/smtp-fuzz.ts';

const LINES = fuzzCount(100_000);
const SEED = Number(process.env['FUZZ_SEED'] ?? 20_261_122);
/** About as many as a session bears before it is sent away for its errors. */
const LINES_EACH = 14;

const DONE = /^\d{3} .*\r\n$/m;
const say = (line: string) => ({ send: `${line}\r\n`, until: DONE });
const BANNER = { send: '', until: DONE };
const HELLO = say('EHLO client.example');
const ENVELOPE = [BANNER, HELLO, say('MAIL FROM:<a@b.example> SMTPUTF8'), say('RCPT TO:<me@box.test>')];
const STATES: Readonly<Record<string, FuzzSession['steps']>> = {
  'before the banner': [],
  banner: [BANNER],
  EHLO: [BANNER, HELLO],
  MAIL: ENVELOPE.slice(0, 3),
  RCPT: ENVELOPE,
  DATA: [...ENVELOPE, say('DATA')],
  BDAT: [...ENVELOPE, { send: 'BDAT 5\r\nhello', until: DONE }],
  AUTH: [BANNER, HELLO, say('AUTH LOGIN')],
};

test(`${LINES} lines of nonsense over SMTP, seed ${SEED}`, async () => {
  await using box = await startBox({ settings: UNDER_LOAD });
  const random = seeded(SEED);
  const names = Object.keys(STATES);
  const told = await fuzzRun(box, {
    lines: LINES,
    lanes: 32,
    async next() {
      const name = names[random(names.length)] ?? 'EHLO';
      const tls = random(20) === 0;
      const door = name === 'AUTH' ? 'submission' : ((['smtp', 'submission'] as const)[random(2)] ?? 'smtp');
      const line = (): string =>
        (name === 'DATA' && random(3) > 0 ? textLine(random) : smtpLine(random)) + lineEnd(random);
      const octets = Buffer.from(Array.from({ length: LINES_EACH }, line).join(''), 'latin1');
      const steps = STATES[name] ?? [];
      const { before, after } = await playSession({
        port: box.port(tls ? 'submissions' : door),
        tls,
        steps,
        rest: pieces(octets, random),
      });
      let answers = 0;
      for (const reply of (before + after).split('\r\n').slice(0, -1)) {
        if (reply[3] === ' ') answers++;
        expect(reply, JSON.stringify(octets.toString('latin1'))).toMatch(/^[2-5]\d\d(?:[ -][\x20-\x7e\x80-\xff]*)?$/);
        expect(reply, JSON.stringify(octets.toString('latin1'))).not.toMatch(/ 4\.3\.0 /);
      }
      return Math.min(answers, LINES_EACH);
    },
  });
  console.log(`${told}, seed ${SEED}`);
});
