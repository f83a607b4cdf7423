import { expect, test } from 'vitest';
import { startBox } from '../support/box.ts';
import { UNDER_LOAD } from '../support/faults.ts';
import { fuzzCount } from '../support/fuzz-count.ts';
import { fuzzRun, pieces, playSession } from '../support/fuzz-run.ts';
import { httpRequest } from '../support/http-fuzz.ts';
import { seeded } from '../support/imap-fuzz.ts';

const REQUESTS = fuzzCount(50_000);
const SEED = Number(process.env['FUZZ_SEED'] ?? 20_261_123);
const MOST_EACH = 8;
/** Ends the connection, or a body that was announced. */
const FILL = Buffer.from('GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n');

const numbered = (n: number): string => `GET /number-${n}. HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`;

test(`${REQUESTS} pipelined HTTP requests, seed ${SEED}`, { timeout: 900_000 }, async () => {
  await using box = await startBox({ settings: UNDER_LOAD });
  const random = seeded(SEED);
  const authorization = `Basic ${Buffer.from(`${box.address}:${box.password}`).toString('base64')}`;
  const statuses = new Map<string, number>();
  const told = await fuzzRun(box, {
    lines: REQUESTS,
    lanes: 16,
    warmUp: 0.2,
    async next() {
      const count = 1 + random(MOST_EACH);
      // Those with a number show whether the answers come in order.
      const requests = Array.from({ length: count }, (_, n) => numbered(n) + httpRequest(random, authorization));
      const octets = Buffer.from(requests.join(''), 'latin1');
      const port = box.port('http');
      const { after } = await playSession({ port, tls: false, steps: [], rest: pieces(octets, random), fill: FILL });
      const numbers = [...after.matchAll(/Not found: GET \/number-(\d+)/g)].map(([, n]) => Number(n));
      expect(numbers, octets.toString('latin1')).toEqual(numbers.map((_, n) => n));
      const answers = after.match(/HTTP\/1\.1 \d{3}/g) ?? [];
      for (const status of answers) statuses.set(status, (statuses.get(status) ?? 0) + 1);
      expect(answers, octets.toString('latin1')).not.toContain('HTTP/1.1 500');
      return count;
    },
  });
  const counted = [...statuses]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([status, count]) => `${status.slice(9)}: ${count}`);
  console.log(`${told}; answers ${counted.join(', ')}; seed ${SEED}`);
});
