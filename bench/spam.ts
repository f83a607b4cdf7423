import { checkContent, checkClient } from '../mail/policy/checks/index.ts';
import { measure, summed, type Tallies } from '../test/support/corpus/measure.ts';

// Accuracy of the filter on generated mailboxes (test/support/corpus). Seeds are arguments; without
// any those of docs/spam.md, which were not used when anything was tuned. `answered` before them: mail is answered as well.

const SEEDS = [501, 502, 503, 504, 505, 506];
const COUNT = 4_400;
const TAUGHT = 200;

const percent = ({ junked, all }: { junked: number; all: number }): string =>
  `${junked} of ${all} (${((100 * junked) / all).toFixed(2)} %)`;

function print(name: string, tallies: Tallies): void {
  const [good, junk] = [summed(tallies, false), summed(tallies, true)];
  console.log(`${name}: wanted mail in Junk ${percent(good)}, junk caught ${percent(junk)}`);
}

function printKinds(tallies: Tallies): void {
  const rows = Map.groupBy(tallies, ({ isJunk, kind }) => `${isJunk ? 'junk' : 'wanted'} | ${kind}`);
  console.log('\n| | kind | messages | in Junk | in the inbox with doubts | in the inbox |\n|---|---|---|---|---|---|');
  for (const [name, some] of [...rows].sort(([a], [b]) => (a < b ? 1 : -1))) {
    const sum = (of: 'all' | 'junked' | 'doubted'): number => some.reduce((n, one) => n + one[of], 0);
    const rest = sum('all') - sum('junked') - sum('doubted');
    console.log(`| ${name} | ${sum('all')} | ${sum('junked')} | ${sum('doubted')} | ${rest} |`);
  }
}

const [first = '', ...others] = process.argv.slice(2);
/** Other actions of a person who replies to mail. */
const answered = first === 'answered' && { answered: { good: 0.3, junk: 0.02 } };
const given = (answered === false && first !== '' ? [first, ...others] : others).map(Number);
const all: Awaited<ReturnType<typeof measure>>[] = [];
for (const seed of given.length > 0 ? given : SEEDS) {
  const measured = await measure({
    seed,
    count: COUNT,
    taught: TAUGHT,
    ...answered,
    checks: (sample, now) => [...checkContent(sample, here(now)), ...checkClient(sample, here(now))],
  });
  print(`mailbox ${seed}, words alone`, measured.words);
  print(`mailbox ${seed}, everything`, measured.whole);
  all.push(measured);
}
const [words, whole] = [all.flatMap((one) => one.words), all.flatMap((one) => one.whole)];
print('together, words alone', words);
print('together, everything', whole);
printKinds(whole);

/** Facts about this server that the checks need. */
function here(now: number): { hostname: string; now: number } {
  return { hostname: 'box.test', now };
}
