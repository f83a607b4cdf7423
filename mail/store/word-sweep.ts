import { command, type Read, type Write } from './engine/types.ts';
import { fadedBy } from './words.ts';

/** An account with more words than this loses the rarest, down to the second number. */
export const MOST_KNOWN = 200_000;
const ROOM_FROM = 150_000;
const SLICE = 500;
/** A word goes that was in fewer messages of today's weight; each whole sweep that leaves no room takes more. */
const RARE = 0.3;

interface Sweep extends Record<string, number> {
  account_id: number;
  words: number;
  swept_to: number;
  sweeps: number;
  junk_lessons: number;
  good_lessons: number;
}

/** Takes a slice of the rarest words from the account that has the most. Answers whether there is more to do. */
export const sweepWords = command('sweep-words', async (tx, _: undefined): Promise<boolean> => {
  const sweep = await next(tx);
  if (sweep === undefined) return false;
  const { account_id: account, swept_to: from } = sweep;
  const rows = await tx.all<{ hash: number; junk: number; good: number }>(
    'SELECT hash, junk, good FROM word WHERE account_id = ? AND hash > ? ORDER BY hash LIMIT ? + 0',
    account,
    from,
    SLICE,
  );
  const faded = fadedBy(sweep);
  const below = RARE * 2 ** sweep.sweeps;
  const rare = rows.filter(({ junk, good }) => junk / faded.junk + good / faded.good < below);
  await tx.run(
    'DELETE FROM word WHERE account_id = ? AND hash IN (SELECT value FROM json_each(?))',
    account,
    JSON.stringify(rare.map(({ hash }) => hash)),
  );
  await goOn(tx, sweep, rows.at(-1)?.hash ?? from, rows.length < SLICE, rare.length);
  return true;
});

/** One that has begun goes on until there is room again. */
function next(rx: Read): Promise<Sweep | undefined> {
  return rx.get<Sweep>(
    `SELECT account_id, words, swept_to, sweeps, junk_lessons, good_lessons FROM word_memory
     WHERE words > ? AND (words > ? OR swept_to > 0 OR sweeps > 0) ORDER BY words DESC LIMIT 1`,
    ROOM_FROM,
    MOST_KNOWN,
  );
}

async function goOn(tx: Write, sweep: Sweep, last: number, isWhole: boolean, gone: number): Promise<void> {
  const room = sweep.words - gone <= ROOM_FROM;
  await tx.run(
    'UPDATE word_memory SET words = max(0, words - ?), swept_to = ?, sweeps = ? WHERE account_id = ?',
    gone,
    room || isWhole ? 0 : last,
    room ? 0 : sweep.sweeps + Number(isWhole),
    sweep.account_id,
  );
}
