import { type Measured, measure } from '../test/support/corpus/measure.ts';

// How well junk is told from mail that is wanted, on made-up mailboxes (test/support/corpus). Seeds are arguments; without
// any those of docs/spam.md, which were not used when anything was tuned.

const SEEDS = [101, 102, 103, 104, 105, 106];
const COUNT = 4_400;
const TAUGHT = 200;

const percent = (share: { junked: number; all: number }): string =>
  `${((100 * share.junked) / share.all).toFixed(2)} %`;

function print(name: string, { good, junk }: Measured): void {
  console.log(
    `${name}: wanted mail in Junk ${good.junked} of ${good.all} (${percent(good)}), junk caught ${junk.junked} of ${junk.all} (${percent(junk)})`,
  );
}

function printKinds(all: readonly Measured[]): void {
  const rows = Map.groupBy(
    all.flatMap(({ kinds }) => kinds),
    ({ isJunk, kind }) => `${isJunk ? 'junk' : 'wanted'} | ${kind}`,
  );
  console.log('\n| | kind | messages | in Junk | in the inbox with doubts | in the inbox |\n|---|---|---|---|---|---|');
  for (const [name, some] of [...rows].sort(([a], [b]) => (a < b ? 1 : -1))) {
    const sum = (of: 'all' | 'junked' | 'doubted'): number => some.reduce((n, one) => n + one[of], 0);
    const rest = sum('all') - sum('junked') - sum('doubted');
    console.log(`| ${name} | ${sum('all')} | ${sum('junked')} | ${sum('doubted')} | ${rest} |`);
  }
}

const given = process.argv.slice(2).map(Number);
const all: Measured[] = [];
for (const seed of given.length > 0 ? given : SEEDS) {
  const measured = await measure({ seed, count: COUNT, taught: TAUGHT });
  print(`mailbox ${seed}`, measured);
  all.push(measured);
}
const sum = (of: 'good' | 'junk', what: 'all' | 'junked'): number => all.reduce((n, one) => n + one[of][what], 0);
const pair = (of: 'good' | 'junk'): { all: number; junked: number } => ({
  all: sum(of, 'all'),
  junked: sum(of, 'junked'),
});
print('together', { good: pair('good'), junk: pair('junk'), kinds: [] });
printKinds(all);
