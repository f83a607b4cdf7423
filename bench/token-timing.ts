import { randomBytes } from 'node:crypto';
import { addToken } from '../src/tokens/commands.ts';
import { authenticateToken } from '../src/tokens/authenticate.ts';
import { ALL_ACTIONS, makeToken, secretHash, shownPart } from '../src/core/token.ts';
import { testWorld } from '../test/support/world.ts';

/**
 * Checks that the response time of a wrong token does not depend on how wrong it is: the first hex digit wrong, the last one, all of them;
 * interleaved, medians. `npm run bench:tokens [rounds]`. The difference should drown in the noise: below 2 % and 20 µs.
 */
const ROUNDS = Math.max(100, Number(process.argv[2] ?? 20_000));

await using made = await testWorld();
const { world } = made;
const right = makeToken(world.settings.tokenPrefix);
const row = {
  organization: 1,
  name: 'timing',
  actions: [...ALL_ACTIONS],
  project: null,
  service: null,
  mailboxes: null,
};
const rest = { owner: false, createdBy: 'bench', expiresAt: null };
await world.store.write(addToken, { ...row, ...rest, hash: secretHash(right), shown: shownPart(right) });

const other = (digit: string): string => (digit === '0' ? '1' : '0');
const start = right.indexOf('_') + 1;
const kinds: Record<string, () => string> = {
  'first digit wrong': () => right.slice(0, start) + other(right[start] ?? '') + right.slice(start + 1),
  'last digit wrong': () => right.slice(0, -1) + other(right.at(-1) ?? ''),
  'another one': () => right.slice(0, start) + randomBytes(24).toString('hex'),
};
const times = new Map(Object.keys(kinds).map((name) => [name, [] as number[]]));
for (let i = 0; i < ROUNDS; i++) {
  for (const [name, make] of Object.entries(kinds)) {
    const header = `Bearer ${make()}`;
    const began = process.hrtime.bigint();
    const said = await authenticateToken(world, header, 'rest', '192.0.2.1');
    times.get(name)?.push(Number(process.hrtime.bigint() - began) / 1000);
    if (said.kind !== 'refused') throw new Error(`${name} was not refused`);
  }
}
const medians = [...times].map(([name, all]) => {
  const median = all.toSorted((a, b) => a - b)[all.length >> 1] ?? 0;
  console.log(`${name}: ${median.toFixed(2)} µs (median of ${all.length})`);
  return median;
});
const spread = Math.max(...medians) - Math.min(...medians);
console.log(`largest difference ${spread.toFixed(2)} µs, ${((100 * spread) / Math.min(...medians)).toFixed(1)} %`);
