import type { Log } from '../log.ts';

/** Lines of one text in a minute; who has more to tell is flooded. */
const MOST_A_MINUTE = 600;
const MINUTE_MS = 60_000;

/**
 * A log for what any stranger can bring about: of one text 600 lines a minute are written, and then how many were left
 * out. Warnings and errors are ours and pass whole.
 */
export function calmLog(log: Log): Log {
  const told = new Map<string, number>();
  const tellRest = (): void => {
    for (const [text, count] of told) {
      if (count > MOST_A_MINUTE) log.info({ like: text, count: count - MOST_A_MINUTE }, 'more lines were left out');
    }
    told.clear();
  };
  return {
    debug: (fields, text) => log.debug(fields, text),
    info(fields, text) {
      if (told.size === 0) setTimeout(tellRest, MINUTE_MS).unref();
      const count = (told.get(text) ?? 0) + 1;
      told.set(text, count);
      if (count <= MOST_A_MINUTE) log.info(fields, text);
    },
    warn: (fields, text) => log.warn(fields, text),
    error: (fields, text) => log.error(fields, text),
  };
}
