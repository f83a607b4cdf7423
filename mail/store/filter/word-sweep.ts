import { command, type Read, type Write } from '../engine/types.ts';
import { weightDivisors } from './words.ts';

/** Above this number of words an account loses the rarest, down to SWEEP_TARGET. */
export const MAX_STORED_WORDS = 200_000;
const SWEEP_TARGET = 150_000;
const SLICE = 500;
/** Words in fewer messages of current weight are removed; each full sweep without success raises the limit. */
const RARE = 0.3;

interface Sweep extends Record<string, number> {
  account_id: number;
  words: number;
  swept_to: number;
  sweeps: number;
  junk_samples: number;
  good_samples: number;
}

/** Removes a slice of the rarest words of the account with the most. Returns whether there is more to do. */
export const sweepWords = command('sweep-words', async (tx, _: undefined): Promise<boolean> => {
  const sweep = await nextSweep(tx);
  if (sweep === undefined) return false;
  const { account_id: account, swept_to: from } = sweep;
  const rows = await tx.all<{ hash: number; junk: number; good: number }>(
    'SELECT hash, junk, good FROM word WHERE account_id = ? AND hash > ? ORDER BY hash LIMIT ? + 0',
    account,
    from,
    SLICE,
  );
  const faded = weightDivisors(sweep);
  const below = RARE * 2 ** sweep.sweeps;
  const rare = rows.filter(({ junk, good }) => junk / faded.junk + good / faded.good < below);
  await tx.run(
    'DELETE FROM word WHERE account_id = ? AND hash IN (SELECT value FROM json_each(?))',
    account,
    JSON.stringify(rare.map(({ hash }) => hash)),
  );
  await advanceSweep(tx, sweep, rows.at(-1)?.hash ?? from, rows.length < SLICE, rare.length);
  return true;
});

/** A started sweep continues until the target is reached. */
function nextSweep(rx: Read): Promise<Sweep | undefined> {
  return rx.get<Sweep>(
    `SELECT account_id, words, swept_to, sweeps, junk_samples, good_samples FROM word_corpus
     WHERE words > ? AND (words > ? OR swept_to > 0 OR sweeps > 0) ORDER BY words DESC LIMIT 1`,
    SWEEP_TARGET,
    MAX_STORED_WORDS,
  );
}

async function advanceSweep(tx: Write, sweep: Sweep, last: number, isWhole: boolean, gone: number): Promise<void> {
  const room = sweep.words - gone <= SWEEP_TARGET;
  await tx.run(
    'UPDATE word_corpus SET words = max(0, words - ?), swept_to = ?, sweeps = ? WHERE account_id = ?',
    gone,
    room || isWhole ? 0 : last,
    room ? 0 : sweep.sweeps + Number(isWhole),
    sweep.account_id,
  );
}
